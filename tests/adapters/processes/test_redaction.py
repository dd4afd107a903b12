from __future__ import annotations

import pytest

from harness.adapters.processes.redaction import redacted


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("http://joe:pa55@host/simple", "http://***@host/simple"),
        ("https://token@host:8080/x", "https://***@host:8080/x"),
        ("http://host/a@b", "http://host/a@b"),
        ("mail joe@host", "mail joe@host"),
        ('{"a": "http://host", "b": "joe@x"}', '{"a": "http://host", "b": "joe@x"}'),
    ],
)
def test_passwords_in_addresses(text: str, kept: str) -> None:
    assert redacted(text) == kept


@pytest.mark.parametrize(
    "name", ["UV_INDEX_PRIVATE_PASSWORD", "GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", "my_api_key", "BASIC_AUTH"]
)
def test_values_of_variables_that_are_named_like_secrets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "hunter2-hunter2")
    assert redacted("<hunter2-hunter2>") == "<***>"


def test_a_secret_inside_a_longer_one_leaves_nothing_of_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", "abcdef")
    monkeypatch.setenv("B_TOKEN", "abcdef-and-more")
    assert redacted("abcdef-and-more") == "***"


def test_short_values_and_other_variables_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_TOKEN", "yes")
    monkeypatch.setenv("PLAIN", "plain-value")
    assert redacted("yes, plain-value") == "yes, plain-value"

"""Credentials stand nowhere, words stay, and what was redacted can be used again."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.adapters.processes.redaction import clean, has_credentials, is_secret, redacted, remember, restored
from harness.domain.errors import UsageError
from harness.domain.trials.observation import Ending, EndingKind, Observation, Stage


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("http://joe:pa55@host/simple", "http://***@host/simple"),
        ("https://token@host:8080/x", "https://***@host:8080/x"),
        ("http://host/a@b", "http://host/a@b"),
        ("https://joe:p@ss@host/x", "https://***@host/x"),
        ("name @ https://u:pw@host/a.whl --hash=sha256:0", "name @ https://***@host/a.whl --hash=sha256:0"),
        ("git+ssh://git@host/a", "git+ssh://git@host/a"),
        ("git+https://tok3n@host/a@main", "git+https://***@host/a@main"),
        ("http://host/a?token=abc&b=1#c", "http://host/a?token=***&b=1#c"),
        ("https://host/a?X-Amz-Signature=0f", "https://host/a?X-Amz-Signature=***"),
        ("https://host/a?page=2&monkey=b", "https://host/a?page=2&monkey=b"),
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
    monkeypatch.setenv("A_TOKEN", "abc4efgh")
    monkeypatch.setenv("B_TOKEN", "abc4efgh-and-more")
    assert redacted("abc4efgh-and-more") == "***"


def test_short_values_and_other_variables_are_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("X_TOKEN", "yes")
    monkeypatch.setenv("PLAIN", "plain-value")
    assert redacted("yes, plain-value") == "yes, plain-value"


@pytest.mark.parametrize(
    "value",
    ["script", "kerberos", "service-account", "Bearer", "DISABLED", "12345678", "127.0.0.1:8080", "/tmp/ssh-Xy12/agent.7",
     "~/.netrc", "./token.txt", "file:/x", "s3cret", "finished", "multi-worker"],
)  # fmt: skip
def test_words_numbers_and_paths_are_no_secrets(value: str) -> None:
    assert not is_secret(value)


@pytest.mark.parametrize(
    "value", ["ghp_0123456789abcdef", "hunter2-hunter2", "qwXkzTplmN", "wJalrXUt/K7MDENG", "/9x+Qz0abc=="]
)
def test_what_nobody_writes_by_chance_is_one(value: str) -> None:
    assert is_secret(value)


def test_a_secret_of_several_lines_is_redacted_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_PRIVATE_KEY", "MIIEowIBAAK1\nq8Zx0LmN2pQr")
    assert redacted("key: q8Zx0LmN2pQr") == "key: ***"


@pytest.mark.parametrize("name", ["GIT_AUTHOR_NAME", "AUTHORITY", "PATH", "COMPASS_HOME"])
def test_names_that_only_sound_like_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "value-0123-abcd")
    assert redacted("value-0123-abcd") == "value-0123-abcd"


def test_values_are_redacted_and_the_structure_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a variable holds, kinds and names are what they were."""
    for name, value in (("AUTH_KIND", "script"), ("A_TOKEN", "finished"), ("B_TOKEN", "metric_0_loss")):
        monkeypatch.setenv(name, value)
    ending = Ending(kind=EndingKind.FINISHED, stage=Stage.SCRIPT, message="see metric_0_loss, script")
    seen = clean(Observation(ending=ending, final={"metric_0_loss": 1.0}, output="finished"))
    assert (seen.ending.kind, seen.ending.stage) == (EndingKind.FINISHED, Stage.SCRIPT)
    assert seen.ending.message == "see ***, script"
    assert (dict(seen.final), seen.output) == ({"metric_0_loss": 1.0}, "finished")


@dataclass(frozen=True)
class Nested:
    texts: tuple[str, ...]
    more: dict[str, list[str]]
    path: Path = Path("x")
    count: int = 1


def test_every_text_of_a_value_is_redacted() -> None:
    secret = "https://a:b@host/x"
    cleaned = clean(Nested(texts=(secret, "plain"), more={secret: [secret]}))
    assert cleaned.texts == ("https://***@host/x", "plain")
    assert cleaned.more == {secret: ["https://***@host/x"]}
    same = Nested(texts=("plain",), more={})
    assert clean(same) is same


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\"'\\<>?#/ "), min_size=1, max_size=20))
def test_no_password_is_left_in_an_address_and_none_twice(password: str) -> None:
    if password.split() != [password] or password.startswith("***"):
        return
    text = redacted(f"x @ https://user:{password}@host/file.whl")
    assert text == "x @ https://***@host/file.whl"
    assert redacted(text) == text


class TestRestoring:
    def test_what_was_read_can_be_used_again(self) -> None:
        line = "name @ https://joe:pa55@one.example/a.whl"
        remember([line])
        assert restored(redacted(line) + " --hash=sha256:0") == line + " --hash=sha256:0"

    def test_so_can_a_token(self) -> None:
        remember(["name @ https://two.example/a.whl?token=abc"])
        assert restored("name @ https://two.example/a.whl?token=***") == "name @ https://two.example/a.whl?token=abc"

    def test_the_index_lends_its_password(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HARNESS_INDEX_URL", "https://me:mine@three.example/simple")
        assert restored("x @ https://***@three.example/a.whl") == "x @ https://me:mine@three.example/a.whl"

    def test_netrc_is_left_to_the_installer(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "netrc").write_text("machine four.example login me password mine")
        monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
        assert restored("x @ https://***@four.example/a.whl") == "x @ https://four.example/a.whl"

    def test_what_is_gone_must_be_given_again(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NETRC", str(tmp_path / "absent"))
        with pytest.raises(UsageError, match="credentials are not kept") as refused:
            restored("x @ https://***@five.example/a.whl")
        assert refused.value.where == "https://***@five.example/a.whl"
        assert "--with" in (refused.value.hint or "")

    def test_a_line_without_any_is_left(self) -> None:
        assert restored("x==1.0 --hash=sha256:0") == "x==1.0 --hash=sha256:0"
        assert not has_credentials("x @ https://host/a")

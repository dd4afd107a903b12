"""Workarounds and claims from the file beside a case."""

from __future__ import annotations

import pytest

from harness.domain.cases.case import Claim, Workaround
from harness.domain.cases.claims_metadata import read_tables
from harness.domain.errors import UsageError

PATH = "my.claims.toml"


def test_a_whole_file_is_read():
    read = read_tables(
        {
            "workarounds": {"on-read": {"title": "t", "options": {"a": "1"}, "against": {"b": "2"}, "origin": "o"}},
            "claims": [{"says": "s", "predicts": "good", "release": "3.9.0", "replicas": 4, "options": {"a": "1"}}],
        },
        path=PATH,
    )
    assert read == {
        "workarounds": (Workaround(name="on-read", title="t", options={"a": "1"}, against={"b": "2"}, origin="o"),),
        "claims": (Claim(says="s", predicts="good", release="3.9.0", replicas=4, options={"a": "1"}),),
    }


def test_an_empty_file_says_nothing():
    assert read_tables({}, path=PATH) == {}


@pytest.mark.parametrize(
    ("tables", "what", "hint"),
    [
        ({"workaround": {}}, "unknown table 'workaround'", "did you mean 'workarounds'? use [workarounds.NAME] and"),
        ({"zzz": {}}, "unknown table 'zzz'", "use [workarounds.NAME] and [[claims]]"),
        (
            {"workarounds": []},
            "bad value for 'workarounds': expected a table of workarounds by name, got []",
            "correct",
        ),
        ({"claims": {}}, "bad value for 'claims': expected a list of tables ([[claims]]), got {}", "correct 'claims'"),
        ({"claims": [{"says": "s"}]}, "bad value for 'claims[0]': expected exactly one of 'predicts' and", "correct"),
    ],
)
def test_a_mistake_is_named_with_its_file_and_place(tables, what, hint):
    with pytest.raises(UsageError) as caught:
        read_tables(tables, path=PATH)
    assert caught.value.where == PATH
    assert caught.value.what.startswith(what)
    assert (caught.value.hint or "").startswith(hint)
    assert "block at the top" not in (caught.value.hint or "")

"""Single values of a case's metadata."""

from __future__ import annotations

import pytest

from harness.domain.cases.case import Level
from harness.domain.cases.metadata_values import read_choice, refused
from harness.domain.errors import UsageError


def test_a_choice_is_one_of_its_values():
    assert read_choice(Level)("my.py", "level", "script") is Level.SCRIPT
    with pytest.raises(UsageError) as caught:
        read_choice(Level)("my.py", "level", "notebook")
    assert caught.value.what == "bad value for 'level': expected one of script, model, got 'notebook'"
    assert caught.value.where == "my.py"
    assert caught.value.hint == "correct 'level' in the '# /// script' block at the top of the file"


@pytest.mark.parametrize(
    ("length", "shown"), [(77, "'" + "x" * 77 + "'"), (78, "'" + "x" * 76 + "..."), (200, "'" + "x" * 76 + "...")]
)
def test_what_was_given_is_shown_in_less_than_eighty_characters(length, shown):
    assert refused("my.py", "key", "a word", "x" * length).what == (
        f"bad value for 'key': expected a word, got {shown}"
    )

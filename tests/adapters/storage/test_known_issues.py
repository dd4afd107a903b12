"""The files of recorded knowledge beside a case."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.adapters.storage import known_issues
from harness.domain.errors import UsageError
from tests.examples import case

ENTRY = """[[cause]]
case = "identity"
symptom = "nonfinite-metric"
kind = "regression"
link = "https://example.org/1"
title = "a change"
release = "3.7.0"
"""


def test_a_case_has_the_causes_of_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / known_issues.CAUSES).write_text(ENTRY + ENTRY.replace("identity", "other"))
    here = case(path=str(tmp_path / "identity.py"))
    assert [cause.link for cause in known_issues.causes_for(here)] == ["https://example.org/1"]
    assert known_issues.causes_for(replace(here, path=str(tmp_path / "deeper" / "identity.py"))) == ()


def test_a_cause_is_one_of_the_package_under_test(tmp_path: Path) -> None:
    """A change to Keras explains nothing of a search over TensorFlow, with the same case."""
    (tmp_path / known_issues.CAUSES).write_text(ENTRY)
    here = case(path=str(tmp_path / "identity.py"))
    known = {
        name: len(known_issues.causes_for(replace(here, package=name))) for name in ("keras-nightly", "tf-nightly")
    }
    assert known == {"keras-nightly": 1, "tf-nightly": 0}


@pytest.mark.parametrize(("text", "told"), [("[[cause", "is not TOML"), ("[[reason]]\n", "unknown table")])
def test_a_damaged_file_is_named(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / known_issues.CAUSES).write_text(text)
    with pytest.raises(UsageError, match=told) as error:
        known_issues.causes_for(case(path=str(tmp_path / "identity.py")))
    assert error.value.where == str(tmp_path / known_issues.CAUSES)


def test_expectations_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        known_issues.read_expectations(tmp_path / "none.toml")

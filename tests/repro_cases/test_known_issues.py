"""What is recorded beside the cases can be read, and names cases that exist."""

from __future__ import annotations

from harness.adapters.storage import case_files, known_issues


def test_the_committed_expectations_are_read_and_every_case_in_them_exists() -> None:
    read = known_issues.read_expectations(None)
    assert read.expected
    assert read.unknown_cases(list(case_files.known_cases())) == ()


def test_the_committed_causes_are_read_and_every_case_in_them_exists() -> None:
    cases = case_files.read_all()
    known = [cause for case in cases for cause in known_issues.causes_for(case)]
    assert len(known) == (case_files.case_folders()[0] / known_issues.CAUSES).read_text().count("[[cause]]")
    assert all(cause.link.startswith("https://github.com/") for cause in known)

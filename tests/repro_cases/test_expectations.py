"""The committed expectations can be read, and name cases that exist."""

from __future__ import annotations

from harness.edge import case_files, expectation_file


def test_the_committed_file_is_read_and_every_case_in_it_exists() -> None:
    read = expectation_file.read(None)
    assert read.expected
    assert read.unknown_cases(list(case_files.known_cases())) == ()

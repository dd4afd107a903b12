"""Runs tests by pytest: ``pytest_runner.py FILE[::NODE] ARGUMENT...``.

Exit codes are those of pytest, but for 125 where all that was collected is skipped or expected to fail. The last line
says which test failed first, and with what.
"""

from __future__ import annotations

import os
import sys
from typing import Any

SKIPPED = 125
LONGEST = 500


class Seen:
    """What came of each test.

    Attributes:
        passed: So many did.
        failures: Name and message of each that did not.
        broken: Why a file could not be collected.
    """

    def __init__(self) -> None:
        self.passed = 0
        self.failures: list[tuple[str, str]] = []
        self.broken = ""

    def pytest_runtest_logreport(self, report: Any) -> None:
        """One phase of one test is done."""
        if report.failed:
            self.failures.append((report.nodeid, _message(report)))
        elif report.when == "call" and report.passed:
            self.passed += 1

    def pytest_collectreport(self, report: Any) -> None:
        """A file was collected."""
        if report.failed:
            self.broken = self.broken or _message(report)

    def summary(self, code: int) -> str:
        """One line: what failed first, or why nothing ran."""
        if self.failures:
            name, message = self.failures[0]
            return f"{len(self.failures)} failed, {self.passed} passed, first {name.rpartition('::')[2]}: {message}"
        if self.broken:
            return f"pytest cannot collect the tests: {self.broken}"
        if code == SKIPPED:
            return "every test is skipped or expected to fail"
        return "pytest found no test" if code == 5 else f"{self.passed} passed"


def _message(report: Any) -> str:
    """The message of the exception, in one line."""
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash is not None else str(report.longrepr)
    lines = [line[2:] if line.startswith("E ") else line for line in text.splitlines() if line.strip()]
    own = lines[0] if crash is not None else lines[-1] if lines else ""
    return own.strip()[:LONGEST]


def main(target: str, arguments: list[str]) -> int:
    """Run the tests and return the exit code."""
    import pytest

    sys.path[0] = os.getcwd()  # noqa: PTH109 - as `python -m pytest` does
    seen = Seen()
    options = ["-p", "no:cacheprovider", "--rootdir", os.getcwd(), "-q", "--tb=short", "-o", "addopts="]  # noqa: PTH109
    code = int(pytest.main([*options, target, *arguments], plugins=[seen]))
    code = SKIPPED if code == 0 and not seen.passed else code
    print(seen.summary(code), flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

"""A module that is missing: whether a trial failed only because nothing in its environment brings it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from harness.domain.cases.case import Case
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import EndingKind, Observation
from harness.domain.trials.variant import Variant

_MISSING = re.compile(r"No module named '([A-Za-z_][A-Za-z0-9_.]*)'")
_LAST_LINES = 3
"""Lines at the end of an output in which the failure stands: pytest ends with a summary."""
LEAST_RELEASES = 2
"""One release alone may lack what the others have."""


def missing_module(case: Case, observation: Observation) -> str:
    """The third module for want of which a trial failed; "" where it did not fail so.

    A module of the package under test is that package's own fault.
    """
    found = _MISSING.search(_failure(observation))
    top = found[1].split(".")[0] if found is not None else ""
    return "" if top == case.import_name.split(".")[0] else top


def missing_everywhere(case: Case, entries: Sequence[Entry], variant: Variant) -> str:
    """The module that every trial of several releases failed for; "" where one did not, or failed otherwise."""
    missing = ""
    releases = set()
    for entry in entries:
        if entry.finished is None or entry.finished.trial.variant != variant:
            continue
        found = missing_module(case, entry.finished.observation)
        if not found or (missing and found != missing):
            return ""
        missing = found
        releases.add(entry.release)
    return missing if len(releases) >= LEAST_RELEASES else ""


def absence(module: str, requirement: str) -> str:
    """The sentence that names what an environment lacks, and the line to try."""
    pin = f"--with '{requirement}'" if requirement else "--with NAME==VERSION of the distribution that brings it"
    return (
        f"its environment lacks the module {module}, and so does every other that was tried: "
        f"something uses it and does not declare it (try {pin})"
    )


def _failure(observation: Observation) -> str:
    """Where an uncaught exception would be told; "" for a trial that did not fail by itself."""
    ending = observation.ending
    if ending.kind is EndingKind.RAISED and ending.exception == "ModuleNotFoundError":
        return ending.message or ""
    if ending.kind is not EndingKind.EXITED or not ending.exit_code:
        return ""
    lines = [line for line in observation.output.splitlines() if line.strip()]
    told = [line for line in lines[-_LAST_LINES:] if "ModuleNotFoundError" in line]
    return told[-1] if told else ""

"""Scripts that check nothing: exit code 0 says that they ran, so what they print is compared instead, as a hint."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from harness.domain.cases.case import Case, Level
from harness.domain.cases.shapes.runners import Runner
from harness.domain.cases.shapes.source import read_source

NAMED = 3
"""So many changes of what is printed are told."""
LONGEST = 120

_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|nan|inf)(?![\w])")
_DURATION = re.compile(r"\b\d+(?:\.\d+)?\s*(?:ms|us|µs|s)(?:/\w+)?\b")
_LOGGED = re.compile(r"^(?:\d{4}-\d\d-\d\d[ T]\d\d:|[IWEF]\d{4} |WARNING: All log)")
_ADDRESS = re.compile(r"0x[0-9a-fA-F]+")


def checks_nothing(case: Case) -> bool:
    """Whether a script fails only where something that it calls fails; one that only imports checks the import."""
    if case.level is not Level.SCRIPT or case.runner is not Runner.SCRIPT or case.expects is not None:
        return False
    if case.value or case.warning:
        return False
    try:
        source = read_source(case.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return not source.checks and not source.imports_only


def unchecked(case: Case, outputs: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """What to say of a script that fails nowhere; empty for one that would fail if something were wrong.

    Args:
        case: The script.
        outputs: What each run printed, by release, in the order of the timeline.
    """
    if not checks_nothing(case):
        return ()
    first = (
        "The case checks nothing: it left with exit code 0, which says that it ran and no more. Let it assert what "
        "should hold, or leave with 1 where it does not."
    )
    changes = list(output_changes(outputs))
    more = [f"What it prints changes in {len(changes) - NAMED} more places."] if len(changes) > NAMED else []
    return (first, *changes[:NAMED], *more)


def output_changes(outputs: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Where what is printed differs between two releases that follow each other, one sentence each.

    Numbers that differ between two runs of one release are left aside, and so are durations, addresses and what is
    printed with the time of day.
    """
    read = {version: [_lines(text, version) for text in texts] for version, texts in outputs.items() if texts}
    noisy = {shape for runs in read.values() for shape in _noisy(runs)}
    shown = {version: [line for line in runs[0] if _shape(line) not in noisy] for version, runs in read.items()}
    versions = list(shown)
    for before, after in pairwise(versions):
        if sorted(map(_rounded, shown[before])) != sorted(map(_rounded, shown[after])):
            was, now = _only(shown[before], shown[after]), _only(shown[after], shown[before])
            yield f"What it prints changes, {before} -> {after}: {was} becomes {now}."


def _lines(text: str, version: str) -> list[str]:
    own = re.compile(rf"(?<![\w.]){re.escape(version)}(?![\w.])")
    plain = [_ADDRESS.sub("<address>", own.sub("<version>", line.strip())) for line in text.splitlines()]
    return [_DURATION.sub("<time>", line) for line in plain if line and not _LOGGED.match(line)]


def _noisy(runs: Sequence[Sequence[str]]) -> Iterator[str]:
    """Shapes of the lines whose numbers differ between the runs of one release."""
    for other in runs[1:]:
        for line in {*runs[0]} ^ {*other}:
            yield _shape(line)


def _shape(line: str) -> str:
    return _NUMBER.sub("<n>", line)


def _rounded(line: str) -> str:
    """A line with its numbers to four digits: what differs beyond that differs between two machines too."""
    return _NUMBER.sub(lambda found: f"{float(found[0]):.4g}", line)


def _only(lines: Sequence[str], others: Sequence[str]) -> str:
    known = set(map(_rounded, others))
    own = next((line for line in lines if _rounded(line) not in known), "")
    return repr(own[:LONGEST]) if own else "nothing"

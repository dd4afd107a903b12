"""What was decided for the environments of a run, one sentence each: a reader finds them beside the caveats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from harness.domain.cases.case import Case
from harness.domain.findings.finding import Conclusion
from harness.domain.trials.entry import Entry


def with_notes(conclusion: Conclusion, case: Case, entries: Sequence[Entry]) -> Conclusion:
    """The conclusion with the notes behind its caveats; itself where there are none."""
    found = tuple(notes(case, entries))
    return replace(conclusion, caveats=(*conclusion.caveats, *found)) if found else conclusion


def notes(case: Case, entries: Sequence[Entry]) -> Iterator[str]:
    """One sentence per decision, with the releases that it was made for."""
    if case.overrides:
        yield f"What other packages require of {', '.join(case.overrides)} was laid aside, as asked for by --override."
    releases: dict[str, list[str]] = {}
    for entry in entries:
        seen = entry.finished.observation.notes if entry.finished is not None else ()
        decided = entry.environment.notes if entry.environment is not None else ()
        for note in (*decided, *seen):
            releases.setdefault(note, []).append(entry.release)
    for note, named in releases.items():
        first, *more = dict.fromkeys(named)
        others = f" (and {len(more)} more)" if more else ""
        yield f"{first}{others}: {note}."

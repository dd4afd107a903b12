"""``replay.md``: what the monitor would have reported when; which nights were run and which were taken over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from harness.domain.nightly.alerts import JudgedNight, NightlyHistory
from harness.domain.nightly.nights import ALERTING, CaseNight, Status
from harness.reporting.nightly.night_report import rows
from harness.reporting.templating import environment


@dataclass(frozen=True, kw_only=True)
class Period:
    """Consecutive nights of one case with the same results."""

    case: str
    first: str
    last: str
    first_version: str
    last_version: str
    nights: int
    statuses: str
    symptoms: str
    run: int
    inferred: int


def markdown(history: NightlyHistory) -> str:
    """The whole replay as Markdown."""
    records = [night.record for night in history.nights]
    results = {
        (record.nightly, seen.case): _inferred(seen) for record in records for seen in record.cases if record.nightly
    }
    changes = [change for alert in history.alerts for change in alert.changes]
    narrowed = [n for record in records for n in record.narrowed]
    return (
        environment()
        .get_template("replay.md")
        .render(
            first=records[0].night,
            last=records[-1].night,
            nights=records,
            package=records[0].package,
            builds=len({record.nightly for record in records if record.nightly}),
            controls=list(dict.fromkeys(record.control for record in records if record.control)),
            results=len(results),
            run=sum(not inferred for inferred in results.values()),
            inferred=sum(results.values()),
            opened=sum(change.status in {status.value for status in ALERTING} for change in changes),
            stale=sum(
                change.status == Status.NEW.value
                for alert in history.alerts
                if not alert.symptom
                for change in alert.changes
            ),
            longest=max((_longest(history, case) for case in _cases(history)), default=0),
            seconds=sum(record.seconds for record in records),
            notes=list(dict.fromkeys(note for record in records for note in record.notes)),
            alerts=history.alerts,
            narrowed=narrowed,
            periods=[p for case in _cases(history) for p in _periods(history, case)],
        )
    )


def texts(history: NightlyHistory) -> dict[str, str]:
    """Return the replay's file by its name."""
    return {"replay.md": markdown(history)}


def _cases(history: NightlyHistory) -> list[str]:
    return list(dict.fromkeys(seen.case for night in history.nights for seen in night.record.cases))


def _periods(history: NightlyHistory, case: str) -> Iterator[Period]:
    for (statuses, symptoms), group in groupby(history.nights, key=lambda night: _result(night, case)):
        run = list(group)
        builds = {n.record.nightly: _inferred(s) for n in run for s in n.record.cases if s.case == case}
        yield Period(
            case=case,
            first=run[0].record.night,
            last=run[-1].record.night,
            first_version=run[0].record.nightly,
            last_version=run[-1].record.nightly,
            nights=len(run),
            statuses=statuses,
            symptoms=symptoms,
            run=sum(not inferred for inferred in builds.values()),
            inferred=sum(builds.values()),
        )


def _result(night: JudgedNight, case: str) -> tuple[str, str]:
    if night.record.fault:
        return Status.INFRASTRUCTURE.value, ""
    own = [row for row in rows(night) if row.case == case]
    statuses = ", ".join(dict.fromkeys(row.status.value for row in own))
    return statuses, "; ".join(f"{row.status.value}: {', '.join(row.symptoms)}" for row in own if row.symptoms)


def _longest(history: NightlyHistory, case: str) -> int:
    """Most builds in a row that were not run."""
    builds = {n.record.nightly: _inferred(s) for n in history.nights for s in n.record.cases if s.case == case}
    return max((len(list(run)) for inferred, run in groupby(builds.values()) if inferred), default=0)


def _inferred(seen: CaseNight) -> bool:
    return any(trial.inferred for trial in seen.nightly)

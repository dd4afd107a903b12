"""``replay.md``: what the monitor would have reported when; which nights were run and which were taken over."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

from harness.domain.nightly.alerts import JudgedNight, NightlyHistory
from harness.domain.nightly.nights import ALARMING, CaseNight, Status
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
    words: str
    symptoms: str
    run: int
    inferred: int


def markdown(told: NightlyHistory) -> str:
    """The whole replay as Markdown."""
    records = [night.record for night in told.nights]
    looks = {
        (record.nightly, seen.case): _inferred(seen) for record in records for seen in record.cases if record.nightly
    }
    changes = [change for alarm in told.alarms for change in alarm.changes]
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
            looked=len(looks),
            run=sum(not inferred for inferred in looks.values()),
            inferred=sum(looks.values()),
            opened=sum(change.word in {word.value for word in ALARMING} for change in changes),
            stale=sum(
                change.word == Status.NEW.value
                for alarm in told.alarms
                if not alarm.symptom
                for change in alarm.changes
            ),
            longest=max((_longest(told, case) for case in _cases(told)), default=0),
            seconds=sum(record.seconds for record in records),
            notes=list(dict.fromkeys(note for record in records for note in record.notes)),
            alarms=told.alarms,
            narrowed=narrowed,
            periods=[p for case in _cases(told) for p in _periods(told, case)],
        )
    )


def _cases(told: NightlyHistory) -> list[str]:
    return list(dict.fromkeys(seen.case for night in told.nights for seen in night.record.cases))


def _periods(told: NightlyHistory, case: str) -> Iterator[Period]:
    for (words, symptoms), group in groupby(told.nights, key=lambda night: _result(night, case)):
        run = list(group)
        builds = {n.record.nightly: _inferred(s) for n in run for s in n.record.cases if s.case == case}
        yield Period(
            case=case,
            first=run[0].record.night,
            last=run[-1].record.night,
            first_version=run[0].record.nightly,
            last_version=run[-1].record.nightly,
            nights=len(run),
            words=words,
            symptoms=symptoms,
            run=sum(not inferred for inferred in builds.values()),
            inferred=sum(builds.values()),
        )


def _result(night: JudgedNight, case: str) -> tuple[str, str]:
    if night.record.fault:
        return Status.INFRASTRUCTURE.value, ""
    own = [row for row in rows(night) if row.case == case]
    words = ", ".join(dict.fromkeys(row.word.value for row in own))
    return words, "; ".join(f"{row.word.value}: {', '.join(row.symptoms)}" for row in own if row.symptoms)


def _longest(told: NightlyHistory, case: str) -> int:
    """Most builds in a row that were not run."""
    builds = {n.record.nightly: _inferred(s) for n in told.nights for s in n.record.cases if s.case == case}
    return max((len(list(run)) for inferred, run in groupby(builds.values()) if inferred), default=0)


def _inferred(seen: CaseNight) -> bool:
    return any(look.inferred for look in seen.nightly)

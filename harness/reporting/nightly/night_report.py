"""Reports of one night: Markdown, JSON, a job summary that stays under its limit, and annotations for CI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from harness import codec
from harness.domain.nightly.alerts import Alert, JudgedNight
from harness.domain.nightly.case_status import JudgedSymptom
from harness.domain.nightly.nights import ALERTING, Status
from harness.reporting.templating import environment
from harness.reporting.text import clean

SUMMARY_BYTES = 1 << 20
"""GitHub refuses a job summary that is larger."""
ANNOTATIONS = 10
"""GitHub shows no more of a kind per step."""

LOUD = (
    Status.NEW,
    Status.REGRESSED,
    Status.FIXED,
    Status.SUSPICIOUS,
    Status.FLAKY,
    Status.INFRASTRUCTURE,
    Status.STILL_BAD,
)


@dataclass(frozen=True, kw_only=True)
class NightlyRow:
    """One line of the table: symptoms of a case that share a status."""

    case: str
    status: Status
    symptoms: tuple[str, ...] = ()
    reason: str = ""
    inferred: bool = False


def rows(night: JudgedNight) -> list[NightlyRow]:
    """One row per case and loud status; a case with nothing loud has one row."""
    found = []
    for case in dict.fromkeys(one.case for one in night.judged):
        own = [one for one in night.judged if one.case == case]
        loud = [_row(case, status, [one for one in own if one.status is status]) for status in LOUD]
        found += [row for row in loud if row is not None] or [_quiet(case, own)]
    return sorted(found, key=lambda row: (_rank(row.status), row.case))


def headline(night: JudgedNight) -> str:
    """The night in one line."""
    if night.record.fault:
        return "infrastructure"
    if not night.judged:
        return "insufficient data"
    table = rows(night)
    counted: Mapping[Status, int] = {status: sum(row.status is status for row in table) for status in Status}
    unexpected = {status: n for status, n in counted.items() if n and status is not Status.AS_EXPECTED}
    parts = [f"{n} {status.value}" for status, n in unexpected.items()]
    stale = ["the index has no recent build"] if night.record.stale else []
    return ", ".join([*parts, *stale]) or "all as expected"


def markdown(night: JudgedNight, open_alerts: Sequence[Alert]) -> str:
    """The night as Markdown."""
    template = environment().get_template("night.md")
    return template.render(night=night, rows=rows(night), headline=headline(night), open_alerts=open_alerts)


def json_text(night: JudgedNight, open_alerts: Sequence[Alert]) -> str:
    """The night as JSON: facts, statuses and open alerts."""
    return codec.dumps(NightDocument, NightDocument(night=night, open_alerts=tuple(open_alerts)), indent=2) + "\n"


@dataclass(frozen=True, kw_only=True)
class NightDocument:
    """``report.json`` of a night."""

    schema_version: int = 1
    night: JudgedNight
    open_alerts: tuple[Alert, ...] = field(default=())


def summary(night: JudgedNight, open_alerts: Sequence[Alert], limit: int = SUMMARY_BYTES) -> str:
    """The Markdown, or its beginning and a sentence where it would be refused."""
    text = markdown(night, open_alerts)
    if len(text.encode()) < limit:
        return text
    note = "\n\nThe rest does not fit into a job summary; report.md of the artifact has it all.\n"
    kept = text.encode()[: limit - len(note.encode()) - 1].decode("utf-8", "ignore")
    return kept[: kept.rfind("\n")] + note


def workflow_commands(night: JudgedNight) -> list[str]:
    """Workflow commands for what a reader of the run must see, at most ten, the most urgent first."""
    if night.record.fault:
        return [f"::warning title=nightly::{_escaped(night.record.fault)}"]
    loud = [row for row in rows(night) if row.status in LOUD and row.status is not Status.STILL_BAD]
    lines = [
        f"::{'error' if row.status in ALERTING else 'warning'} title={_property(f'{row.case}: {row.status.value}')}::"
        + _escaped(f"{', '.join(row.symptoms)}: {row.reason}")
        for row in loud
    ]
    if len(lines) > ANNOTATIONS:
        left = len(lines) - ANNOTATIONS + 1
        return [*lines[: ANNOTATIONS - 1], f"::warning title=nightly::and {left} more, see the job summary"]
    return lines


def _row(case: str, status: Status, own: Sequence[JudgedSymptom]) -> NightlyRow | None:
    if not own:
        return None
    return NightlyRow(
        case=case,
        status=status,
        symptoms=tuple(one.symptom.value for one in own),
        reason=own[0].reason,
        inferred=any(one.inferred for one in own),
    )


def _quiet(case: str, own: Sequence[JudgedSymptom]) -> NightlyRow:
    """A case with nothing loud: as expected if anything was decided; bad and excused is said with the reason."""
    inferred = any(one.inferred for one in own)
    excused = [one for one in own if one.status is Status.AS_EXPECTED and one.expected]
    if excused:
        symptoms = tuple(one.symptom.value for one in excused)
        reason = f"recorded: {excused[0].expected}"
        return NightlyRow(case=case, status=Status.AS_EXPECTED, symptoms=symptoms, reason=reason, inferred=inferred)
    if any(one.status is Status.AS_EXPECTED for one in own):
        return NightlyRow(case=case, status=Status.AS_EXPECTED, inferred=inferred)
    return NightlyRow(case=case, status=Status.INSUFFICIENT, reason=own[0].reason, inferred=inferred)


def _rank(status: Status) -> int:
    return (*LOUD, Status.INSUFFICIENT, Status.AS_EXPECTED).index(status)


def _escaped(text: str) -> str:
    """A workflow command ends with its line, and takes % as the beginning of an escape."""
    return clean(text, 500).replace("%", "%25")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")

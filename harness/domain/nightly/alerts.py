"""Alerts: one per signature, opened, kept and closed by the nights; a fold over the journal and nothing else.

new, regressed          opens it, or opens it again
still bad               keeps it open
fixed                   the first good night
as expected (good)      a good night, if the control was healthy and the build is another one; the third closes
as expected (bad)       closes: somebody recorded it as expected
anything else           leaves it as it is
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.domain.cases.symptoms import Symptom
from harness.domain.nightly.case_status import CaseStatus, JudgedSymptom, advance, judge_case
from harness.domain.nightly.nights import ALERTING, Narrowed, NightRecord, Status
from harness.domain.verdicts.verdict import Outcome

GOOD_NIGHTS = 3
STALE = "stale-index"


@dataclass(frozen=True, kw_only=True)
class Change:
    """Something that happened to an alert and is worth a comment."""

    night: str
    version: str
    status: str
    text: str


@dataclass(frozen=True, kw_only=True)
class AlertNight:
    """One night as an alert remembers it."""

    night: str
    version: str
    status: str
    reason: str = ""
    inferred: bool = False


@dataclass(frozen=True, kw_only=True)
class Alert:
    """One signature that was bad without being expected to be.

    Attributes:
        package: Distribution of the nightlies.
        case: Name of the case; `STALE` for the index itself.
        symptom: The symptom; None for the index.
        opened: The night that opened it, the latest time.
        version: The nightly of that night.
        is_open: Whether it is open.
        good_nights: Good nights in a row, each with a build of its own: a night without a new build proves nothing.
        good_version: The build of the last one.
        closed: The night that closed it, or "".
        changes: What happened to it, oldest first.
        evenings: Every night since it was first opened.
        narrowed: Where it begins and ends, as far as that is known.
    """

    package: str
    case: str
    symptom: Symptom | None
    opened: str
    version: str
    is_open: bool = True
    good_nights: int = 0
    good_version: str = ""
    closed: str = ""
    changes: tuple[Change, ...] = ()
    nights: tuple[AlertNight, ...] = ()
    narrowed: tuple[Narrowed, ...] = ()

    @property
    def key(self) -> str:
        """What makes it one alert and not a hundred and twenty: package, case and symptom."""
        parts = (self.package, self.case, self.symptom.value if self.symptom else "")
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:12]

    @property
    def title(self) -> str:
        """Title of its issue; never changes."""
        if self.symptom is None:
            return f"[nightly] {self.package}: no new build on the index"
        return f"[nightly] {self.case}: {self.symptom.value} on {self.package}"

    @property
    def last_bad(self) -> AlertNight | None:
        """The last night that showed it."""
        shown = (Status.NEW.value, Status.REGRESSED.value, Status.STILL_BAD.value)
        return next((e for e in reversed(self.nights) if e.status in shown), None)


@dataclass(frozen=True, kw_only=True)
class JudgedNight:
    """A night with its statuses."""

    record: NightRecord
    judged: tuple[JudgedSymptom, ...]


@dataclass(frozen=True, kw_only=True)
class NightlyHistory:
    """All nights with their statuses, and the status of each case after the last one."""

    nights: tuple[JudgedNight, ...] = ()
    statuses: Mapping[tuple[str, Symptom], CaseStatus] = field(default_factory=dict)
    alerts: tuple[Alert, ...] = ()

    @property
    def open_alerts(self) -> tuple[Alert, ...]:
        """Those that are open now."""
        return tuple(alert for alert in self.alerts if alert.is_open)


def nightly_history(records: Iterable[NightRecord]) -> NightlyHistory:
    """Read the whole journal: the same journal always gives the same statuses and alerts."""
    so_far = NightlyHistory()
    for record in records:
        so_far = after(so_far, record)
    return so_far


def after(before: NightlyHistory, record: NightRecord) -> NightlyHistory:
    """One night more."""
    judged = tuple(one for seen in record.cases for one in judge_case(record, seen, before.statuses))
    alerts = {alert.key: alert for alert in before.alerts}
    for changed in _touched(alerts, record, judged):
        alerts[changed.key] = changed
    return NightlyHistory(
        nights=(*before.nights, JudgedNight(record=record, judged=judged)),
        statuses=advance(before.statuses, record, judged),
        alerts=tuple(alerts.values()),
    )


def _touched(alerts: Mapping[str, Alert], record: NightRecord, judged: Sequence[JudgedSymptom]) -> Iterator[Alert]:
    for one in judged:
        fresh = _blank(record, one.case, one.symptom)
        known = alerts.get(fresh.key)
        if known is not None or one.status in ALERTING:
            yield _step(known or fresh, record, one)
    fresh = _blank(record, STALE, None)
    if not record.fault and (fresh.key in alerts or record.stale):
        yield _step_index(alerts.get(fresh.key, fresh), record)


def _blank(record: NightRecord, case: str, symptom: Symptom | None) -> Alert:
    return Alert(
        package=record.package,
        case=case,
        symptom=symptom,
        opened=record.night,
        version=record.nightly,
        is_open=False,
    )


def _step(alert: Alert, record: NightRecord, one: JudgedSymptom) -> Alert:
    """What the status of one night does to an alert."""
    night = AlertNight(
        night=record.night, version=record.nightly, status=one.status.value, reason=one.reason, inferred=one.inferred
    )
    narrowed = tuple(n for n in record.narrowed if (n.case, n.symptom) == (one.case, one.symptom))
    alert = replace(alert, nights=(*alert.nights, night), narrowed=(*alert.narrowed, *narrowed))
    if one.status in ALERTING:
        return _opened(alert, record, one.status.value, one.reason)
    if not alert.is_open:
        return alert
    if one.status is Status.STILL_BAD:
        return replace(alert, good_nights=0)
    if one.status is Status.FIXED:
        return _good(
            _with_change(replace(alert, good_nights=0), record, one.status.value, f"gone in {record.nightly}"), record
        )
    if one.status is Status.AS_EXPECTED and one.outcome is Outcome.BAD:
        return _closed(alert, record, f"recorded as expected: {one.expected}")
    if one.status is Status.AS_EXPECTED and one.control_healthy:
        return _good(alert, record)
    return alert


def _step_index(alert: Alert, record: NightRecord) -> Alert:
    text = f"the newest build of {record.package} is {record.nightly or 'none'}, {record.stale_days} days old"
    status = Status.AS_EXPECTED
    if record.stale:
        status = Status.STILL_BAD if alert.is_open else Status.NEW
    night = AlertNight(night=record.night, version=record.nightly, status=status.value, reason=text)
    alert = replace(alert, nights=(*alert.nights, night))
    if record.stale:
        return replace(alert, good_nights=0) if alert.is_open else _opened(alert, record, status.value, text)
    return _good(alert, record) if alert.is_open else alert


def _opened(alert: Alert, record: NightRecord, status: str, reason: str) -> Alert:
    opened = replace(alert, is_open=True, good_nights=0, closed="", opened=record.night, version=record.nightly)
    return _with_change(opened, record, status, reason)


def _good(alert: Alert, record: NightRecord) -> Alert:
    if alert.good_nights and alert.good_version == record.nightly:
        return alert
    counted = replace(alert, good_nights=alert.good_nights + 1, good_version=record.nightly)
    if counted.good_nights < GOOD_NIGHTS:
        return counted
    return _closed(counted, record, f"good for {GOOD_NIGHTS} nights")


def _closed(alert: Alert, record: NightRecord, why: str) -> Alert:
    return _with_change(replace(alert, is_open=False, closed=record.night), record, "closed", why)


def _with_change(alert: Alert, record: NightRecord, status: str, text: str) -> Alert:
    change = Change(night=record.night, version=record.nightly, status=status, text=text)
    return replace(alert, changes=(*alert.changes, change))

"""Whole nights for tests, from one word per night."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from harness.domain.cases.symptoms import Symptom
from harness.domain.nightly.nights import CaseNight, CaseResult, NightRecord
from harness.domain.releases.release import Channel, Release
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import Outcome, Verdict

START = datetime(2024, 11, 1, 6, tzinfo=timezone.utc)
NAN = Symptom.NONFINITE_METRIC


def look(outcome: Outcome | None, reason: str = "loss is nan", symptom: Symptom = NAN, **changes: object) -> CaseResult:
    """A look with one symptom; None: nothing was judged."""
    verdicts = (
        {}
        if outcome is None
        else {symptom: Verdict(outcome=outcome, reason=recorded(reason if outcome.value != "good" else ""))}
    )
    return CaseResult(verdicts=verdicts, **changes)  # type: ignore[arg-type]


GOOD, BAD = look(Outcome.GOOD), look(Outcome.BAD)


def record(
    day: int,
    *nightly: CaseResult,
    control: tuple[CaseResult, ...] = (GOOD,),
    version: str | None = None,
    case: str = "identity",
    **changes: object,
) -> NightRecord:
    """The night `day` days after the first, with one case; by default every night has a build of its own."""
    moment = START + timedelta(days=day)
    given: dict[str, object] = {
        "night": moment.date().isoformat(),
        "moment": moment,
        "package": "keras-nightly",
        "nightly": version or f"3.7.0.dev{moment:%Y%m%d}03",
        "control": "3.6.0",
        "cases": (CaseNight(case=case, nightly=nightly, control=control),) if nightly else (),
    }
    return NightRecord(**{**given, **changes})  # type: ignore[arg-type]


def good(day: int, **changes: object) -> NightRecord:
    """A good night."""
    return record(day, GOOD, **changes)  # type: ignore[arg-type]


def bad(day: int, **changes: object) -> NightRecord:
    """A bad night, confirmed."""
    return record(day, BAD, BAD, BAD, **changes)  # type: ignore[arg-type]


def fixed(day: int, **changes: object) -> NightRecord:
    """A good night after bad ones, confirmed."""
    return record(day, GOOD, GOOD, GOOD, **changes)  # type: ignore[arg-type]


def broken(day: int) -> NightRecord:
    """A night whose index did not answer."""
    return record(day, nightly="", fault="the package index does not answer")


def builds(days: int) -> list[Release]:
    """One nightly build of keras a day, uploaded three hours before the night is run."""
    return [
        Release(
            package="keras-nightly",
            version=f"3.7.0.dev{START + timedelta(days=day):%Y%m%d}03",
            channel=Channel.NIGHTLY,
            released=START + timedelta(days=day, hours=-3),
        )
        for day in range(days)
    ]


STABLE = [Release(package="keras", version="3.6.0", released=START - timedelta(days=20))]
"""The stable release that was the newest when the nights began."""

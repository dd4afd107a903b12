"""What an attack must not do: change a verdict, lose a finished trial, show a traceback, leave a process behind."""

from __future__ import annotations

import itertools
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tests.faults.attack_world import Ran

ANSWERS = {0, 3, 4, 5}
STOPS = {6, 130}


class Result(str, Enum):
    """How an attack came out; the worst of what was seen."""

    RIGHT = "right"
    RESUMED = "stopped, resumed right"
    WRONG = "wrong"
    LOST = "lost"
    TRACEBACK = "traceback"
    LEFT = "left behind"
    LATE = "late"


WORST = (Result.WRONG, Result.LOST, Result.TRACEBACK, Result.LEFT, Result.LATE)


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One thing that must not be."""

    result: Result
    detail: str


@dataclass(frozen=True, kw_only=True)
class Truth:
    """What is true of the releases of a window.

    Attributes:
        verdicts: The verdict of each release in the order of the timeline.
        excused: Releases that may be skip, since the disturbance explains it.
    """

    verdicts: Mapping[str, str]
    excused: Collection[str] = ()

    def faults(self, ran: Ran, *, partial: bool) -> list[Fault]:
        """What is wrong with an answer; `partial`: releases may be left out, and the conclusion names them."""
        try:
            report = json.loads(ran.out)
        except ValueError:
            return [_wrong(f"exit {ran.code} without a report: {tail(ran.err)}")]
        rows = {row["version"]: row for row in report["releases"]}
        if missing := self.verdicts.keys() - rows.keys():
            return [_wrong(f"{sorted(missing)} not in the report")]
        left_out = report["conclusion"]["not_run"] if partial else []
        found = [self._fault(row, left_out=left_out) for row in rows.values()]
        faults = [one for one in found if one is not None]
        if faults:
            return faults
        stated = {version: rows[version]["verdict"] for version in self.verdicts}
        told = [(t["kind"], t["last_before"], t["first_after"]) for t in report["transitions"]]
        if told != transitions(stated):
            faults.append(_wrong(f"transitions {told} of {stated}"))
        if ran.code != expected_code(stated) and not partial:
            faults.append(_wrong(f"exit {ran.code} for {stated}"))
        return faults

    def _fault(self, row: Mapping[str, Any], *, left_out: Collection[str]) -> Fault | None:
        version, verdict, reason = row["version"], row["verdict"], row["reason"]
        true = self.verdicts.get(version)
        if verdict == true:
            return None
        if verdict is None and version in left_out:
            return None
        if verdict == "skip" and version in self.excused:
            return None if reason else _wrong(f"{version} is skip without a reason")
        return _wrong(f"{version} is {verdict}, not {true}: {' '.join(str(reason).split())[:160]}")


def transitions(verdicts: Mapping[str, str | None]) -> list[tuple[str, str, str]]:
    """All changes between neighbours that were run."""
    known = [(version, verdict) for version, verdict in verdicts.items() if verdict in ("good", "bad")]
    return [
        ("regression" if after == "bad" else "recovery", first, last)
        for (first, before), (last, after) in itertools.pairwise(known)
        if before != after
    ]


def expected_code(verdicts: Mapping[str, str | None]) -> int:
    """Exit code of a whole answer."""
    seen = set(verdicts.values()) & {"good", "bad"}
    if not seen:
        return 5
    return 0 if len(seen) == 2 else 3 if "good" in seen else 4


def manners(ran: Ran) -> list[Fault]:
    """Tracebacks, processes left behind, and the deadline."""
    faults = []
    if "Traceback" in ran.err or "a fault of the harness itself" in ran.err or ran.code == 120:
        faults.append(Fault(result=Result.TRACEBACK, detail=f"exit {ran.code}: {tail(ran.err)}"))
    if ran.left:
        faults.append(Fault(result=Result.LEFT, detail="; ".join(ran.left)[:300]))
    if ran.late:
        faults.append(Fault(result=Result.LATE, detail=tail(ran.err)))
    return faults


def stop_faults(ran: Ran, *, journal: bool, allowed: Collection[int]) -> list[Fault]:
    """A stop has an exit code of its own and says how to go on."""
    if ran.code < 0 or ran.late:
        return []
    if ran.code not in allowed:
        return [_wrong(f"stopped with exit {ran.code}: {tail(ran.err)}")]
    if journal and ran.code in STOPS and "--resume" not in ran.err:
        return [_wrong(f"stopped with exit {ran.code} and no resume line: {tail(ran.err)}")]
    return []


def result_of(faults: Sequence[Fault], *, stopped: bool) -> Result:
    """The worst of all."""
    seen = {fault.result for fault in faults}
    return next((one for one in WORST if one in seen), Result.RESUMED if stopped else Result.RIGHT)


def tail(text: str) -> str:
    """The last lines that are not a trace, on one line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    named = [line for line in lines if line.startswith("harness: ")] or lines[-3:]
    return " | ".join(named)[:300]


def _wrong(detail: str) -> Fault:
    return Fault(result=Result.WRONG, detail=detail)

"""What a workaround does to a fault: is the symptom gone, and are the values right?

    the fault shows   with the workaround                    cured?           right?
    ----------------  -------------------------------------  ---------------  --------------
    nothing           nothing                                nothing to cure  nothing to cure
    nothing           something bad                          nothing to cure  no
    cannot be told    any                                    cannot be told   cannot be told
    a symptom         it, or another failure that hides it   no               no
    a symptom         it cannot be told                      cannot be told   cannot be told
    a symptom         all gone, something else is bad        yes              no
    a symptom         all gone, not everything compared      yes              cannot be told
    a symptom         all gone, equal to the reference       yes              yes

On several replicas the reference is the same settings on one replica. On one replica it is the same case without
the fault: every parameter that has the value "none" is set to it, but for those that the workaround sets. A case whose
fault cannot be switched off has no reference on one replica, and "right" cannot be told there.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from harness.domain.cases import parameters
from harness.domain.cases.case import Case, Level, Workaround
from harness.domain.fixes.claims import ClaimFinding
from harness.domain.fixes.grades import Grade, Graded, ReportHead
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.verdict import Outcome

OFF = "none"  # the value that switches a fault or a workaround off


class Effect(str, Enum):
    """Answer to "cured?" and to "right?"."""

    YES = "yes"
    NO = "no"
    OPEN = "cannot be told"
    MOOT = "nothing to cure"


@dataclass(frozen=True, kw_only=True)
class PlannedTrials:
    """The trials that one workaround needs on one number of replicas.

    Attributes:
        without: The fault alone.
        patched: The fault with the workaround.
        reference: What `without` is held against; None: nothing.
        patched_reference: What `patched` is held against; None: nothing.
    """

    without: Variant
    patched: Variant
    reference: Variant | None = None
    patched_reference: Variant | None = None

    @property
    def variants(self) -> tuple[Variant, ...]:
        """All trials, references first."""
        found = (self.reference, self.patched_reference, self.without, self.patched)
        return tuple(dict.fromkeys(variant for variant in found if variant is not None))


@dataclass(frozen=True, kw_only=True)
class Measured:
    """One cell: a workaround on one release and one number of replicas."""

    version: str
    replicas: int
    cured: Effect
    right: Effect
    graded: Graded


@dataclass(frozen=True, kw_only=True)
class WorkaroundRow:
    """One workaround with everything that was measured of it."""

    remedy: Workaround
    cells: tuple[Measured, ...]


@dataclass(frozen=True, kw_only=True)
class WorkaroundReport(ReportHead):
    """The whole answer of ``harness workarounds``; every report is a pure function of it.

    Attributes:
        counts: Numbers of replicas, in the order of the columns.
        versions: Releases, in the order of the columns.
        rows: One per workaround.
        claims: What the reports say, and whether it holds.
        timing: Seconds by phase, summed over parallel jobs.
        locks: By key of the environment, what its lock has beside the shared one.
        reproduce: The command that asks the same again.
    """

    counts: tuple[int, ...]
    versions: tuple[str, ...]
    rows: tuple[WorkaroundRow, ...]
    claims: tuple[ClaimFinding, ...] = ()
    timing: Mapping[str, float] = field(default_factory=dict)
    locks: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    reproduce: str = ""


def attempt(case: Case, workaround: Workaround, replicas: int) -> PlannedTrials:
    """Plan the trials of one workaround; raises `UsageError` where its settings are none of the case's."""
    where = f"{case.path}, workarounds.{workaround.name}"
    fault = parameters.check(case, workaround.against, where=where)
    both = parameters.check(case, parameters.merge(fault, workaround.options), where=where)
    without, patched = variant(case, replicas, fault), variant(case, replicas, both)
    if case.level is Level.SCRIPT:
        return PlannedTrials(without=without, patched=patched)
    if replicas > 1:
        alone = (Variant(options=fault), Variant(options=both))
        return PlannedTrials(without=without, patched=patched, reference=alone[0], patched_reference=alone[1])
    faultless = sound(case, fault, workaround.options)
    return PlannedTrials(without=without, patched=patched, reference=faultless, patched_reference=faultless)


def variant(case: Case, replicas: int, options: parameters.Settings) -> Variant:
    """The case with these settings on so many replicas."""
    return Variant(replicas=replicas, strategy=case.strategy if replicas > 1 else "none", options=options)


def sound(case: Case, fault: parameters.Settings, workaround: Collection[str] = ()) -> Variant | None:
    """The case on one replica without its fault; None when nothing can be switched off.

    Args:
        case: Says which values its parameters have.
        fault: Settings of the fault; parameters that cannot be off keep them.
        workaround: Parameters that belong to the workaround; they are off in the reference, but are no fault.
    """
    off = {name: OFF for name, values in case.parameters.items() if OFF in values}
    if not set(off) - set(workaround):
        return None
    return Variant(options=parameters.check(case, parameters.merge(fault, off), where=case.path))


def effects(graded: Graded) -> tuple[Effect, Effect]:
    """Answer (cured?, right?) from a grade and the outcomes without and with the workaround."""
    shown = [outcomes for outcomes in graded.by_symptom.values() if outcomes[0] == Outcome.BAD.value]
    if graded.grade is Grade.NOT_REPRODUCED:
        return Effect.MOOT, Effect.MOOT
    if not shown:
        return (Effect.MOOT, Effect.NO) if graded.grade is Grade.BREAKS else (Effect.OPEN, Effect.OPEN)
    if graded.grade in (Grade.NO_EFFECT, Grade.BREAKS) or any(after == Outcome.BAD.value for _, after in shown):
        return Effect.NO, Effect.NO
    if any(after == Outcome.SKIP.value for _, after in shown):
        return Effect.OPEN, Effect.OPEN
    return Effect.YES, {Grade.PROVEN: Effect.YES, Grade.MASKS: Effect.NO}.get(graded.grade, Effect.OPEN)


def sentences(rows: Sequence[WorkaroundRow]) -> list[str]:
    """One sentence per workaround: where it cures and is right, where it only hides, where it does nothing."""
    return [f"{row.remedy.name}: {_summary(row.cells)}." for row in rows]


def _summary(cells: Sequence[Measured]) -> str:
    faulty = [cell for cell in cells if cell.cured is not Effect.MOOT]
    if not faulty:
        return "the fault shows nowhere"
    cured = [cell for cell in faulty if cell.cured is Effect.YES]
    right = [cell for cell in cured if cell.right is Effect.YES]
    wrong = [cell for cell in cured if cell.right is Effect.NO]
    parts = [f"cures {len(cured)} of {len(faulty)}", f"right in {len(right)}"]
    parts += [f"leaves wrong values in {len(wrong)}"] if wrong else []
    unknown = len(cured) - len(right) - len(wrong)
    parts += [f"whether it is right cannot be told in {unknown}"] if unknown else []
    return ", ".join(parts)

"""What to do about a symptom, in sentences: where a fix helps, what a pinned release is worth."""

from __future__ import annotations

from collections.abc import Sequence

from harness.domain.cases.symptoms import Symptom
from harness.domain.fixes.grades import FixResult, Grade, Graded
from harness.domain.fixes.grading import why_skipped, why_untold
from harness.domain.verdicts.verdict import Outcome, Verdicts

_ADVICE = {
    Grade.PROVEN: "cures",
    Grade.MASKS: "takes the symptom away but leaves wrong values on",
    Grade.NO_EFFECT: "does nothing for",
    Grade.BREAKS: "breaks",
    Grade.ABSENT: "finds nothing to patch in",
    Grade.NOT_REPRODUCED: "is not needed on",
    Grade.INCONCLUSIVE: "could not be judged on",
}


def sentence(name: str, graded: Sequence[Graded]) -> str:
    """Say where to use a fix and where not, in one sentence."""
    parts = []
    for one in Grade:
        places = [n for n, g in enumerate(graded) if g.grade is one]
        if places:
            parts.append(f"{_ADVICE[one]} {', '.join(_spans(graded, places))}")
    advice = "use it nowhere" if Grade.PROVEN not in {g.grade for g in graded} else "use it only where it cures"
    return f"{name} {'; '.join(parts)}: {advice}." if parts else f"{name} was not tried on any release."


def _spans(graded: Sequence[Graded], places: Sequence[int]) -> list[str]:
    """Fold neighbouring releases into "first to last"."""
    spans: list[list[int]] = []
    for place in places:
        if spans and spans[-1][-1] == place - 1:
            spans[-1].append(place)
        else:
            spans.append([place])
    names = [(graded[s[0]].version, graded[s[-1]].version) for s in spans]
    return [first if first == last else f"{first} to {last}" for first, last in names]


def causes(fixes: Sequence[FixResult]) -> list[str]:
    """Which key of the mapping each symptom hangs on: those whose change, alone, makes it go away.

    Args:
        fixes: Results of a sweep, named ``key->VALUE``.
    """
    found = []
    for place, one in enumerate(fixes[0].releases if fixes else ()):
        for symptom, (without, _) in one.by_symptom.items():
            gone = [f.name for f in fixes if _gone(f.releases[place], symptom)]
            if without == Outcome.BAD.value and gone:
                keys = ", ".join(dict.fromkeys(name.split("->")[0] for name in gone))
                found.append(f"{symptom} on {one.version} hangs on the key {keys}: gone with {', '.join(gone)}")
    return found


def _gone(one: Graded, symptom: str) -> bool:
    """Decided and not shown; a run that ends early cannot say so."""
    return one.by_symptom.get(symptom, ("", ""))[1] == Outcome.GOOD.value


def workarounds(package: str, rows: Sequence[tuple[str, Verdicts]], targets: Sequence[Symptom]) -> list[str]:
    """What pinning each release is worth: one sentence per stretch of releases that behave alike.

    Args:
        package: Distribution under test.
        rows: Version and verdicts without any fix, in order.
        targets: Symptoms that the user wants to be rid of.
    """
    stretches: list[tuple[str, list[str], str]] = []
    for version, verdicts in rows:
        worth, evidence = _worth(verdicts, targets)
        if stretches and stretches[-1][0] == worth:
            stretches[-1][1].append(version)
        else:
            stretches.append((worth, [version], evidence))
    return [f"pin {package} {_span(versions)}: {worth}{evidence}" for worth, versions, evidence in stretches]


def _span(versions: Sequence[str]) -> str:
    return versions[0] if len(versions) == 1 else f"{versions[0]} to {versions[-1]}"


def _worth(verdicts: Verdicts, targets: Sequence[Symptom]) -> tuple[str, str]:
    bad = {s: v.reason for s, v in verdicts.items() if v.outcome is Outcome.BAD}
    shown = [s for s in bad if s in targets or not targets]
    if shown:
        return f"no workaround, shows {', '.join(s.value for s in shown)}", f" ({bad[shown[0]]})"
    names = ", ".join(t.value for t in targets) or "any symptom"
    if bad:
        evidence = "; ".join(f"{s.value}: {reason}" for s, reason in bad.items())
        return f"does not show {names}, but is not right: {', '.join(s.value for s in bad)}", f" ({evidence})"
    if untold := why_untold(verdicts, targets):
        return "could not be tested", f" ({untold})"
    if left := why_skipped(verdicts):
        return f"does not show {names}; whether it is right could not be told", f" ({left})"
    return f"does not show {names} and nothing else that the case looks for", ""

"""The lines behind a transition in sentences."""

from __future__ import annotations

from dataclasses import replace

from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.changes.changed_lines import ChangedLines
from harness.domain.findings.transition import Kind

FOUND = ChangedLines(
    symptom=Symptom.NONFINITE_METRIC,
    kind=Kind.REGRESSION,
    last_before="3.6.0",
    first_after="3.7.0",
    diff="+1",
    files=("keras/a.py", "keras/b.py"),
    hunks=3,
    added=4,
    removed=1,
    changed_files=200,
    executed_files=120,
    trials=40,
    unresolved=6,
    seconds=61.2,
    minimal=True,
    proven=True,
    backward="it is gone",
)


def test_a_regression():
    assert FOUND.sentence == (
        "nonfinite-metric begins 3.6.0 -> 3.7.0: 3 hunks in keras/a.py, keras/b.py (+4 -1 lines); no hunk can be left "
        "out. 3.6.0 with these lines: it shows. 3.7.0 without them: it is gone."
    )
    assert FOUND.cost == (
        "200 files differ, 120 of them imported by the case; 40 sets of changes run, 6 of them unresolved, in 61 s."
    )


def test_a_recovery_whose_budget_was_spent():
    left = replace(
        FOUND, kind=Kind.RECOVERY, hunks=1, minimal=False, backward="it shows", executed_files=None, left="Stopped."
    )
    assert left.sentence == (
        "nonfinite-metric ends 3.6.0 -> 3.7.0: 1 hunk in keras/a.py, keras/b.py (+4 -1 lines); perhaps more than are "
        "needed. 3.6.0 with these lines: it is gone. 3.7.0 without them: it shows."
    )
    assert left.cost == (
        "200 files differ, which of them the case executes could not be measured; 40 sets of changes run, 6 of them "
        "unresolved, in 61 s. Stopped."
    )


def test_a_refusal():
    refused = replace(FOUND, refused="x is compiled")
    assert refused.sentence == "nonfinite-metric begins 3.6.0 -> 3.7.0: no lines were found: x is compiled"

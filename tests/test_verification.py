"""Verifying fixes over small real fakes: the grade of each fix on each release."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from harness import ledger, verification
from harness.core.cases import Symptom
from harness.core.errors import SurroundingsError
from harness.core.grades import Grade
from harness.core.observations import REFERENCE
from harness.verification import Verification, grade_release, shows, verify
from tests.examples import case, timeline
from tests.fakes import TWO, Heard, MemoryJournal, TableEnvironments, TableTrials, untestable

SHOWN = {"1.0": "good", "1.1": "nan", "1.2": "nan", "1.3": "good"}
FIXED = {
    "cures": {"1.0": "good", "1.1": "good", "1.2": "good", "1.3": "good"},
    "masks": {"1.0": "good", "1.1": "wrong", "1.2": "wrong", "1.3": "good"},
    "nothing": {"1.0": "good", "1.1": "nan", "1.2": "nan", "1.3": "good"},
    "breaks": {"1.0": "raises", "1.1": "raises", "1.2": "raises", "1.3": "raises"},
}


def asked(**changes) -> Verification:
    given = {
        "case": case(),
        "releases": timeline(list(SHOWN)).releases,
        "variant": TWO,
        "fixes": tuple(FIXED),
        "targets": (Symptom.NONFINITE_METRIC,),
    }
    return Verification(**{**given, **changes})


def grades(question: Verification, journal: MemoryJournal) -> Mapping[str, list[Grade]]:
    entries = ledger.group(journal.entries())
    return {
        fix: [grade_release(question, r, entries.get(r.version, []), fix).grade for r in question.releases]
        for fix in question.fixes
    }


@pytest.mark.parametrize("jobs", [1, 3])
def test_every_fix_is_graded_on_every_release(jobs):
    question, journal = asked(jobs=jobs), MemoryJournal()
    verify(question, TableEnvironments(), TableTrials(SHOWN, fixed=FIXED), journal, Heard())
    assert grades(question, journal) == {
        "cures": [Grade.NOT_REPRODUCED, Grade.PROVEN, Grade.PROVEN, Grade.NOT_REPRODUCED],
        "masks": [Grade.NOT_REPRODUCED, Grade.MASKS, Grade.MASKS, Grade.NOT_REPRODUCED],
        "nothing": [Grade.NOT_REPRODUCED, Grade.NO_EFFECT, Grade.NO_EFFECT, Grade.NOT_REPRODUCED],
        "breaks": [Grade.BREAKS] * 4,
    }


def test_reference_without_and_with_each_fix_run_in_one_environment():
    trials, environments = TableTrials(SHOWN, fixed=FIXED), TableEnvironments()
    verify(asked(), environments, trials, MemoryJournal(), Heard())
    assert environments.prepared == list(SHOWN)
    assert [t.variant for t in trials.ran if t.release == "1.1"] == [
        REFERENCE,
        TWO,
        *(replace(TWO, fix=name) for name in FIXED),
    ]


def test_a_release_that_cannot_be_tested_is_inconclusive_with_its_reason():
    question, journal = asked(fixes=("cures",)), MemoryJournal()
    verify(question, TableEnvironments(untestable("1.1")), TableTrials(SHOWN, fixed=FIXED), journal, Heard())
    graded = grade_release(question, question.releases[1], ledger.group(journal.entries())["1.1"], "cures")
    assert (graded.grade, graded.reason) == (Grade.INCONCLUSIVE, "1.1: no wheel for this Python")


def test_one_that_was_not_run_says_so():
    graded = grade_release(asked(), asked().releases[0], [], "cures")
    assert (graded.grade, graded.reason) == (Grade.INCONCLUSIVE, "not run")


def test_resuming_runs_what_is_missing_and_nothing_twice():
    question, journal = asked(), MemoryJournal()
    broken = TableEnvironments({"1.2": SurroundingsError("disk full")})
    with pytest.raises(SurroundingsError):
        verify(question, broken, TableTrials(SHOWN, fixed=FIXED), journal, Heard())
    held = {e.release for e in journal.entries()}
    again = TableEnvironments()
    verify(question, again, TableTrials(SHOWN, fixed=FIXED), journal, Heard())
    assert set(again.prepared) == set(SHOWN) - held
    assert set(grades(question, journal)["cures"]) == {Grade.NOT_REPRODUCED, Grade.PROVEN}


def test_the_listener_hears_the_grades_and_what_is_left():
    heard = Heard()
    verify(
        asked(fixes=("cures", "masks")), TableEnvironments(), TableTrials(SHOWN, fixed=FIXED), MemoryJournal(), heard
    )
    told = [(e.release, e.detail, e.left) for e in heard.events if e.kind == "done"]
    assert told[1] == ("1.1", "cures: proven, masks: masks", 2)
    assert told[-1][2] == 0


@pytest.mark.parametrize(
    ("word", "targets", "answer"),
    [
        ("nan", (Symptom.NONFINITE_METRIC,), True),
        ("nan", (Symptom.EXCEPTION,), False),
        ("nan", (), True),
        ("good", (), False),
    ],
)
def test_a_release_shows_a_target_or_any_symptom_when_none_is_named(word, targets, answer):
    journal = MemoryJournal()
    question = asked(releases=timeline(["1.0"]).releases, fixes=())
    verify(question, TableEnvironments(), TableTrials({"1.0": word}), journal, Heard())
    assert shows(case(), journal.entries(), TWO, targets) is answer


def test_a_release_that_was_not_run_shows_nothing():
    assert not shows(case(), [], TWO, ())


def test_what_the_fix_did_is_told_where_it_only_masks():
    from harness.core.observations import FixFacts
    from tests.examples import observation
    from tests.fakes import SHOWN as WORDS

    patched = replace(WORDS["wrong"](), fix=FixFacts(name="masks", outcome="applied", detail="sum -> NONE"))
    graded = verification.bracket(case(), "1.1", observation(), WORDS["nan"](), patched, (Symptom.NONFINITE_METRIC,))
    assert graded.grade is Grade.MASKS
    assert graded.reason.endswith("(what the fix did: sum -> NONE)")
    assert graded.by_symptom["nonfinite-metric"] == ("bad", "good")

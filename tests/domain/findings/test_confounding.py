"""What a release and what its companions do, by a table of what each shows beside the companions of the other side."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.confounding import (
    MOST_RUNS,
    Tried,
    confounded,
    next_crossings,
    runs_needed,
)
from harness.domain.findings.run import RunHeader
from harness.domain.findings.transition import Confounding, Kind, Parting, Transition
from harness.domain.search.history import ReleaseState
from harness.domain.search.policy import Policy
from harness.domain.trials.crossing import Crossing
from harness.domain.trials.trial import Environment
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import GOOD, Verdict, bad, skip
from tests.examples import case, timeline
from tests.fakes import header

SYMPTOM = Symptom.EXCEPTION
BAD = bad(recorded("it raises"), "raises")
BEFORE, AFTER = ("np==1", "tb==1"), ("np==2", "tb==2")
A = Crossing(release="1.0", companions_of="1.1").label
B = Crossing(release="1.1", companions_of="1.0").label


def ran(companions: tuple[str, ...], *verdicts: Verdict) -> Tried:
    environment = Environment(key="k", executable="/p", python="3.11", lock=("keras==1", *companions))
    return Tried(state=ReleaseState(runs=tuple({SYMPTOM: one} for one in verdicts)), environment=environment)


def refused(why: str) -> Tried:
    return Tried(state=ReleaseState(blocked=recorded(why)))


SIDES = {"1.0": ran(BEFORE), "1.1": ran(AFTER)}


def run_of(policy: Policy | None = None) -> RunHeader:
    return header(case(), timeline(["1.0", "1.1"]), policy)


def transition(kind: Kind = Kind.REGRESSION, rate: float = 1.0) -> Transition:
    return Transition(symptom=SYMPTOM, kind=kind, last_before="1.0", first_after="1.1", rate=rate, confirmed=True)


def found(records: dict[str, Tried], kind: Kind = Kind.REGRESSION) -> Confounding:
    (one,) = confounded(run_of(), {**SIDES, **records}, [transition(kind)])
    assert one.confounding is not None
    return one.confounding


def pending(records: dict[str, Tried]) -> list[str]:
    return [one.label for one in next_crossings(run_of(), {**SIDES, **records}, [transition()])]


class TestNothingMoved:
    @pytest.mark.parametrize(
        "records",
        [
            {},
            {"1.0": ran(BEFORE), "1.1": refused("no wheel")},
            {"1.0": ran(BEFORE), "1.1": ran((*BEFORE, "new==1"))},
            {"1.0": ran((*BEFORE, "gone==1")), "1.1": ran(BEFORE)},
        ],
    )
    def test_where_no_companion_has_two_versions_there_is_nothing_to_part(self, records):
        assert confounded(run_of(), records, [transition()]) == [transition()]
        assert next_crossings(run_of(), records, [transition()]) == []

    def test_a_side_without_companions_of_its_own_has_the_shared_ones(self):
        run = run_of()
        run = replace(run, setting=replace(run.setting, lock=BEFORE))
        (one,) = confounded(run, {"1.0": ran(()), "1.1": ran(AFTER)}, [transition()])
        assert one.confounding is not None
        assert [(m.name, m.reference, m.version) for m in one.confounding.moved] == [("np", "1", "2"), ("tb", "1", "2")]


@pytest.mark.parametrize(
    ("a", "b", "parting", "packages"),
    [
        # release 1.0 beside AFTER, release 1.1 beside BEFORE; 1.0 is good and 1.1 is bad beside their own
        (GOOD, BAD, Parting.RELEASE, ()),
        (GOOD, None, Parting.RELEASE, ()),
        (None, BAD, Parting.RELEASE, ()),
        (BAD, GOOD, Parting.COMPANIONS, ("np", "tb")),
        (BAD, None, Parting.COMPANIONS, ("np", "tb")),
        (None, GOOD, Parting.COMPANIONS, ("np", "tb")),
        (GOOD, GOOD, Parting.BOTH, ()),
        (BAD, BAD, Parting.EITHER, ()),
        (None, None, Parting.UNPARTED, ("np", "tb")),
    ],
)
def test_the_answer_follows_from_both_crossings(a, b, parting, packages):
    records = {
        A: ran(AFTER, a) if a else refused("np<2 is needed"),
        B: ran(BEFORE, b) if b else refused("np>=2 is needed"),
    }
    confounding = found(records)
    assert (confounding.parting, confounding.packages) == (parting, packages)
    mirrored = {
        A: ran(AFTER, BAD if a == GOOD else GOOD) if a else refused("no"),
        B: ran(BEFORE, BAD if b == GOOD else GOOD) if b else refused("no"),
    }
    recovery = found(mirrored, Kind.RECOVERY)
    assert (recovery.parting, recovery.packages) == (parting, packages)


class TestPartly:
    def test_companions_that_can_be_swapped_without_effect_are_cleared(self):
        """1.0 takes the new tb and stays good; np and the release are left."""
        assert found({A: ran(("np==1", "tb==2"), GOOD), B: refused("no")}).packages == ("np",)
        assert found({A: refused("no"), B: ran(("np==2", "tb==1"), BAD)}).packages == ("np",)

    def test_a_part_of_the_companions_may_suffice(self):
        confounding = found({A: ran(("np==1", "tb==2"), BAD), B: refused("no")})
        assert (confounding.parting, confounding.packages) == (Parting.COMPANIONS, ("tb",))


TURNED = {A: ran(AFTER, BAD), B: refused("no")}


class TestWhichCompanion:
    NP = "1.0 with np of 1.1"
    TB = "1.0 with tb of 1.1"

    def test_they_are_tried_one_by_one_once_they_do_it_together(self):
        assert pending({}) == [A, B]
        assert pending({A: ran(AFTER, GOOD)}) == [B]
        assert pending(TURNED) == [self.NP, self.TB]
        assert pending({**TURNED, self.NP: refused("no"), self.TB: refused("no")}) == []
        assert pending({A: ran(AFTER, GOOD), B: ran(BEFORE, BAD)}) == []

    def test_the_one_that_turns_it_alone_is_named(self):
        records = {**TURNED, self.NP: ran(("np==2", "tb==1"), BAD), self.TB: ran(("np==1", "tb==2"), GOOD)}
        assert found(records).packages == ("np",)
        assert found(records).short == "it is np"

    def test_one_that_brings_the_other_with_it_does_not_hide_it(self):
        records = {**TURNED, self.NP: ran(("np==2", "tb==1"), BAD), self.TB: ran(AFTER, BAD)}
        assert found(records).packages == ("np",)

    def test_where_none_does_it_alone_all_are_named(self):
        records = {**TURNED, self.NP: ran(("np==2", "tb==1"), GOOD), self.TB: refused("no")}
        assert found(records).packages == ("np", "tb")


class TestInWords:
    def test_the_sentence_has_the_versions_the_answer_and_the_evidence(self):
        records = {A: ran(("np==1", "tb==2"), GOOD), B: refused("np>=2 is needed")}
        assert found(records).sentence == (
            "Between 1.0 and 1.1 companions moved too (np 1 -> 2, tb 1 -> 2): the release and np cannot be parted here. "
            "1.0 with the companions of 1.1 (but np its own) is good; "
            "1.1 with the companions of 1.0 could not be tried (np>=2 is needed)."
        )

    def test_what_was_not_run_and_what_says_nothing_is_told(self):
        said = found({A: ran(AFTER, skip(recorded("too few steps")))}).sentence
        assert "1.0 with the companions of 1.1 could not be tried (too few steps)" in said
        assert "1.1 with the companions of 1.0 could not be tried (not run)" in said
        silent = Tried(state=ReleaseState(runs=({},)), environment=None)
        assert "1.0 with the companions of 1.1 could not be tried (not run)" in found({A: silent}).sentence

    def test_many_companions_are_counted(self):
        names = [f"p{n}" for n in range(9)]
        records = {"1.0": ran(tuple(f"{n}==1" for n in names)), "1.1": ran(tuple(f"{n}==2" for n in names))}
        assert "p5 1 -> 2, 3 more)" in found(records).sentence


def test_a_change_from_one_wrong_value_to_another_is_not_parted():
    """Both sides are bad: a crossing that is bad too would say nothing."""
    told = found({A: ran(AFTER, BAD), B: ran(BEFORE, BAD)}, Kind.CHANGE)
    assert told.parting is Parting.UNPARTED
    assert told.sentence.endswith("the release and np, tb cannot be parted here.")
    assert next_crossings(run_of(), SIDES, [transition(Kind.CHANGE)]) == []


class TestRuns:
    def test_a_steady_symptom_needs_as_many_runs_as_a_side(self):
        assert runs_needed(run_of(Policy(confirmations=3)), [transition()]) == 3

    def test_a_flaky_one_needs_more_up_to_a_limit(self):
        assert runs_needed(run_of(), [transition(rate=0.5)]) == 7
        assert runs_needed(run_of(Policy(confidence=1.0)), [transition(rate=0.01)]) == MOST_RUNS

    def test_one_bad_run_of_several_is_bad(self):
        assert found({A: ran(AFTER, GOOD, BAD), B: refused("no")}).parting is Parting.COMPANIONS

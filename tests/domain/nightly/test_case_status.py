"""What the nights say of a symptom, night by night: reasons, controls, and what is carried on."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.nightly.alerts import nightly_history
from harness.domain.nightly.case_status import CaseStatus, JudgedSymptom, advance, evidence_for, exit_code, judge_case
from harness.domain.nightly.nights import CaseNight, CaseResult, NightExit, NightRecord, Status, StatusEvidence
from harness.domain.verdicts.verdict import Outcome
from tests.nights import BAD, GOOD, NAN, bad, broken, fixed, good, look, record

HIDDEN = look(Outcome.SKIP, "hidden by exception")
CANARY = look(None, blocked="the canary is red")
DISK = look(None, fault="the disk is full")
KEY = ("identity", NAN)


def seen(*nightly: CaseResult, control: tuple[CaseResult, ...] = (GOOD,), **changes: object) -> CaseNight:
    return CaseNight(case="identity", nightly=nightly, control=control, **changes)  # type: ignore[arg-type]


def night(day: int, one: CaseNight, **changes: Any) -> NightRecord:
    return record(day, cases=(one,), **changes)


def status_before(*nights: NightRecord) -> CaseStatus:
    return nightly_history(nights).statuses[KEY]


def last(*nights: NightRecord) -> JudgedSymptom:
    (one,) = nightly_history(nights).nights[-1].judged
    return one


class TestReasons:
    @pytest.mark.parametrize(
        ("tonight", "status", "reason"),
        [
            (seen(BAD, GOOD, HIDDEN), Status.FLAKY, "bad in 1 of 3 runs of 3.7.0.dev2024110203: loss is nan"),
            (seen(BAD), Status.SUSPICIOUS, "not confirmed: 1 of 3 runs: loss is nan"),
            (
                seen(BAD, BAD, BAD, control=(BAD, GOOD)),
                Status.SUSPICIOUS,
                "the control 3.6.0 is not healthy in this slot, so nothing is believed: loss is nan",
            ),
            (seen(DISK, CANARY), Status.INFRASTRUCTURE, "the disk is full"),
            (seen(GOOD, DISK, control=(look(None, fault="no network"),)), Status.INFRASTRUCTURE, "the disk is full"),
            (seen(CANARY, look(None, blocked="no wheel")), Status.INSUFFICIENT, "the canary is red"),
            (seen(HIDDEN), Status.INSUFFICIENT, "hidden by exception"),
            (seen(look(None)), Status.INSUFFICIENT, "nothing was decided"),
            (seen(GOOD), Status.AS_EXPECTED, ""),
            (seen(look(Outcome.BAD, ""), look(Outcome.BAD, "mae is nan"), BAD), Status.NEW, "mae is nan"),
        ],
    )
    def test_each_word_says_why(self, tonight, status, reason):
        one = last(good(0), night(1, tonight))
        assert (one.status, one.reason) == (status, reason)

    def test_the_same_build_that_says_otherwise(self):
        one = last(good(0), bad(1, version=record(0).nightly))
        assert (one.status, one.reason) == (
            Status.SUSPICIOUS,
            "the very same build said otherwise on an earlier night: loss is nan",
        )

    def test_a_fault_of_the_night_speaks_before_that_of_a_trial(self):
        one = last(good(0), night(1, seen(DISK), fault="the index does not answer"))
        assert (one.status, one.reason) == (Status.INFRASTRUCTURE, "the index does not answer")
        one = last(good(0), night(1, seen(GOOD), fault="the index does not answer"))
        assert (one.status, one.reason) == (Status.INFRASTRUCTURE, "the index does not answer")


class TestJudged:
    def test_everything_that_a_night_says_of_a_symptom(self):
        known = seen(BAD, replace(BAD, inferred=True), control=(GOOD,), expected={NAN: "known since 3.7"})
        assert last(night(0, known)) == JudgedSymptom(
            case="identity",
            symptom=NAN,
            status=Status.AS_EXPECTED,
            outcome=Outcome.BAD,
            reason="loss is nan",
            expected="known since 3.7",
            control_healthy=True,
            inferred=True,
        )
        assert last(good(0), night(1, seen(GOOD, BAD, control=()))) == JudgedSymptom(
            case="identity",
            symptom=NAN,
            status=Status.FLAKY,
            outcome=None,
            reason="bad in 1 of 2 runs of 3.7.0.dev2024110203: loss is nan",
            control_healthy=False,
        )

    def test_symptoms_that_were_seen_are_known_or_are_expected_are_judged_in_their_order(self):
        raises = look(Outcome.GOOD, symptom=Symptom.EXCEPTION)
        wrong = look(Outcome.GOOD, symptom=Symptom.WRONG_METRIC)
        statuses = {
            ("identity", Symptom.TIMEOUT): CaseStatus(),
            ("other", Symptom.KILLED): CaseStatus(),
        }
        asked = seen(wrong, control=(raises,), expected={NAN: "known"})
        judged = judge_case(night(0, asked), asked, statuses)
        named = {Symptom.EXCEPTION, Symptom.WRONG_METRIC, Symptom.TIMEOUT, NAN}
        assert [one.symptom for one in judged] == [symptom for symptom in Symptom if symptom in named]
        assert {one.case for one in judged} == {"identity"}

    def test_where_nothing_was_seen_one_word_stands_for_all(self):
        asked = seen(CANARY, control=())
        (one,) = judge_case(night(0, asked), asked, {})
        assert (one.symptom, one.status) == (Symptom.EXCEPTION, Status.INSUFFICIENT)


class TestEvidence:
    def test_before_the_first_night_the_control_stands_in(self):
        asked = seen(BAD, control=(BAD, BAD), control_expected={NAN: "known"})
        assert evidence_for(night(0, asked), asked, NAN, CaseStatus()) == StatusEvidence(
            runs=(Outcome.BAD,), before=Outcome.BAD, before_expected=True, control_healthy=True
        )

    @pytest.mark.parametrize("control", [(), (GOOD, BAD), (HIDDEN,), (CANARY,), (GOOD, CANARY), (GOOD, DISK)])
    def test_a_control_that_does_not_agree_or_decide_stands_in_for_nothing(self, control):
        asked = seen(BAD, control=control)
        assert evidence_for(night(0, asked), asked, NAN, CaseStatus()).before is None

    def test_afterwards_the_last_believed_night_counts(self):
        before = CaseStatus(
            last=Outcome.BAD,
            expected=True,
            version=record(3).nightly,
            ever_bad=True,
            control={"3.6.0": Outcome.BAD, "3.5.0": Outcome.GOOD},
        )
        asked = seen(HIDDEN, GOOD, DISK, look(Outcome.GOOD, symptom=Symptom.EXCEPTION), expected={NAN: "known"})
        assert evidence_for(night(3, asked, confirmations=5), asked, NAN, before) == StatusEvidence(
            fault=True,
            runs=(Outcome.SKIP, Outcome.GOOD, Outcome.SKIP),
            expected_bad=True,
            before=Outcome.BAD,
            before_expected=True,
            ever_bad=True,
            control_healthy=False,
            same_build=True,
            confirmations=5,
        )
        assert not evidence_for(night(4, asked), asked, NAN, before).same_build

    def test_the_expectation_of_the_control_excuses_the_control_alone(self):
        asked = seen(BAD, control=(BAD,), control_expected={NAN: "known"})
        told = evidence_for(night(1, asked), asked, NAN, CaseStatus(last=Outcome.GOOD))
        assert (told.expected_bad, told.before_expected, told.control_healthy) == (False, False, True)

    @pytest.mark.parametrize("control", [(CANARY,), (DISK,), (GOOD, CANARY), (GOOD, DISK)])
    def test_a_control_that_could_not_be_run_does_not_vouch(self, control):
        asked = seen(GOOD, control=control)
        assert not evidence_for(night(0, asked), asked, NAN, CaseStatus()).control_healthy


class TestStanding:
    def test_a_believed_night_is_remembered(self):
        assert status_before(good(0), bad(1)) == CaseStatus(
            last=Outcome.BAD,
            version=record(1).nightly,
            night="2024-11-02",
            ever_bad=True,
            control={"3.6.0": Outcome.GOOD},
        )
        assert status_before(good(0), bad(1), fixed(2)) == CaseStatus(
            last=Outcome.GOOD,
            version=record(2).nightly,
            night="2024-11-03",
            ever_bad=True,
            control={"3.6.0": Outcome.GOOD},
        )

    def test_an_excused_night_is_remembered_as_excused(self):
        told = status_before(night(0, seen(BAD, expected={NAN: "known"})))
        assert (told.last, told.expected, told.ever_bad) == (Outcome.BAD, True, True)
        told = status_before(night(0, seen(GOOD, GOOD, GOOD, expected={NAN: "known"})))
        assert (told.last, told.expected, told.ever_bad) == (Outcome.GOOD, False, False)

    @pytest.mark.parametrize(
        "tonight",
        [seen(BAD), seen(BAD, GOOD, BAD), seen(DISK), seen(CANARY), seen(HIDDEN)],
        ids=["seen once", "flaky", "disk", "canary", "hidden"],
    )
    def test_a_night_that_is_not_believed_leaves_everything_but_the_control(self, tonight):
        before = status_before(good(0))
        assert status_before(good(0), night(1, tonight)) == before
        new = replace(night(1, tonight), control="3.7.0")
        assert status_before(good(0), new) == replace(before, control={"3.6.0": Outcome.GOOD, "3.7.0": Outcome.GOOD})

    def test_a_control_says_something_else_only_when_it_says_so_twice_in_a_row(self):
        once = night(1, seen(GOOD, control=(BAD, BAD)))
        again = night(2, seen(GOOD, control=(BAD,)))
        one, two = status_before(good(0), once), status_before(good(0), once, again)
        assert (one.control, one.odd) == ({"3.6.0": Outcome.GOOD}, {"3.6.0": Outcome.BAD})
        assert (two.control, two.odd) == ({"3.6.0": Outcome.BAD}, {})
        back = status_before(good(0), once, good(2))
        assert (back.control, back.odd) == ({"3.6.0": Outcome.GOOD}, {})
        third = status_before(good(0), once, good(2), replace(once, night="2024-11-04"))
        assert (third.control, third.odd) == ({"3.6.0": Outcome.GOOD}, {"3.6.0": Outcome.BAD})

    def test_a_control_is_heard_also_on_a_night_that_is_not_believed(self):
        once = night(1, seen(HIDDEN, control=(BAD,)))
        told = status_before(good(0), once)
        assert (told.last, told.control, told.odd) == (Outcome.GOOD, {"3.6.0": Outcome.GOOD}, {"3.6.0": Outcome.BAD})
        told = status_before(good(0), once, night(2, seen(HIDDEN, control=(BAD,))))
        assert (told.last, told.control, told.odd) == (Outcome.GOOD, {"3.6.0": Outcome.BAD}, {})

    def test_an_odd_answer_of_one_control_says_nothing_of_another(self):
        odd = night(1, seen(GOOD, control=(BAD,)))
        told = status_before(good(0), odd, replace(good(2), control="3.7.0"))
        assert told.control == {"3.6.0": Outcome.GOOD, "3.7.0": Outcome.GOOD}
        assert told.odd == {"3.6.0": Outcome.BAD}
        told = status_before(good(0), odd, replace(night(2, seen(GOOD, control=(BAD,))), control="3.7.0"))
        assert told.control == {"3.6.0": Outcome.GOOD, "3.7.0": Outcome.BAD}
        assert told.odd == {"3.6.0": Outcome.BAD}

    @pytest.mark.parametrize("control", [(), (GOOD, BAD), (CANARY,), (BAD, CANARY), (BAD, DISK)], ids=len)
    def test_a_night_on_a_sick_machine_teaches_nothing_of_the_control(self, control):
        before = status_before(good(0), night(1, seen(GOOD, control=(BAD,))))
        after = status_before(good(0), night(1, seen(GOOD, control=(BAD,))), night(2, seen(GOOD, control=control)))
        assert (after.control, after.odd) == (before.control, before.odd)

    def test_a_hidden_symptom_of_the_control_is_an_answer(self):
        assert status_before(night(0, seen(GOOD, control=(HIDDEN,)))).control == {"3.6.0": Outcome.SKIP}

    def test_the_standings_of_other_symptoms_stay(self):
        other = {("other", NAN): CaseStatus(last=Outcome.BAD)}
        one = night(0, seen(GOOD))
        after = advance(other, one, judge_case(one, one.cases[0], other))
        assert set(after) == {("other", NAN), KEY}
        assert after["other", NAN] == CaseStatus(last=Outcome.BAD)
        assert set(other) == {("other", NAN)}


class TestExitCode:
    def judged(self, *words: Status, case: str = "identity") -> list[JudgedSymptom]:
        return [JudgedSymptom(case=case, symptom=NAN, status=status, outcome=None, reason="") for status in words]

    @pytest.mark.parametrize(
        ("words", "code"),
        [
            ((), NightExit.INCONCLUSIVE),
            ((Status.AS_EXPECTED,), NightExit.AS_EXPECTED),
            ((Status.STILL_BAD, Status.AS_EXPECTED), NightExit.AS_EXPECTED),
            ((Status.FIXED, Status.NEW), NightExit.NEW_REGRESSION),
            ((Status.FIXED, Status.REGRESSED), NightExit.NEW_REGRESSION),
            ((Status.FLAKY, Status.FIXED), NightExit.RECOVERY),
            ((Status.AS_EXPECTED, Status.FLAKY), NightExit.INCONCLUSIVE),
            ((Status.AS_EXPECTED, Status.SUSPICIOUS), NightExit.INCONCLUSIVE),
            ((Status.AS_EXPECTED, Status.INFRASTRUCTURE), NightExit.INCONCLUSIVE),
            ((Status.AS_EXPECTED, Status.INSUFFICIENT), NightExit.AS_EXPECTED),
            ((Status.INSUFFICIENT, Status.INSUFFICIENT), NightExit.INCONCLUSIVE),
        ],
    )
    def test_a_regression_before_a_recovery_before_doubt(self, words, code):
        assert exit_code(good(0), self.judged(*words)) is code

    def test_one_case_of_which_nothing_is_known_makes_the_night_inconclusive(self):
        both = [*self.judged(Status.AS_EXPECTED), *self.judged(Status.INSUFFICIENT, case="other")]
        assert exit_code(good(0), both) is NightExit.INCONCLUSIVE

    def test_an_old_or_silent_index_makes_it_inconclusive(self):
        fine = self.judged(Status.AS_EXPECTED)
        assert exit_code(replace(good(0), stale_days=3), fine) is NightExit.AS_EXPECTED
        assert exit_code(replace(good(0), stale_days=4), fine) is NightExit.INCONCLUSIVE
        assert exit_code(broken(0), fine) is NightExit.INCONCLUSIVE

"""The verdict of a script, code by code."""

from __future__ import annotations

import signal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.case import Level
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import ExitCode, InfrastructureError
from harness.domain.trials.observation import EndingKind, Stage
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import bad, hidden
from tests.domain.verdicts.judging import BAD, GOOD, SCRIPT, SKIP, SYMPTOMS, ended, outcomes, reason, said
from tests.examples import case, observation, script


class TestScripts:
    """The contract of git bisect run: 0 good, 125 skip, 1 to 124, 126 and 127 bad, 128 and above abort."""

    def test_zero_is_good(self):
        assert outcomes(SCRIPT, script(0), None) == dict.fromkeys(
            [Symptom.EXCEPTION, Symptom.KILLED, Symptom.TIMEOUT], GOOD
        )

    def test_125_is_skip_in_the_script_s_own_word(self):
        found = judge(SCRIPT, script(125), None)
        assert {v.outcome for v in found.values()} == {SKIP}
        assert str(found[Symptom.EXCEPTION].reason) == "the script says: cannot be tested (exit code 125)"

    @pytest.mark.parametrize("code", [1, 2, 124, 126, 127])
    def test_every_other_code_below_128_is_bad_and_hides_the_rest(self, code):
        assert outcomes(SCRIPT, script(code), None) == {
            Symptom.EXCEPTION: BAD,
            Symptom.KILLED: SKIP,
            Symptom.TIMEOUT: SKIP,
        }
        assert reason(Symptom.EXCEPTION, SCRIPT, script(code), None) == f"exit code {code}"

    @pytest.mark.parametrize("code", [128, 139, 255])
    def test_128_and_above_stop_the_search(self, code):
        with pytest.raises(InfrastructureError) as caught:
            judge(SCRIPT, script(code), None)
        assert caught.value.what == (
            f"the script was ended by force (exit code {code}): the search is stopped, as git bisect does"
        )
        assert caught.value.where == SCRIPT.path
        assert caught.value.hint == (
            'if that is the symptom, say expects = "killed" in its metadata; else see the trial\'s log'
        )
        assert caught.value.exit_code is ExitCode.SURROUNDINGS

    @pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGKILL, signal.SIGTERM])
    def test_so_does_a_signal(self, number):
        seen = ended(EndingKind.SIGNALLED, Stage.SCRIPT, signal=number)
        with pytest.raises(InfrastructureError, match=f"killed by {number.name}"):
            judge(SCRIPT, seen, None)

    @pytest.mark.parametrize(
        "seen",
        [script(134), ended(EndingKind.SIGNALLED, Stage.SCRIPT, signal=signal.SIGKILL)],
        ids=["code", "signal"],
    )
    def test_unless_the_case_expects_to_be_killed(self, seen):
        found = outcomes(case(level=Level.SCRIPT, expects=Symptom.KILLED), seen, None)
        assert found == {Symptom.EXCEPTION: SKIP, Symptom.KILLED: BAD, Symptom.TIMEOUT: SKIP}

    def test_the_limit_of_memory_is_a_skip_unless_the_case_expects_to_be_killed(self):
        seen = ended(EndingKind.OUT_OF_MEMORY, Stage.SCRIPT)
        assert set(outcomes(SCRIPT, seen, None).values()) == {SKIP}
        expecting = case(level=Level.SCRIPT, expects=Symptom.KILLED)
        assert outcomes(expecting, seen, None)[Symptom.KILLED] is BAD
        found = judge(expecting, seen, None)[Symptom.KILLED]
        assert (str(found.reason), found.signature) == ("killed by the limit of memory", "killed | the limit of memory")

    def test_a_script_that_does_not_end_shows_a_timeout(self):
        seen = ended(EndingKind.TIMED_OUT, Stage.SCRIPT)
        assert outcomes(SCRIPT, seen, None) == {Symptom.EXCEPTION: SKIP, Symptom.KILLED: SKIP, Symptom.TIMEOUT: BAD}
        assert reason(Symptom.TIMEOUT, SCRIPT, seen, None) == "not finished after 120 s"

    def test_a_bad_exit_code_stands_for_the_symptom_that_the_case_expects(self):
        found = outcomes(case(level=Level.SCRIPT, expects=Symptom.NONFINITE_METRIC), script(1), None)
        assert found == {Symptom.KILLED: SKIP, Symptom.TIMEOUT: SKIP, Symptom.NONFINITE_METRIC: BAD}
        assert list(found) == [Symptom.KILLED, Symptom.TIMEOUT, Symptom.NONFINITE_METRIC]

    @pytest.mark.parametrize("expects", [Symptom.KILLED, Symptom.TIMEOUT])
    def test_but_leaving_with_a_code_is_neither_being_killed_nor_hanging(self, expects):
        found = outcomes(case(level=Level.SCRIPT, expects=expects), script(1), None)
        assert found == {Symptom.EXCEPTION: BAD, Symptom.KILLED: SKIP, Symptom.TIMEOUT: SKIP}

    def test_the_last_line_that_it_printed_is_kept(self):
        seen = script(1, output="start\nValueError: " + "x" * 500 + "\n")
        assert reason(Symptom.EXCEPTION, SCRIPT, seen, None) == "exit code 1: ValueError: " + "x" * 188

    @pytest.mark.parametrize(
        ("kind", "stage", "why"),
        [
            (EndingKind.RAISED, Stage.SCRIPT, "the script could not be run: raised: no message"),
            (EndingKind.RAISED, Stage.IMPORT, "failed before the case could start: raised: no message (while: import)"),
            (EndingKind.EXITED, Stage.SCRIPT, "the script could not be run: exited: no message"),
            (EndingKind.REFUSED, Stage.SCRIPT, "the trial could not be run here"),
        ],
    )
    def test_what_left_no_exit_code_is_skip(self, kind, stage, why):
        found = judge(SCRIPT, ended(kind, stage), None)
        assert {(v.outcome, str(v.reason)) for v in found.values()} == {(SKIP, why)}

    def test_a_script_that_finished_is_good(self):
        assert set(outcomes(SCRIPT, ended(EndingKind.FINISHED, Stage.SCRIPT), None).values()) == {GOOD}

    def test_each_failure_has_its_signature_and_what_it_hides_says_so(self):
        seen = script(3, output="step 7\nTraceback\nValueError: shape (2, 3)\n")
        why = "exit code 3: ValueError: shape (2, 3)"
        found = judge(SCRIPT, seen, None)
        assert list(found) == [Symptom.EXCEPTION, Symptom.KILLED, Symptom.TIMEOUT]
        assert said(found[Symptom.EXCEPTION]) == bad(recorded(why), "exception | exit code 3 | ValueError: shape (<n>)")
        assert (
            said(found[Symptom.KILLED])
            == said(found[Symptom.TIMEOUT])
            == said(hidden(Symptom.EXCEPTION, recorded(why)))
        )

    def test_a_blank_last_line_says_nothing(self):
        found = judge(SCRIPT, script(1, output=" \n \n"), None)
        assert said(found[Symptom.EXCEPTION]) == bad(recorded("exit code 1"), "exception | exit code 1")

    def test_a_script_that_was_killed_or_hung_says_how(self):
        about = case(level=Level.SCRIPT, expects=Symptom.KILLED, timeout_seconds=2.5)
        found = judge(about, ended(EndingKind.SIGNALLED, Stage.SCRIPT, signal=signal.SIGSEGV), None)
        assert said(found[Symptom.KILLED]) == bad(recorded("killed by SIGSEGV"), "killed | SIGSEGV")
        assert said(found[Symptom.TIMEOUT]) == said(hidden(Symptom.KILLED, recorded("killed by SIGSEGV")))
        assert said(judge(about, script(134), None)[Symptom.KILLED]) == bad(
            recorded("exit code 134"), "killed | exit code 134"
        )
        late = judge(about, ended(EndingKind.TIMED_OUT, Stage.SCRIPT), None)
        assert said(late[Symptom.TIMEOUT]) == bad(recorded("not finished after 2.5 s"), "timeout")
        assert said(late[Symptom.KILLED]) == said(hidden(Symptom.TIMEOUT, recorded("not finished after 2.5 s")))

    def test_127_is_the_last_code_that_a_script_chooses(self):
        about = case(level=Level.SCRIPT, expects=Symptom.KILLED)
        assert str(judge(about, script(127), None)[Symptom.EXCEPTION].reason) == "exit code 127"
        assert str(judge(about, script(128), None)[Symptom.KILLED].reason) == "exit code 128"

    @given(st.integers(0, 127), SYMPTOMS)
    def test_up_to_127_the_code_alone_decides(self, code, expects):
        """0 is good, 125 is skip, all others are bad, whatever the case expects."""
        found = set(outcomes(case(level=Level.SCRIPT, expects=expects), script(code), None).values())
        assert (BAD in found) == (code not in (0, 125))
        assert (found == {GOOD}) == (code == 0)


class TestImportErrors:
    ABOUT = case(level=Level.SCRIPT, expects=Symptom.IMPORT_ERROR)

    @pytest.mark.parametrize("line", ["ImportError: no name", "ModuleNotFoundError: No module named 'keras.old'"])
    def test_a_script_that_fails_to_import_shows_one_where_the_case_is_about_that(self, line):
        found = outcomes(self.ABOUT, script(1, output=f"Traceback (most recent call last):\n  x\n{line}"), None)
        assert found[Symptom.IMPORT_ERROR] is BAD
        assert found[Symptom.EXCEPTION] is SKIP

    def test_another_failure_is_an_exception(self):
        found = outcomes(self.ABOUT, script(1, output="ImportErrors: 3"), None)
        assert (found[Symptom.EXCEPTION], found[Symptom.IMPORT_ERROR]) == (BAD, SKIP)
        assert set(outcomes(self.ABOUT, script(0), None).values()) == {GOOD}

    def test_a_package_that_cannot_be_imported_is_bad_for_scripts_and_models_alike(self):
        seen = ended(EndingKind.RAISED, Stage.IMPORT, exception="ImportError", message="no libtoy.so")
        for about in (self.ABOUT, case(expects=Symptom.IMPORT_ERROR)):
            found = judge(about, seen, None)
            assert {s for s, v in found.items() if v.outcome is BAD} == {Symptom.IMPORT_ERROR}
            assert found[Symptom.EXCEPTION].hidden
            assert str(found[Symptom.IMPORT_ERROR].reason) == "ImportError: no libtoy.so"
            assert found[Symptom.IMPORT_ERROR].signature == "import-error | ImportError | no libtoy.so"

    def test_it_is_skip_for_every_other_case(self):
        seen = ended(EndingKind.RAISED, Stage.IMPORT, exception="ImportError", message="no libtoy.so")
        assert set(outcomes(SCRIPT, seen, None).values()) == {SKIP}
        assert set(outcomes(case(), seen, None).values()) == {SKIP}

    def test_a_model_that_can_be_imported_is_good_in_that(self):
        assert outcomes(case(expects=Symptom.IMPORT_ERROR), observation())[Symptom.IMPORT_ERROR] is GOOD

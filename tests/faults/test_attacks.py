"""Two dozens of the random attacks, drawn from a fixed seed, and the judge that all of them rely upon."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.faults.attack_judge import Fault, Result, Truth, expected_code, manners, result_of, stop_faults, transitions
from tests.faults.attack_kinds import KINDS
from tests.faults.attack_world import Ran
from tests.faults.attacks import GOOD, drawn
from tests.test_architecture import ROOT

COUNT = len(KINDS)
TRUTH = Truth(verdicts={"1.0": "good", "1.1": "skip", "1.2": "bad"}, excused=["1.0"])
TRANSITION = {"kind": "regression", "last_before": "1.0", "first_after": "1.2"}


def test_no_attack_changes_a_verdict_loses_a_trial_or_leaves_a_process(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.faults.attacks", "--count", str(COUNT), "--seed", "20568", "--cold"]
    ended = subprocess.run(
        [*command, "--output", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False, timeout=600
    )
    assert (tmp_path / "attacks.json").exists(), ended.stderr
    attacks = json.loads((tmp_path / "attacks.json").read_text())["attacks"]
    assert Counter(one["kind"] for one in attacks) == dict.fromkeys(KINDS, COUNT // len(KINDS))
    assert [one for one in attacks if one["result"] not in [good.value for good in GOOD]] == []
    assert ended.returncode == 0, ended.stderr


def test_attacks_are_drawn_from_kind_and_number_alone() -> None:
    assert drawn(["a", "b"], 5) == [("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2)]


def ran(code: int = 0, err: str = "", *, late: bool = False, left: tuple[str, ...] = (), **verdicts: str | None) -> Ran:
    """An answer with these verdicts, `v1_0="good"`."""
    told = {"1.0": "good", "1.1": "skip", "1.2": "bad", **{k[1:].replace("_", "."): v for k, v in verdicts.items()}}
    known = {version: verdict for version, verdict in told.items() if verdict}
    report = {
        "releases": [
            {"version": version, "verdict": verdict, "reason": "because"} for version, verdict in told.items()
        ],
        "transitions": [
            {"kind": kind, "last_before": before, "first_after": after} for kind, before, after in transitions(known)
        ],
        "conclusion": {"not_run": [version for version, verdict in told.items() if verdict is None]},
    }
    return Ran(code=code, out=json.dumps(report), err=err, late=late, left=left)


class TestTruth:
    def test_the_true_answer(self) -> None:
        assert TRUTH.faults(ran(), partial=False) == []

    @pytest.mark.parametrize(
        "wrong",
        [ran(v1_2="good", code=3), ran(v1_2="skip", code=3), ran(v1_1="good"), ran(v1_0="bad", code=4), ran(v1_2=None)],
    )
    def test_another_verdict(self, wrong: Ran) -> None:
        assert [one.result for one in TRUTH.faults(wrong, partial=False)] == [Result.WRONG]

    def test_a_skip_that_the_disturbance_explains(self) -> None:
        assert TRUTH.faults(ran(v1_0="skip", code=4), partial=False) == []

    def test_what_was_left_out_of_a_partial_answer(self) -> None:
        assert TRUTH.faults(ran(v1_2=None, code=3), partial=True) == []
        assert TRUTH.faults(ran(v1_2="good", code=3), partial=True) != []

    def test_transitions_that_are_not_those_of_the_verdicts(self) -> None:
        answer = ran()
        report = {**json.loads(answer.out), "transitions": [{**TRANSITION, "last_before": "1.1"}]}
        changed = Ran(code=0, out=json.dumps(report), err="", late=False, left=())
        assert "transitions" in TRUTH.faults(changed, partial=False)[0].detail

    def test_another_exit_code(self) -> None:
        assert TRUTH.faults(ran(code=4), partial=False) != []

    def test_no_report(self) -> None:
        assert TRUTH.faults(Ran(code=0, out="", err="", late=False, left=()), partial=False) != []


@pytest.mark.parametrize(
    ("verdicts", "code"), [(["good", "bad"], 0), (["good", "skip"], 3), (["bad"], 4), (["skip", None], 5)]
)
def test_expected_codes(verdicts: list[str | None], code: int) -> None:
    assert expected_code({str(n): verdict for n, verdict in enumerate(verdicts)}) == code


def test_all_changes_between_neighbours_that_were_run() -> None:
    told = transitions({"1": "good", "2": None, "3": "bad", "4": "skip", "5": "good", "6": "good"})
    assert told == [("regression", "1", "3"), ("recovery", "3", "5")]


def test_manners() -> None:
    assert manners(ran()) == []
    assert [one.result for one in manners(ran(err="Traceback (most recent call last)"))] == [Result.TRACEBACK]
    assert [one.result for one in manners(ran(left=("sleep",), late=True))] == [Result.LEFT, Result.LATE]


def test_stops() -> None:
    assert stop_faults(ran(code=-9), journal=True, allowed={6}) == []
    assert stop_faults(ran(code=6, err="harness bisect --resume run"), journal=True, allowed={6}) == []
    assert stop_faults(ran(code=6), journal=False, allowed={6}) == []
    assert "no resume line" in stop_faults(ran(code=6), journal=True, allowed={6})[0].detail
    assert "exit 1" in stop_faults(ran(code=1), journal=True, allowed={6})[0].detail


def test_the_worst_counts() -> None:
    lost, wrong = (Fault(result=result, detail="") for result in (Result.LOST, Result.WRONG))
    assert result_of([lost, wrong], stopped=True) is Result.WRONG
    assert result_of([lost], stopped=False) is Result.LOST
    assert result_of([], stopped=True) is Result.RESUMED
    assert result_of([], stopped=False) is Result.RIGHT

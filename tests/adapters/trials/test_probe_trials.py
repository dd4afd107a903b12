"""Finished trials are kept, and found again by what identifies them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.adapters.trials.probe_trials import ProbeTrials
from tests.adapters.toy_environment import BASE, ToyEnvironment


def test_a_finished_trial_is_kept_and_not_run_again(toys: ToyEnvironment, tmp_path: Path) -> None:
    case = toys.case(f"open({str(tmp_path / 'runs')!r}, 'a').write('x')")
    first, second = toys.run(case)[0], toys.run(case)[0]
    assert (first.cached, second.cached) == (False, True)
    assert second.observation == first.observation
    toys.run(case, fresh=True)
    assert (tmp_path / "runs").read_text() == "xx"


def test_what_says_nothing_of_the_release_is_not_kept(toys: ToyEnvironment, tmp_path: Path) -> None:
    text = f"open({str(tmp_path / 'runs')!r}, 'a').write('x')\nimport os; os.kill(os.getpid(), 9)"
    case = toys.case(text)
    toys.run(case)
    toys.run(case)
    assert (tmp_path / "runs").read_text() == "xx"


@pytest.mark.parametrize(
    "changes", [{"seed": 1}, {"timeout_seconds": 59.0}, {"fit": {"epochs": 2}}, {"package": "toynumpy"}]
)
def test_another_question_is_another_trial(toys: ToyEnvironment, changes: dict[str, object]) -> None:
    trials = ProbeTrials(toys.processes, toys.home)
    cases = toys.case("pass"), toys.case("pass", **changes)
    assert len({trials._key(toys.environment, case, BASE) for case in cases}) == 2


@pytest.mark.parametrize("damage", [b"", b"{", b"null", b'{"ending": {}}', b"\xff"])
def test_a_damaged_cache_counts_as_absent(toys: ToyEnvironment, damage: bytes) -> None:
    case = toys.case("pass")
    toys.run(case)
    (kept,) = (toys.home.root / "trials").rglob("*.json")
    kept.write_bytes(damage)
    assert toys.run(case)[0].cached is False


def test_several_trials_share_one_process_tree_and_come_in_order(toys: ToyEnvironment) -> None:
    trials = [replace(BASE, repeat=n) for n in range(3)]
    finished = toys.run(toys.case("import os; print(os.getppid())"), *trials)
    assert [one.trial.repeat for one in finished] == [0, 1, 2]
    assert len({one.observation.output for one in finished}) == 1, "one parent"


def test_a_trial_leaves_nothing_in_the_home_but_its_result(toys: ToyEnvironment) -> None:
    toys.see("import os; open(os.path.expanduser('~/x'), 'w'); open(os.environ['TMPDIR'] + '/y', 'w'); open('z', 'w')")
    assert list((toys.home.root / "scratch").iterdir()) == []

"""Finished trials are kept, and found again by what identifies them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.adapters.trials.probe_trials import ProbeTrials, refused_change
from harness.domain.cases.case import Claim, Level, Tolerance, Workaround
from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.observation import Ending, EndingKind, Observation, Stage
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
    "changes",
    [
        {"seed": 1},
        {"timeout_seconds": 59.0},
        {"fit": {"epochs": 2}},
        {"package": "toynumpy"},
        {"level": Level.MODEL},
        {"companions": ("tensorflow",)},
    ],
)
def test_another_question_is_another_trial(toys: ToyEnvironment, changes: dict[str, object]) -> None:
    trials = ProbeTrials(toys.processes, toys.home)
    cases = toys.case("pass"), toys.case("pass", **changes)
    assert len({trials._key(toys.environment, case, BASE) for case in cases}) == 2


METADATA = "# /// script\n# [tool.harness]\n# title = 'a'\n# ///\n"


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "other"},
        {"origin": ("https://example.org/1",)},
        {"claims": (Claim(says="s", predicts="good"),)},
        {"workarounds": (Workaround(name="w", title="t"),)},
        {"tolerance": Tolerance(metric=0.5)},
        {"expects": Symptom.EXCEPTION},
        {"repeats": 3},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_is_said_about_a_result_runs_nothing_again(toys: ToyEnvironment, changes: dict[str, object]) -> None:
    toys.run(toys.case("pass"))
    assert toys.run(toys.case("pass", **changes))[0].cached


def test_other_metadata_in_the_file_runs_nothing_again(toys: ToyEnvironment) -> None:
    toys.run(toys.case(METADATA + "pass"))
    assert toys.run(toys.case(METADATA.replace("'a'", "'b'\n# # a comment") + "pass"))[0].cached
    assert not toys.run(toys.case(METADATA + "pass  # other code"))[0].cached


def test_a_diagnosis_names_lines_so_metadata_of_another_length_is_another_trial(toys: ToyEnvironment) -> None:
    watched = replace(BASE, variant=replace(BASE.variant, watched=True))
    cases = toys.case(METADATA + "pass"), toys.case(METADATA.replace("# title", "#\n# title") + "pass")
    trials = ProbeTrials(toys.processes, toys.home)
    assert len({trials._key(toys.environment, case, watched) for case in cases}) == 2
    assert len({trials._key(toys.environment, case, BASE) for case in cases}) == 1


def test_a_timeout_is_kept_only_for_a_case_that_expects_it(toys: ToyEnvironment) -> None:
    case = toys.case("import time; time.sleep(60)", timeout_seconds=0.5, expects=Symptom.TIMEOUT)
    toys.run(case)
    assert toys.run(case)[0].cached
    assert not toys.run(replace(case, expects=None))[0].cached


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


def test_no_flipped_bit_of_a_kept_trial_is_believed(toys: ToyEnvironment) -> None:
    """All of them: a good trial must never become a bad one."""
    case = toys.case("raise SystemExit(1)")
    toys.run(case)
    (kept,) = (toys.home.root / "trials").rglob("*.json")
    trials = ProbeTrials(toys.processes, toys.home)
    first = trials._cached(toys.environment, case, BASE)
    assert first is not None
    whole = kept.read_bytes()
    for place in range(len(whole) * 8):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        kept.write_bytes(flipped)
        assert trials._cached(toys.environment, case, BASE) is None, (place, bytes(flipped))


def test_neither_a_file_without_checksum_nor_one_of_another_trial_is_believed(toys: ToyEnvironment) -> None:
    """The first version wrote none, and kept what ran in changed environments."""
    case, other = toys.case("pass"), toys.case("raise SystemExit(1)")
    toys.run(other)
    (bad,) = (toys.home.root / "trials").rglob("*.json")
    trials = ProbeTrials(toys.processes, toys.home)
    trials._file(toys.environment, case, BASE).write_text(bad.read_text())
    assert trials._cached(toys.environment, case, BASE) is None
    bad.write_text(bad.read_text().partition("\n")[2])
    assert trials._cached(toys.environment, other, BASE) is None


@pytest.mark.parametrize(
    ("kind", "output", "found"),
    [
        (EndingKind.EXITED, "PermissionError: [Errno 13] Permission denied: '/e/k/a.py'", "/e/k/a.py"),
        (EndingKind.EXITED, "OSError: [Errno 30] Read-only file system: '/e/k/a.py'", "/e/k/a.py"),
        (EndingKind.EXITED, "PermissionError: [Errno 13] Permission denied: '/root/a.py'", ""),
        (EndingKind.EXITED, "ValueError: /e/k/a.py", ""),
        (EndingKind.FINISHED, "PermissionError: [Errno 13] Permission denied: '/e/k/a.py'", ""),
    ],
)
def test_a_change_that_read_only_files_refused_is_named(kind: EndingKind, output: str, found: str) -> None:
    seen = Observation(ending=Ending(kind=kind, stage=Stage.SCRIPT, exit_code=1), output=output)
    assert refused_change(seen, [Path("/e")]) == found

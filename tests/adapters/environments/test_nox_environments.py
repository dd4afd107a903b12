"""Environments built for real with nox and uv from the local index."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
import tenacity

from harness.adapters.environments import layers as module
from harness.adapters.environments import sealing
from harness.adapters.environments.companions import wanted
from harness.adapters.environments.interpreters import Interpreters
from harness.adapters.environments.nox_environments import NoxEnvironments
from harness.adapters.environments.planning import Planner
from harness.adapters.environments.resolver import Resolver, uv_program
from harness.adapters.index.package_index import PackageIndex
from harness.adapters.processes.process import Processes
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError, Interrupted, Untestable
from harness.domain.releases.companions import Companions, Mode
from harness.domain.releases.release import Release
from harness.domain.trials.trial import Environment
from harness.jobs.events import Event
from tests.adapters.samples import timeline
from tests.local_index import LocalIndex, breaks_off, fails_with, sends_file, times

FIRST = "/files/toykeras-1.0-py3-none-any.whl"


class Notes:
    def __init__(self) -> None:
        self.notes: list[str] = []

    def notify(self, event: Event) -> None:
        self.notes.append(event.detail)


class Yard:
    """What is needed to build."""

    def __init__(self, home: Home, processes: Processes) -> None:
        uv = uv_program()
        self.home, self.processes, self.notes = home, processes, Notes()
        self.planner = Planner(Resolver(processes, home, uv), Interpreters(processes, home, uv), home)
        line = timeline("1.0", "1.1")
        self.plan: Companions = self.planner.plan(line, wanted("toykeras", ["toynumpy<2"], [], []), Mode.FIXED)

    def environments(self) -> NoxEnvironments:
        return NoxEnvironments(self.processes, self.home, self.planner, self.plan, self.notes)

    def prepare(self, version: str) -> Environment:
        return self.environments().prepare(self.release(version))

    def release(self, version: str) -> Release:
        return next(r for r in PackageIndex(self.home).page("toykeras").releases if r.version == version)

    def layers(self) -> list[Path]:
        return sorted((self.home.root / "environments").iterdir())


@pytest.fixture
def yard(home: Home, processes: Processes, index: LocalIndex, monkeypatch: pytest.MonkeyPatch) -> Yard:
    monkeypatch.setattr(tenacity, "sleep_using_event", lambda event: lambda seconds: None)
    return Yard(home, processes)


def said(environment: Environment, code: str) -> str:
    done = subprocess.run([environment.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_an_environment_has_its_release_and_the_companions_of_the_base(yard: Yard) -> None:
    built = yard.prepare("1.0")
    code = "import toykeras, toynumpy; print(toykeras.__version__, toynumpy.__version__)"
    assert said(built, code) == "1.0 1.0"
    assert not built.reused
    assert [line.split(" ")[0] for line in built.lock] == ["toykeras==1.0"]
    assert set(built.seconds) == {"resolve", "build"}
    assert len(yard.layers()) == 2, "a base of companions, and one thin layer"


def test_it_is_built_once_and_another_release_shares_the_base(yard: Yard) -> None:
    first = yard.prepare("1.0")
    again = yard.prepare("1.0")
    assert again.reused
    assert again.key == first.key
    other = yard.prepare("1.1")
    assert other.key != first.key
    assert len(yard.layers()) == 3


def test_a_layer_whose_base_was_built_anew_is_built_anew_too(yard: Yard) -> None:
    yard.prepare("1.0")
    for layer in yard.layers():
        seal = layer / "sealed.json"
        if '"base": ""' in seal.read_text(encoding="utf-8"):
            seal.unlink()  # as after an edit in place: only the base is not what it was
    assert said(yard.prepare("1.0"), "import toykeras, toynumpy; print('both')") == "both"


def test_byte_code_is_compiled_at_once(yard: Yard) -> None:
    site = Path(said(yard.prepare("1.0"), "import toykeras; print(toykeras.__file__)")).parent
    assert list(site.glob("__pycache__/*.pyc"))


@pytest.mark.parametrize("version", ["1.2", "1.5", "1.8"])
def test_a_release_that_cannot_be_installed_says_why(yard: Yard, version: str) -> None:
    reasons = {"1.2": "requires Python >=3.99", "1.5": "planted: the compiler is missing", "1.8": "toynumpy>=2"}
    with pytest.raises(Untestable) as refused:
        yard.prepare(version)
    assert reasons[version] in refused.value.what
    assert "nox" not in refused.value.what


def test_a_fault_that_passes_is_tried_again_and_told(yard: Yard, index: LocalIndex) -> None:
    yard.planner.lock_for(yard.plan, yard.release("1.0"))
    index.faults[FIRST] = times(2, breaks_off, sends_file)
    assert not yard.prepare("1.0").reused
    assert any("attempt" in note for note in yard.notes.notes)


def test_a_fault_that_stays_is_the_surroundings_and_nothing_is_sealed(yard: Yard, index: LocalIndex) -> None:
    index.faults[FIRST] = fails_with(503)
    with pytest.raises(InfrastructureError):
        yard.prepare("1.0")
    assert not [path for path in yard.layers() if (path / module.SEAL).exists() and "toykeras" in _lock(path)]
    index.faults.clear()
    assert not yard.prepare("1.0").reused


def _lock(folder: Path) -> str:
    return next(iter(folder.glob("*/lock.txt"))).read_text()


def test_what_is_left_of_a_killed_build_is_swept_away(yard: Yard) -> None:
    key = yard.prepare("1.0").key
    folder = yard.home.root / "environments" / key
    (folder / module.SEAL).unlink()
    (folder / "half-built").mkdir()
    (folder / "half-built" / "recipe.json").write_text("{")
    assert not yard.prepare("1.0").reused
    assert not (folder / "half-built").exists()


@pytest.mark.parametrize("seal", ["", "{", "null", '{"key": 1}', "[" * 100_000])
def test_a_damaged_seal_is_none(yard: Yard, seal: str) -> None:
    key = yard.prepare("1.0").key
    (yard.home.root / "environments" / key / module.SEAL).write_text(seal)
    assert not yard.prepare("1.0").reused


def test_an_edit_in_place_does_not_come_back_from_the_cache(yard: Yard) -> None:
    first = yard.prepare("1.0")
    place = Path(said(first, "import toykeras; print(toykeras.__file__)"))
    with place.open("a") as edited:
        edited.write("def check(): return 1\n")
    again = yard.prepare("1.0")
    assert not again.reused
    assert said(again, "import toykeras; print(toykeras.check())") == "0"
    assert any("edited files of toykeras" in note for note in yard.notes.notes)
    assert sealing.altered(Path(said(again, "import toykeras; print(toykeras.__file__)")).parents[1]) == []


def test_recipes_and_logs_hold_no_address_of_the_index(yard: Yard, index: LocalIndex) -> None:
    yard.prepare("1.0")
    with pytest.raises(Untestable):
        yard.prepare("1.5")
    for path in (yard.home.root / "environments").rglob("*"):
        if path.is_file() and path.suffix in (".log", ".json"):
            assert str(index.port) not in path.read_text(), path


def test_a_harness_that_is_being_ended_neither_builds_nor_waits(yard: Yard) -> None:
    yard.processes.end_all()
    with pytest.raises(Interrupted):
        yard.prepare("1.0")


def test_an_interpreter_that_is_gone_is_said(yard: Yard, tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.symlink_to(yard.plan.interpreter.path)
    object.__setattr__(yard.plan, "interpreter", type(yard.plan.interpreter)(version="3.11.7", path=str(python)))
    environments = yard.environments()
    lock = yard.planner.lock_for(yard.plan, yard.release("1.0"))
    python.unlink()
    with pytest.raises(InfrastructureError, match="interpreter is gone"):
        environments._layer(lock, None, lambda _: None)


def test_a_recorded_environment_is_restored_from_its_lock(yard: Yard, index: LocalIndex) -> None:
    recorded = yard.prepare("1.0")
    assert yard.environments().restore(recorded).key == recorded.key


def test_the_session_file_takes_any_recipe_by_hand(yard: Yard, tmp_path: Path) -> None:
    """Without HARNESS_PARENT there is nobody to end with."""
    (tmp_path / "lock.txt").write_text("toykeras==1.1\n")
    recipe = {
        "key": "mine", "python": yard.plan.interpreter.path, "requirements": str(tmp_path / "lock.txt"), "flags": [],
        "base": "", "answer": str(tmp_path / "answer.json"),
    }  # fmt: skip
    (tmp_path / "recipe.json").write_text(json.dumps(recipe))
    env = {**os.environ, "HARNESS_RECIPE": str(tmp_path / "recipe.json")}
    command = ["nox", "-f", str(module.SESSION_FILE), "--envdir", str(tmp_path / "nox"), "-s", "repro(mine)"]
    done = subprocess.run(command, env=env, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    built = json.loads((tmp_path / "answer.json").read_text())
    assert subprocess.run([built["executable"], "-c", "import toykeras"], check=False).returncode == 0

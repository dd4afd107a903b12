"""One layer: built and sealed for real, found again while it is as it was, and never otherwise."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

import pytest
import tenacity

from harness.adapters.environments import sealing
from harness.adapters.environments.interpreters import base_executable
from harness.adapters.environments.layers import SEAL, Installer, Layer, layer_key, sealed
from harness.adapters.index.listings import Listings
from harness.adapters.processes.process import Processes
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError, Untestable
from tests.local_index import LOGIN, LocalIndex, answers, says
from tests.toys import Toy

BASE = "/cache/environments/base/lib/python3.11/site-packages"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A layer as the first version sealed it."""
    site = tmp_path / "layer/lib/python3.11/site-packages"
    (site / "toykeras").mkdir(parents=True)
    (site / "toykeras/__init__.py").write_text("__version__ = '1.0'\n")
    python = tmp_path / "layer/bin/python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    seal = {
        "key": "0ccb7da810659b9f0c46",
        "executable": str(python),
        "site": str(site),
        "fingerprint": sealing.fingerprint(site),
        "base": BASE,
    }
    (tmp_path / "layer" / SEAL).write_text(json.dumps(seal))
    return tmp_path / "layer"


def change(folder: Path, **values: object) -> None:
    seal = json.loads((folder / SEAL).read_text())
    (folder / SEAL).write_text(json.dumps({**seal, **values}))


def test_a_layer_of_the_first_version_is_used(folder: Path) -> None:
    layer = sealed(folder, BASE)
    assert layer is not None
    assert layer.key == "0ccb7da810659b9f0c46"
    assert layer.executable == str(folder / "bin/python")


@pytest.mark.parametrize("text", ["", "{", "null", "{}", '{"key": 1}', "[" * 100_000])
def test_a_seal_that_cannot_be_read_is_none(folder: Path, text: str) -> None:
    (folder / SEAL).write_text(text)
    assert sealed(folder, BASE) is None


@pytest.mark.parametrize("name", ["key", "executable", "site", "fingerprint"])
def test_a_seal_that_lacks_something_is_none(folder: Path, name: str) -> None:
    seal = json.loads((folder / SEAL).read_text())
    del seal[name]
    (folder / SEAL).write_text(json.dumps(seal))
    assert sealed(folder, BASE) is None


def test_an_edit_breaks_the_seal(folder: Path) -> None:
    (folder / "lib/python3.11/site-packages/toykeras/more.py").write_text("x = 1\n")
    assert sealed(folder, BASE) is None


def test_so_does_an_interpreter_that_is_gone(folder: Path) -> None:
    (folder / "bin/python").unlink()
    assert sealed(folder, BASE) is None


@pytest.mark.parametrize("base", ["", BASE + "/elsewhere"])
def test_so_does_another_base(folder: Path, base: str) -> None:
    assert sealed(folder, base) is None


def test_a_folder_without_a_seal_is_none(folder: Path) -> None:
    (folder / SEAL).unlink()
    assert sealed(folder, BASE) is None


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    made = tmp_path / "new-layer"
    made.mkdir()
    return made


def test_what_is_built_is_sealed_and_found_again(
    empty: Path, home: Home, processes: Processes, index: LocalIndex
) -> None:
    python = base_executable()
    notes: list[str] = []
    layer = Installer(processes, python, home).build("mine", empty, ["toykeras==1.1"], None, notes.append)
    assert (Path(layer.site) / "toykeras").is_dir()
    assert (
        sealed(empty, "")
        == layer
        == Layer(
            key="mine", executable=layer.executable, site=layer.site, fingerprint=sealing.fingerprint(Path(layer.site))
        )
    )
    assert notes == []


def test_what_cannot_be_built_is_not_sealed(empty: Path, home: Home, processes: Processes, index: LocalIndex) -> None:
    with pytest.raises(Untestable, match=r"cannot be installed: .*the compiler is missing"):
        Installer(processes, base_executable(), home).build("mine", empty, ["toykeras==1.5"], None, lambda _: None)
    assert sealed(empty, "") is None


def test_the_key_names_everything_that_matters() -> None:
    keys = {
        layer_key(["a==1", "b==1"], "", "/x/python"),
        layer_key(["a==1", "b==2"], "", "/x/python"),
        layer_key(["a==1", "b==1"], "base", "/x/python"),
        layer_key(["a==1", "b==1"], "", "/y/python"),
    }
    assert len(keys) == 4
    assert layer_key(["b==1", "a==1"], "", "/x/python") in keys, "the order of a lock does not matter"


FAULTS = {
    "401": answers(401),
    "403": answers(403),
    "404": answers(404),
    "410": answers(410),
    "204": answers(204),
    "redirect": answers(302),
    "login page": says("text/html", LOGIN),
    "nothing": says("text/html", b""),
    "foreign bytes": says("application/octet-stream", b"\0" * 5000),
}


@pytest.mark.parametrize("how", FAULTS)
@pytest.mark.parametrize("place", ["/simple/toykeras/", "/files/toykeras-1.1-py3-none-any.whl"])
def test_an_index_that_fails_while_installing_is_no_fault_of_the_release(
    empty: Path,
    home: Home,
    processes: Processes,
    index: LocalIndex,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    how: str,
) -> None:
    """The lock says that it is there: whatever the index says now, it is asked again and then believed or blamed."""
    monkeypatch.setattr(tenacity, "sleep_using_event", lambda event: lambda seconds: None)
    Listings(home).remember(["toykeras"])
    index.faults[place] = FAULTS[how]
    installer = Installer(processes, base_executable(), home)
    with pytest.raises(InfrastructureError) as failure:
        installer.build("mine", empty, [lock_of(index, "1.1")], None, lambda _: None)
    assert "toykeras" in str(failure.value)
    assert "index" in failure.value.what
    index.faults.clear()
    assert installer.build("mine", empty, [lock_of(index, "1.1")], None, lambda _: None).key == "mine"


def lock_of(index: LocalIndex, version: str) -> str:
    digest = hashlib.sha256((index.folder / f"toykeras-{version}-py3-none-any.whl").read_bytes()).hexdigest()
    return f"toykeras=={version} --hash=sha256:{digest}"


@pytest.mark.parametrize(("on_a_base", "expected"), [(True, Untestable), (False, InfrastructureError)])
def test_what_is_listed_no_more(
    empty: Path,
    tmp_path: Path,
    home: Home,
    processes: Processes,
    index: LocalIndex,
    on_a_base: bool,
    expected: type[Exception],
) -> None:
    """The release under test is untestable then; a companion that is gone says nothing of the release."""
    lock = lock_of(index, "1.1")
    installer = Installer(processes, base_executable(), home)
    (tmp_path / "base").mkdir()
    base = installer.build("base", tmp_path / "base", ["toynumpy==1.0"], None, lambda _: None) if on_a_base else None
    index.withdraw("toykeras", "1.1")
    with pytest.raises(expected, match=r"the index lists no toykeras=+1\.1") as failure:
        installer.build("mine", empty, [lock], base, lambda _: None)
    assert type(failure.value) is expected


def test_the_version_is_taken_exactly(empty: Path, home: Home, processes: Processes, index: LocalIndex) -> None:
    """``==1.1`` would take 1.1+cu12, whose hash is another one."""
    index.publish([Toy(version="1.1+cu12")])
    layer = Installer(processes, base_executable(), home).build(
        "mine", empty, [lock_of(index, "1.1")], None, lambda _: None
    )
    assert [path.name for path in Path(layer.site).glob("toykeras-*.dist-info")] == ["toykeras-1.1.dist-info"]

"""One layer: built and sealed for real, found again while it is as it was, and never otherwise."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
import tenacity

from harness.adapters.environments import sealing
from harness.adapters.environments.interpreters import base_executable
from harness.adapters.environments.layers import (
    SEAL,
    Built,
    Installer,
    Layer,
    layer_key,
    read_seal,
    required,
    sealed,
    standing,
)
from harness.adapters.index.listings import Listings
from harness.adapters.processes.process import Ended, Processes
from harness.adapters.processes.redaction import remember
from harness.adapters.storage.checksums import read_checked, write_checked
from harness.adapters.storage.home import Home
from harness.domain.errors import EnvironmentChanged, InfrastructureError, Untestable
from harness.domain.trials.trial import Environment
from tests.local_index import LOGIN, REFUSALS, LocalIndex, respond, times
from tests.toys import Toy

BASE = "/cache/environments/base/lib/python3.11/site-packages"


KEY = "0ccb7da810659b9f0c46"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A sealed layer."""
    root = tmp_path / KEY / "built/repro"
    site = root / "lib/python3.11/site-packages"
    (site / "toykeras").mkdir(parents=True)
    (site / "toykeras/__init__.py").write_text("__version__ = '1.0'\n")
    python = root / "bin/python"
    python.parent.mkdir()
    python.symlink_to(sys.executable)
    state = sealing.state(root)
    seal = {
        "key": KEY,
        "executable": str(python),
        "site": str(site),
        "root": str(root),
        "fingerprint": state.fingerprint,
        "newest_ns": state.newest_ns,
        "files": state.files,
        "contents": sealing.contents(root),
        "base": BASE,
        "base_key": "",
    }
    put(tmp_path / KEY, seal)
    return tmp_path / KEY


def seal_of(folder: Path) -> dict[str, object]:
    found: dict[str, object] = json.loads(read_checked(folder / SEAL, folder.name))
    return found


def put(folder: Path, seal: Mapping[str, object]) -> None:
    write_checked(folder / SEAL, json.dumps(seal), folder.name)


def change(folder: Path, **values: object) -> None:
    put(folder, {**seal_of(folder), **values})


def test_a_sealed_layer_is_used(folder: Path) -> None:
    layer = sealed(folder, BASE)
    assert layer is not None
    assert layer.key == KEY
    assert layer.executable == str(folder / "built/repro/bin/python")


@pytest.mark.parametrize("text", ["", "{", "null", "{}", '{"key": 1}', "[" * 100_000])
def test_a_seal_that_cannot_be_read_is_none(folder: Path, text: str) -> None:
    (folder / SEAL).write_text(text)
    assert sealed(folder, BASE) is None


@pytest.mark.parametrize("name", ["key", "executable", "site", "root", "fingerprint", "contents"])
def test_a_seal_that_lacks_something_is_none(folder: Path, name: str) -> None:
    seal = seal_of(folder)
    del seal[name]
    put(folder, seal)
    assert sealed(folder, BASE) is None


def test_so_is_one_in_which_a_bit_turned_over(folder: Path) -> None:
    """It would name another folder of companions, and every release would lack them."""
    content = (folder / SEAL).read_bytes()
    for place in range(0, len(content), 7):
        (folder / SEAL).write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert read_seal(folder) is None


def test_an_edit_breaks_the_seal(folder: Path) -> None:
    (folder / "built/repro/lib/python3.11/site-packages/toykeras/more.py").write_text("x = 1\n")
    assert sealed(folder, BASE) is None


def test_so_does_an_interpreter_that_is_gone(folder: Path) -> None:
    (folder / "built/repro/bin/python").unlink()
    assert sealed(folder, BASE) is None


@pytest.mark.parametrize("base", ["", BASE + "/elsewhere"])
def test_so_does_another_base(folder: Path, base: str) -> None:
    assert sealed(folder, base) is None


def test_a_seal_of_another_layer_is_none(folder: Path, tmp_path: Path) -> None:
    """As when two are exchanged: each is whole, and stands for other packages."""
    other = tmp_path / "another-key"
    folder.rename(other)
    assert sealed(other, BASE) is None
    seal = json.loads(read_checked(other / SEAL, KEY))
    put(other, {**seal, "key": "another-key"})
    assert sealed(other, BASE) is None, "its files lie in the folder of the first"


def test_a_seal_without_contents_is_none(folder: Path) -> None:
    """The first version looked at size and date alone."""
    seal = seal_of(folder)
    old = {name: seal[name] for name in ("key", "executable", "site", "fingerprint", "base")}
    put(folder, old)
    assert sealed(folder, BASE) is None


def test_a_layer_that_was_only_touched_is_sealed_anew(folder: Path) -> None:
    file = folder / "built/repro/lib/python3.11/site-packages/toykeras/__init__.py"
    file.chmod(0o640)
    file.chmod(0o644)
    before = read_seal(folder)
    renewed = sealed(folder, BASE)
    assert before is not None
    assert renewed is not None
    assert renewed.contents == before.contents
    assert renewed.fingerprint != before.fingerprint
    assert read_seal(folder) == renewed


def environment_of(folder: Path) -> Environment:
    return Environment(key=KEY, executable=str(folder / "built/repro/bin/python"), python="3.11.7", lock=())


@pytest.fixture
def home_of(folder: Path, tmp_path: Path) -> Home:
    """A home with the layer in it."""
    (tmp_path / "home").mkdir()
    (tmp_path / "home/environments").symlink_to(tmp_path)
    return Home(tmp_path / "home")


def test_what_was_changed_while_it_was_used_is_named_and_loses_its_seal(folder: Path, home_of: Home) -> None:
    used = standing(home_of, environment_of(folder))
    assert used is not None
    assert used.changed() == []
    (folder / "built/repro/lib/python3.11/site-packages/toykeras/__init__.py").write_text("edited")
    (folder / "built/repro/more").write_text("")
    assert used.changed() == ["toykeras/__init__.py", "more"] or used.changed() == ["more", "toykeras/__init__.py"]
    assert not (folder / SEAL).exists()
    with pytest.raises(EnvironmentChanged, match="before the trial began"):
        standing(home_of, environment_of(folder))


def test_a_removed_file_is_a_change_too(folder: Path, home_of: Home) -> None:
    used = standing(home_of, environment_of(folder))
    assert used is not None
    (folder / "built/repro/lib/python3.11/site-packages/toykeras/__init__.py").unlink()
    assert used.changed() == ["a file was removed"]


def test_a_link_from_another_environment_is_no_change(folder: Path, home_of: Home, tmp_path: Path) -> None:
    used = standing(home_of, environment_of(folder))
    assert used is not None
    (tmp_path / "cache").hardlink_to(folder / "built/repro/lib/python3.11/site-packages/toykeras/__init__.py")
    assert used.changed() == []
    assert (folder / SEAL).exists()


def test_a_link_that_went_from_the_cache_is_no_change_where_trials_have_views(
    folder: Path, home_of: Home, tmp_path: Path
) -> None:
    """As when another harness drops edited files from the installer's cache."""
    module = folder / "built/repro/lib/python3.11/site-packages/toykeras/__init__.py"
    (tmp_path / "cache").hardlink_to(module)
    change(folder, fingerprint=sealing.state(folder / "built/repro").fingerprint)
    (tmp_path / "cache").unlink()
    used = standing(home_of, environment_of(folder))
    assert used is not None
    assert used.changed(viewed=True) == []
    assert used.changed() == ["toykeras/__init__.py"], "elsewhere a trial may have written there and written it back"


def test_an_environment_that_the_harness_did_not_build_is_not_looked_at(home: Home, folder: Path) -> None:
    assert standing(home, environment_of(folder)) is None


def test_a_lock_says_what_must_be_there() -> None:
    lock = ["Toy_Keras==1.1 --hash=sha256:0", "toynumpy @ https://example.org/a.whl", "x==1 ; sys_platform == 'never'"]
    assert required(lock) == {"toy-keras": "1.1", "toynumpy": ""}


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
    layer = Installer(processes, python, home).build("new-layer", empty, ["toykeras==1.1"], None, notes.append)
    assert (Path(layer.site) / "toykeras").is_dir()
    assert sealed(empty, "") == layer
    assert layer.fingerprint == sealing.state(Path(layer.root)).fingerprint
    assert notes == []


def test_what_was_not_installed_is_not_sealed(empty: Path, home: Home, processes: Processes, index: LocalIndex) -> None:
    """The installer says that it ended well."""

    class Silent(Installer):
        def _install(self, key: str, folder: Path, lock: Sequence[str], base: Layer | None, anew: list[str]) -> Built:
            return super()._install(key, folder, [], base, anew)

    with pytest.raises(InfrastructureError, match="did not install toykeras"):
        Silent(processes, base_executable(), home).build("new-layer", empty, ["toykeras==1.1"], None, lambda _: None)
    assert not (empty / SEAL).exists()


def test_the_installer_gets_credentials_and_exact_versions(empty: Path, home: Home, processes: Processes) -> None:
    """Both for the time of the installation alone: what stays in the folder is the lock as it is kept."""
    remember(["other @ https://user:pass-4711@localhost/other-1.0-py3-none-any.whl"])
    lock = [
        "toykeras==1.1 --hash=sha256:00 --hash=sha256:11",
        "other @ https://***@localhost/other-1.0-py3-none-any.whl --hash=sha256:22",
    ]
    handed: list[str] = []

    class Reading(Installer):
        def _run_nox(self, folder: Path, log: Path) -> Ended:
            handed.extend((folder / "lock.txt").read_text(encoding="utf-8").splitlines())
            raise InfrastructureError("read enough")

    with pytest.raises(InfrastructureError, match="read enough"):
        Reading(processes, base_executable(), home).build("new-layer", empty, lock, None, lambda _: None)
    assert handed == [
        "toykeras===1.1 --hash=sha256:00 --hash=sha256:11",
        "other @ https://user:pass-4711@localhost/other-1.0-py3-none-any.whl --hash=sha256:22",
    ]
    (kept,) = empty.rglob("lock.txt")
    assert kept.read_text(encoding="utf-8").splitlines() == lock


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


@pytest.mark.parametrize("how", REFUSALS)
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
    index.faults[place] = REFUSALS[how]
    installer = Installer(processes, base_executable(), home)
    with pytest.raises(InfrastructureError) as failure:
        installer.build("mine", empty, [lock_of(index, "1.1")], None, lambda _: None)
    assert "toykeras" in str(failure.value)
    assert "index" in failure.value.what
    index.faults.clear()
    assert installer.build("mine", empty, [lock_of(index, "1.1")], None, lambda _: None).key == "mine"


def test_a_wrong_page_in_the_installer_s_cache_is_read_anew(
    empty: Path, home: Home, processes: Processes, index: LocalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is right again at once, and uv would believe for ten minutes more the page that it keeps."""

    def wrong(handler: BaseHTTPRequestHandler, _: bytes) -> None:
        handler.send_response(200)
        headers = {"Content-Type": "text/html", "Cache-Control": "max-age=600", "Content-Length": str(len(LOGIN))}
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(LOGIN)

    monkeypatch.setattr(tenacity, "sleep_using_event", lambda event: lambda seconds: None)
    honest = partial(respond, kind="application/vnd.pypi.simple.v1+json")
    index.faults["/simple/toykeras/"] = times(1, wrong, honest)
    installer = Installer(processes, base_executable(), home)
    notes: list[str] = []
    layer = installer.build("new-layer", empty, [lock_of(index, "1.1")], None, notes.append)
    assert (Path(layer.site) / "toykeras").is_dir()
    assert len(notes) == 1, "once with the wrong page, once with a new one"


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

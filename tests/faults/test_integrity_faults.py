"""Trials and accidents that change files of an environment, on systems with and without private views."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from harness.adapters.environments import isolation, layers
from harness.adapters.environments.isolation import Isolation
from harness.adapters.processes.process import Processes
from harness.adapters.storage.home import Home
from tests.local_index import LocalIndex
from tests.toy_runs import Child, Harness, repro, words_of
from tests.toys import Toy

GOOD = {"8.0": "good", "8.1": "good", "8.2": "good"}
APPENDS = """
import toynumpy
def check():
    if hasattr(toynumpy, 'broken'): return 1
    with open(toynumpy.__file__, 'a') as file: file.write('broken = True\\n')
    return 0
"""
APPENDS_AT_IMPORT = """
import toynumpy
try:
    with open(toynumpy.__file__, 'a') as file: file.write('raise SystemExit(1)\\n')
except OSError: pass
def check(): return 0
"""
USES = "import toynumpy\ndef check(): return 1 if hasattr(toynumpy, 'broken') else 0"


@pytest.fixture(params=["views", "checks"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, home: Home, processes: Processes) -> str:
    """Each test that asks for it runs with what the system offers and without it."""
    if request.param == "checks":
        monkeypatch.setenv(isolation.SETTING, "checks")
    elif isolation.isolation(processes, home) is not Isolation.VIEW:
        pytest.skip("no mount namespaces here")
    return str(request.param)


def site_of(home: Path, name: str) -> Path:
    """Where one distribution lies."""
    (info,) = (home / "environments").glob(f"*/*/*/lib/python*/site-packages/{name}.dist-info")
    return info.parent


def publish(index: LocalIndex, first: str = USES) -> None:
    index.publish([Toy(version=version, source=first if version == "8.0" else USES) for version in GOOD])


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_a_release_that_writes_into_a_companion_changes_no_other(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, isolated: Path, way: str, jobs: str
) -> None:
    publish(index, APPENDS)
    words = words_of(repro(tmp_path), "8.0", "8.2", "--jobs", jobs)
    for more in ([], [], ["--fresh"]):
        found = harness_run(*words, *more)
        assert {**found.verdicts, "8.0": "good"} == GOOD
        if way == "views":
            assert found.verdicts["8.0"] == "good", "it is good where nobody has written before it"
        else:
            assert found.verdicts["8.0"] == "skip"
            assert "changed files of its environment: toynumpy/__init__.py" in found.reasons["8.0"]
    assert "broken" not in (site_of(isolated, "toynumpy-1.0") / "toynumpy/__init__.py").read_text() or way == "checks"


def test_the_record_says_what_kept_the_trials_apart(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, way: str
) -> None:
    publish(index)
    harness_run(*words_of(repro(tmp_path), "8.0", "8.0", "--output", tmp_path / "run"))
    journal = (tmp_path / "run/journal.jsonl").read_text()
    assert (Isolation.VIEW if way == "views" else Isolation.CHECKS).value in journal


def test_trials_that_share_a_process_tree_do_not_see_what_one_wrote(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, way: str
) -> None:
    publish(index, APPENDS)
    found = harness_run(*words_of(repro(tmp_path), "8.0", "8.0", "--repeats", "3"))
    assert found.verdicts == {"8.0": "good" if way == "views" else "skip"}


def test_what_a_package_writes_while_the_canary_imports_it_is_not_there_for_its_trials(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, way: str
) -> None:
    """It was bad in a new environment, and good in one whose canary had been good before."""
    publish(index, APPENDS_AT_IMPORT)
    found = harness_run(*words_of(repro(tmp_path), "8.0", "8.2"))
    assert {**found.verdicts, "8.0": "good"} == GOOD
    assert found.verdicts["8.0"] == "good" or way == "checks"
    assert found.verdicts["8.0"] != "bad"


def damage(home: Path, how: str) -> None:
    """Change something that no size and no date shows, or that lies beside the packages."""
    site = site_of(home, "toynumpy-1.0")
    source = site / "toynumpy/__init__.py"
    (code,) = (site / "toynumpy/__pycache__").glob("*.pyc")
    before = source.stat()
    match how:
        case "same size and date":
            source.chmod(0o644)
            with source.open("r+b") as edited:
                edited.write(b"raise SystemExit(1)".ljust(before.st_size, b"#")[: before.st_size])
            os.utime(source, ns=(before.st_atime_ns, before.st_mtime_ns))
        case "truncated byte code":
            code.chmod(0o644)
            os.truncate(code, 20)
        case "zeroed byte code":
            code.chmod(0o644)
            code.write_bytes(code.read_bytes()[:16] + bytes(code.stat().st_size - 16))
        case "no pyvenv.cfg":
            (site.parents[2] / "pyvenv.cfg").unlink()
        case "swapped seals":
            one, other = (site_of(home, f"toykeras-{v}").parents[4] / layers.SEAL for v in ("8.0", "8.1"))
            text = one.read_text()
            one.write_text(other.read_text())
            other.write_text(text)
        case _:
            shutil.rmtree(site / "toynumpy-1.0.dist-info")


DAMAGES = (
    "same size and date",
    "truncated byte code",
    "zeroed byte code",
    "no pyvenv.cfg",
    "swapped seals",
    "a distribution lost",
)


def test_damage_is_noticed_and_the_environment_built_anew(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, isolated: Path, way: str
) -> None:
    """One kind of damage after the other: each time a whole environment stands there again."""
    index.publish([Toy(version="8.0", source=USES), Toy(version="8.1", source="def check(): return 1")])
    words = words_of(repro(tmp_path), "8.0", "8.1", "--fresh")
    first = harness_run(*words)
    assert first.verdicts == {"8.0": "good", "8.1": "bad"}
    for how in DAMAGES:
        damage(isolated, how)
        again = harness_run(*words)
        assert again.answer == first.answer, (how, again.err)


def test_a_home_that_was_moved_by_an_archive_is_not_built_anew(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, isolated: Path, way: str
) -> None:
    """As a cache of a CI service does: same contents and dates, other inodes and times of change."""
    publish(index)
    words = words_of(repro(tmp_path), "8.0", "8.2", "--fresh")
    first = harness_run(*words)
    seals = {path: path.stat().st_mtime_ns for path in (isolated / "environments").glob("*/*/*/pyvenv.cfg")}
    subprocess.run(["cp", "-a", isolated, tmp_path / "copy"], check=True)
    shutil.rmtree(isolated)
    (tmp_path / "copy").rename(isolated)
    asked = len([path for path in index.asked if path.startswith("/files/")])
    assert harness_run(*words).answer == first.answer
    assert {path: path.stat().st_mtime_ns for path in (isolated / "environments").glob("*/*/*/pyvenv.cfg")} == seals
    assert len([path for path in index.asked if path.startswith("/files/")]) == asked


def test_links_to_the_installer_s_cache_are_not_made(
    tmp_path: Path,
    harness_run: Harness,
    index: LocalIndex,
    isolated: Path,
    monkeypatch: pytest.MonkeyPatch,
    way: str,
) -> None:
    publish(index)
    monkeypatch.setenv("UV_LINK_MODE", "symlink")
    words = words_of(repro(tmp_path), "8.0", "8.2", "--fresh")
    assert harness_run(*words).verdicts == GOOD
    shutil.rmtree(os.environ["UV_CACHE_DIR"])
    assert harness_run(*words).verdicts == GOOD
    file = site_of(isolated, "toynumpy-1.0") / "toynumpy/__init__.py"
    assert not file.is_symlink()


def test_a_parent_that_ignores_sigchld_hides_no_failure(
    tmp_path: Path, index: LocalIndex, isolated: Path, way: str
) -> None:
    publish(index)
    words = words_of(repro(tmp_path), "8.0", "8.2")
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        child = Child(words, tmp_path)
    finally:
        signal.signal(signal.SIGCHLD, before)
    found = child.end()
    assert found.verdicts == GOOD


def test_an_installer_that_fails_is_seen_though_sigchld_is_ignored(tmp_path: Path, index: LocalIndex) -> None:
    index.publish([Toy(version="8.0", build_backend="def build_wheel(*_): raise SystemExit('planted')")])
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        child = Child(words_of(repro(tmp_path), "8.0", "8.0"), tmp_path)
    finally:
        signal.signal(signal.SIGCHLD, before)
    found = child.end()
    assert found.verdicts == {"8.0": "skip"}
    assert "planted" in found.reasons["8.0"]


def test_what_a_trial_wrote_is_in_no_later_environment(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, isolated: Path, way: str
) -> None:
    """A hard link to the installer's cache would carry it into every environment built from it."""
    publish(index, APPENDS)
    harness_run(*words_of(repro(tmp_path), "8.0", "8.2", "--jobs", "1"))
    assert not [path for path in (tmp_path / "uv-cache").rglob("*.py") if "broken = True\n" in path.read_text()]


def test_a_flipped_bit_in_a_kept_trial_runs_it_again(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, isolated: Path
) -> None:
    publish(index)
    case = repro(tmp_path)
    words = words_of(case, "8.0", "8.0")
    first = harness_run(*words)
    (kept,) = (isolated / "trials").rglob("*.json")
    whole = kept.read_bytes()
    for place in range(0, len(whole) * 8, 997):
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        kept.write_bytes(flipped)
        runs = case.ran().total()
        assert harness_run(*words).answer == first.answer
        assert case.ran().total() == runs + 1

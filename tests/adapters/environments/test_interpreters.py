from __future__ import annotations

import json
import os
import platform
from pathlib import Path

import pytest

from harness.adapters.environments import interpreters as module
from harness.adapters.environments.interpreters import Interpreters, base_executable
from harness.adapters.environments.resolver import uv_program
from harness.adapters.processes.process import Processes
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError, UsageError


@pytest.fixture
def found(home: Home, processes: Processes) -> Interpreters:
    return Interpreters(processes, home, uv_program())


def test_the_harness_s_own_comes_first_and_each_minor_once(found: Interpreters) -> None:
    listed = found.candidates()
    assert (listed[0].version, listed[0].path) == (platform.python_version(), base_executable())
    assert len({i.minor for i in listed}) == len(listed)


@pytest.mark.parametrize("how", ["minor", "version", "path"])
def test_one_is_named_by_version_or_path(found: Interpreters, how: str) -> None:
    own = found.candidates()[0]
    assert found.named(getattr(own, how)) == own


@pytest.mark.parametrize("wanted", ["2.7", "3", "", "/bin/sh", "latest"])
def test_an_unknown_one_is_refused_with_those_found(found: Interpreters, wanted: str) -> None:
    with pytest.raises(UsageError) as failure:
        found.named(wanted)
    assert platform.python_version() in str(failure.value)


def test_pyenv_s_are_found_and_old_or_broken_ones_are_not(
    found: Interpreters, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for version in ("3.8.18", "3.99.1", "3.98.0", "3.97-dev", "pypy3.10", "3.96.0"):
        (tmp_path / "pyenv/versions" / version / "bin").mkdir(parents=True)
        if version != "3.96.0":
            (tmp_path / "pyenv/versions" / version / "bin/python3").symlink_to(base_executable())
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    minors = {i.minor for i in found.candidates()}
    assert {"3.99", "3.98"} <= minors
    assert not minors & {"3.8", "3.97", "3.96"}


def test_without_network_no_interpreter_is_fetched(found: Interpreters) -> None:
    assert found.fetch("3.77") is None


@pytest.mark.parametrize("text", ["", "warning: x", "[", "[{", "null", "[" * 9999])
def test_what_is_no_list_is_not_taken_for_an_empty_one(text: str) -> None:
    assert module._read_list(text) is None


@pytest.mark.parametrize("text", ["[]", "warning: x\n[]\n", "warning\n[{}]", '[{"version": 3}]'])
def test_a_list_without_an_interpreter_is_empty(text: str) -> None:
    assert module._read_list(text) == []


@pytest.mark.parametrize("how", ["echo '[]'; exit 2", "kill -9 $$", "echo nonsense", "exit 0"])
def test_a_uv_that_fails_does_not_mean_that_there_are_few_interpreters(
    home: Home, processes: Processes, tmp_path: Path, how: str
) -> None:
    uv = tmp_path / "uv"
    uv.write_text(f"#!/bin/sh\n{how}\n")
    uv.chmod(0o755)
    with pytest.raises(InfrastructureError):
        Interpreters(processes, home, str(uv)).candidates()


def test_warnings_before_the_list_do_not_matter() -> None:
    row = {"version": "3.11.7", "path": "/x/python", "implementation": "cpython"}
    others = [{**row, "implementation": "pypy"}, {**row, "version": "3.14.0a1"}, {**row, "variant": "freethreaded"}]
    read = module._read_list("warning: no [such] thing\n" + json.dumps([row, *others]))
    assert read is not None
    assert [i.path for i in read] == ["/x/python"]
    assert os.sep in read[0].path


def test_those_that_uv_lists_are_found(home: Home, processes: Processes, tmp_path: Path) -> None:
    """uv that is told to be quiet prints no list at all: each of its interpreters was lost without a word."""
    row = {"version": "3.98.1", "path": "/x/python3.98", "implementation": "cpython", "variant": "default"}
    shim = {**row, "version": "3.97.1", "path": "/home/x/.pyenv/shims/python3.97"}
    uv = tmp_path / "uv"
    printed = f"warning: [such] things\n{json.dumps([row, shim])}\nwarning: []"
    uv.write_text(f'#!/bin/sh\ncase "$*" in *quiet*) ;; *) cat {tmp_path}/list;; esac\n')
    (tmp_path / "list").write_text(printed)
    uv.chmod(0o755)
    minors = {one.minor for one in Interpreters(processes, home, str(uv)).candidates()}
    assert "3.98" in minors
    assert "3.97" not in minors


def test_the_real_uv_prints_a_list(home: Home, processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(base_executable()).parent}{os.pathsep}{os.environ['PATH']}")
    listed = Interpreters(processes, home, uv_program())._of_uv()
    assert platform.python_version() in [one.version for one in listed]

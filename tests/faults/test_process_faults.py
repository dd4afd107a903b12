"""Credentials, odd names of variables, and releases whose import never comes back or fills the memory: whole runs."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import psutil
import pytest

from harness.adapters.processes import redaction
from harness.adapters.trials import probing
from tests.local_index import LocalIndex
from tests.toy_runs import Harness, repro, words_of
from tests.toys import Toy

SECRET = "pa55w0rd-0123"
USER = "joe-of-accounts"


def with_credentials(index: LocalIndex) -> str:
    """The companion toynumpy as a requirement with an address that holds a password."""
    address = index.address.replace("://", f"://{USER}:{SECRET}@").replace("/simple/", "/files/")
    return f"toynumpy @ {address}toynumpy-1.0-py3-none-any.whl"


def holding(folder: Path, *but: Path) -> list[str]:
    """Files below a folder in which the password or the user stands."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and path not in but and "/uv-cache/" not in str(path):
            content = path.read_bytes()
            if SECRET.encode() in content or USER.encode() in content:
                found.append(str(path))
    return found


@pytest.mark.parametrize("where", ["pin", "case"])
def test_a_password_of_a_companion_stands_nowhere_and_the_run_can_go_on(
    tmp_path: Path,
    harness_run: Harness,
    index: LocalIndex,
    isolated: Path,
    where: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = tmp_path / "run"
    case = repro(tmp_path)
    pins = ["--with", with_credentials(index)] if where == "pin" else []
    if where == "case":
        case.path.write_text(case.path.read_text().replace("toynumpy<2", with_credentials(index)))
    words = words_of(case, "1.0", "1.3", *pins)
    first = harness_run(*words, "--output", run)
    assert first.code == 0, first.err
    assert first.transitions == [("regression", "1.1", "1.3")]
    for text in (first.out, first.err):
        assert SECRET not in text
        assert USER not in text
    assert holding(tmp_path, case.path) == []
    again = harness_run(*words, "--resume", run)  # the password comes from the request
    assert again.answer == first.answer
    assert harness_run("report", run, "--json").answer == first.answer  # needs none
    monkeypatch.setattr(redaction, "_known", {})  # as a new process
    reproduced = harness_run("reproduce", run, "--release", "1.3")
    assert reproduced.code == 0, reproduced.err  # the environment is there: nothing has to be fetched
    assert SECRET not in reproduced.out + reproduced.err
    shutil.rmtree(isolated / "environments")
    rebuilt = harness_run("reproduce", run, "--release", "1.3")
    if where == "case":
        assert rebuilt.code == 0, rebuilt.err  # read again from the case's file
    else:
        assert rebuilt.code == 2
        assert "credentials are not kept" in rebuilt.err
    assert holding(tmp_path, case.path) == []


def test_what_a_command_to_repeat_lacks_is_asked_for(tmp_path: Path, harness_run: Harness, index: LocalIndex) -> None:
    pin = re.sub("://[^@]*@", "://***@", with_credentials(index)).replace("127.0.0.1", "localhost")
    seen = harness_run(*words_of(repro(tmp_path), "1.0", "1.3", "--with", pin))
    assert seen.code == 2
    assert "credentials are not kept" in seen.err
    assert "give them again" in seen.err


@pytest.mark.parametrize(
    ("name", "value"),
    [("AUTH_KIND", "script"), ("MY_TOKEN", "finished"), ("X_SECRET", "toykeras"), ("A_PASSWORD", "exit_code")],
)
def test_words_in_variables_that_are_named_like_secrets_change_no_answer(
    tmp_path: Path, harness_run: Harness, warm: LocalIndex, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    seen = harness_run(*words_of(repro(tmp_path), "1.0", "1.3", "--fresh"))
    assert seen.code == 0, seen.err
    assert seen.transitions == [("regression", "1.1", "1.3")]


HANGS = "import time\ntime.sleep(600)"
STOPS = "import os, signal\nos.kill(os.getpid(), signal.SIGSTOP)"
RECURSES = "import sys\nsys.setrecursionlimit(2**30)\ndef f(): return f()\nf()"
FILLS = "import time\nheld = bytearray(500_000_000)\nheld[::4096] = held[::4096]\ntime.sleep(600)"


@pytest.mark.parametrize(
    ("source", "reason"),
    [(HANGS, "the import was not done"), (STOPS, "the import was not done"), (FILLS, "more memory than the limit")],
)
@pytest.mark.parametrize("jobs", [1, 2])
def test_an_import_that_never_comes_back_is_a_skip_and_the_search_goes_on(
    tmp_path: Path,
    harness_run: Harness,
    built: LocalIndex,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    reason: str,
    jobs: int,
) -> None:
    if source is FILLS and not psutil.LINUX:
        pytest.skip("the system does not say how much memory a process uses")
    monkeypatch.setattr(probing, "CANARY_SECONDS", 10.0)  # the canary imports the package, nothing else does
    built.publish([Toy(version="1.3.1", source=source), Toy(version="1.3.2", source="def check(): return 1")])
    words = words_of(repro(tmp_path), "1.1", "1.3.2", "--memory", "200M", "--jobs", str(jobs))
    seen = harness_run(*words)
    assert seen.code == 0, seen.err
    assert seen.verdicts["1.3.1"] == "skip"
    assert reason in seen.reasons["1.3.1"]
    assert seen.verdicts["1.3.2"] == "bad"
    assert seen.transitions == [("regression", "1.1", "1.3")]


@pytest.mark.skipif(not psutil.LINUX, reason="the system does not say how much memory a process uses")
@pytest.mark.parametrize(("expects", "verdict"), [("", "skip"), ('expects = "killed"', "bad")])
def test_a_trial_out_of_memory_is_bad_only_where_the_case_expects_a_kill(
    tmp_path: Path, harness_run: Harness, built: LocalIndex, expects: str, verdict: str
) -> None:
    fills = (
        "def check():\n    import time\n    held = bytearray(500_000_000); held[::4096] = held[::4096]; time.sleep(60)"
    )
    built.publish([Toy(version="1.1.1", source=fills)])
    case = repro(tmp_path, metadata=f"timeout_seconds = 60\n# {expects}".rstrip("# \n"))
    seen = harness_run(*words_of(case, "1.0", "1.1.1", "--memory", "200M"))
    assert seen.verdicts["1.1.1"] == verdict, seen.err
    assert "memory" in seen.reasons["1.1.1"]


def test_the_report_says_how_processes_are_kept_together(
    tmp_path: Path, harness_run: Harness, warm: LocalIndex
) -> None:
    seen = harness_run(*words_of(repro(tmp_path), "1.0", "1.3"))
    assert seen.report["environment"]["containment"] in ("pid-namespace", "cgroup", "subreaper", "group")
    assert shlex.split(seen.report["reproduce"])[:2] == ["harness", "bisect"]

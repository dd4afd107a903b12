"""The index fails while a search goes on: it is tried again, the search stops or skips, and never blames a release."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
import tenacity

from harness.adapters.index import package_index as index_module
from harness.adapters.index.listings import Listings
from harness.adapters.storage import journal
from harness.adapters.storage.home import Home
from tests.local_index import (
    REFUSALS,
    Fault,
    LocalIndex,
    answers,
    breaks_off,
    corrupts,
    fails_with,
    respond,
    sends_file,
    stalls,
    times,
)
from tests.toy_runs import Harness, Outcome, repro, words_of
from tests.toys import Toy, write

COMPANION = "/files/toynumpy-1.0-py3-none-any.whl"
UNDISTURBED = {"1.0": "good", "1.1": "good", "1.2": "skip", "1.3": "bad"}
WHEEL = "/files/toykeras-1.1-py3-none-any.whl"


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_HTTP_TIMEOUT", "1")
    monkeypatch.setattr(tenacity, "sleep_using_event", lambda event: lambda seconds: None)


def search(tmp_path: Path, harness_run: Harness, *more: str | Path) -> Outcome:
    case = repro(tmp_path)
    return harness_run(*words_of(case, "1.0", "1.3", "--jobs", "1", *more))


def another_file(folder: Path) -> Fault:
    """A wheel that is whole and another one than the page promised."""
    (folder / "other").mkdir()
    other = write(Toy(version="1.1", source="def check(): return 1"), folder / "other").read_bytes()
    return lambda handler, _: respond(handler, other, kind="application/octet-stream")


@pytest.mark.parametrize("fault", [fails_with(503), breaks_off, corrupts, lambda h, _: h.connection.close()])
def test_a_fault_that_passes_is_not_seen_in_the_answer(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, fault: Fault
) -> None:
    index.faults[WHEEL] = times(1, fault, sends_file)
    found = search(tmp_path, harness_run)
    assert (found.code, found.verdicts) == (0, UNDISTURBED)


@pytest.mark.parametrize("kind", ["down", "stalls", "breaks off", "another file"])
def test_a_fault_that_stays_stops_the_search_and_resume_gives_the_undisturbed_answer(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, kind: str
) -> None:
    run = tmp_path / "run"
    index.faults[WHEEL] = {
        "down": fails_with(503),
        "stalls": stalls(index),
        "breaks off": breaks_off,
        "another file": another_file(tmp_path),
    }[kind]
    stopped = search(tmp_path, harness_run, "--output", run)
    assert stopped.code == 6
    assert "index" in stopped.err
    assert f"--resume {run}" in stopped.err
    assert "attempt 2 of 3 failed" in stopped.err, "each attempt is told"
    kept = journal.read(run)[1]
    assert kept
    assert all(entry.release != "1.1" for entry in kept)
    index.faults.clear()
    resumed = search(tmp_path, harness_run, "--resume", run)
    assert (resumed.code, resumed.verdicts) == (0, UNDISTURBED)


def test_a_wheel_that_is_published_broken_is_a_skip_with_its_reason(
    tmp_path: Path, harness_run: Harness, built: LocalIndex
) -> None:
    """Its bytes have the hash of the listing: so it was published, and no other file will come."""
    built.publish_bytes(Toy(version="1.2.5"), (built.folder / WHEEL[7:]).read_bytes()[:-40] + b"\0" * 40)
    found = search(tmp_path, harness_run)
    assert found.code == 0, found.err
    assert found.verdicts == {**UNDISTURBED, "1.2.5": "skip"}
    assert "Failed to extract archive" in found.reasons["1.2.5"]
    assert "published" in found.reasons["1.2.5"]


def test_a_release_that_left_the_listing_is_a_skip_and_says_so(
    tmp_path: Path, harness_run: Harness, built: LocalIndex
) -> None:
    """A page that is valid and new says so itself."""
    harness_run("releases", "--package", "toykeras")
    built.withdraw("toykeras", "1.1")
    found = search(tmp_path, harness_run)
    assert found.verdicts == {**UNDISTURBED, "1.1": "skip"}
    assert "no version of toykeras==1.1" in found.reasons["1.1"]


HOW = {
    **REFUSALS,
    "redirect to a login": answers(302, location="/login/"),
    "truncated": breaks_off,
    "other bytes": corrupts,
}


def forget(home: Path, distribution: str) -> None:
    """Drop a built distribution, the plans, and all that the installer keeps: the index is asked for everything again.

    The other environments and the trials stay, so only what the fault touched is made anew.
    """
    for info in list(home.glob(f"environments/*/*/*/lib/python*/site-packages/{distribution}.dist-info")):
        shutil.rmtree(info.parents[6])
    shutil.rmtree(home / "plans", ignore_errors=True)
    for kept in Path(os.environ["UV_CACHE_DIR"]).glob("*-v*"):
        if not kept.is_symlink():  # what it knows of the interpreters is not the index's
            shutil.rmtree(kept)


def assert_each_fault_resumes(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, place: str, distribution: str
) -> None:
    """A fault that stays ends with exit 6, blames nothing, and is forgotten by the next run."""
    home = Path(os.environ["HARNESS_HOME"])
    assert harness_run("releases", "--package", "toykeras").code == 0
    for number, (how, fault) in enumerate(HOW.items()):
        forget(home, distribution)
        run = tmp_path / f"run-{number}"
        index.faults[place] = fault
        stopped = search(tmp_path, harness_run, "--output", run)
        assert stopped.code == 6, (how, stopped.err)
        named = place.strip("/").rsplit("/", 1)[-1].split("-")[0]
        assert named in stopped.err, f"{how}: the page or file is named"
        assert "says nothing about" not in stopped.err, f"{how}: it is understood"
        index.faults.clear()
        began = (run / journal.NAME).exists()
        kept = journal.read(run)[1] if began else []
        assert not [one for one in kept if one.untestable and one.release != "1.2"], f"{how}: nothing is blamed"
        again = search(tmp_path, harness_run, *(("--resume", run) if began else ("--output", run)))
        assert (again.code, again.verdicts) == (0, UNDISTURBED), (how, again.err)


@pytest.mark.parametrize(
    ("place", "distribution"), [(WHEEL, "toykeras-1.1"), (COMPANION, "toynumpy-1.0")], ids=["release", "companion"]
)
def test_a_file_that_does_not_come_as_listed_is_the_index_s_failure(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, place: str, distribution: str
) -> None:
    """Of the release and of a companion, each time it is asked for, while resolving and while installing."""
    assert_each_fault_resumes(tmp_path, harness_run, index, place, distribution)


@pytest.mark.parametrize("package", ["toykeras", "toynumpy"])
def test_a_page_that_is_none_is_the_index_s_failure(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, package: str
) -> None:
    Listings(Home.default()).remember(["toynumpy"])  # as an earlier run does: a 404 is then no answer
    assert_each_fault_resumes(tmp_path, harness_run, index, f"/simple/{package}/", "nothing of it")


def test_a_page_that_nobody_ever_saw_is_bad_usage(tmp_path: Path, harness_run: Harness, index: LocalIndex) -> None:
    """A 404 is how an index says that it has no such package; a name that is mistyped is the user's to mend."""
    refused = search(tmp_path, harness_run, "--with", "toynumpyy==1.0")
    assert refused.code == 2
    assert "toynumpyy was not found" in refused.err


def test_a_companion_that_no_listing_has_is_still_bad_usage(
    tmp_path: Path, harness_run: Harness, index: LocalIndex
) -> None:
    refused = search(tmp_path, harness_run, "--with", "toynumpy>=99")
    assert refused.code == 2
    assert "cannot be resolved" in refused.err
    assert "toynumpy" in refused.err


@pytest.mark.parametrize("status", [403, 404])
def test_an_index_that_denies_what_it_listed_stops_the_search(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, status: int
) -> None:
    """uv says "not found in the package registry": as a skip that would blame every release."""
    harness_run("releases", "--package", "toykeras")
    index.faults["/simple/toykeras/"] = fails_with(status)
    stopped = search(tmp_path, harness_run)
    assert stopped.code == 6
    assert "denies toykeras" in stopped.err or "did not answer" in stopped.err


def test_an_index_that_is_down_from_the_start(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module.PackageIndex._fetch.retry, "wait", lambda state: 0.0)
    index.close()
    stopped = search(tmp_path, harness_run)
    assert stopped.code == 6
    assert "no page of toykeras is cached" in stopped.err
    assert not list(tmp_path.glob("reports/*"))


def test_an_index_that_goes_down_later_leaves_a_warm_home_usable(
    tmp_path: Path, harness_run: Harness, built: LocalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_module.PackageIndex._fetch.retry, "wait", lambda state: 0.0)
    first = search(tmp_path, harness_run)
    built.close()
    monkeypatch.setattr(index_module.PackageIndex.__init__, "__kwdefaults__", {"fresh_seconds": 0.0, "address": None})
    again = search(tmp_path, harness_run, "--fresh")
    assert again.answer == first.answer
    assert "using the page of toykeras cached" in again.err


@pytest.mark.parametrize(
    "members",
    [
        {"../../../../../../escaped.py": b"x"},
        {"/tmp/escaped-from-a-wheel.py": b"x"},
        {"toykeras/../../../../../escaped.py": b"x"},
        {"toykeras-7.0.data/data/../../../escaped.py": b"x"},
        {"toykeras-7.0.data/scripts/../../../../escaped.py": b"#!python\n"},
    ],
    ids=["up", "absolute", "through", "data", "scripts"],
)
def test_a_hostile_wheel_writes_nothing_outside_its_environment(
    tmp_path: Path, harness_run: Harness, built: LocalIndex, members: dict[str, bytes]
) -> None:
    built.publish([Toy(version="7.0", members=members)])
    found = harness_run(*words_of(repro(tmp_path), "7.0", "7.0"))
    assert found.code in (3, 5), "run without those files, or not at all"
    folders = (tmp_path, Path(os.environ["HARNESS_HOME"]))
    assert not [path for folder in folders for path in folder.rglob("escaped*")]
    assert not Path("/tmp/escaped-from-a-wheel.py").exists()

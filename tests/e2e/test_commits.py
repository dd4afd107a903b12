"""Bisection down to the commit: a real repository, real environments, no network."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.local_index import LocalIndex
from tests.toy_history import FIRST, history
from tests.toy_runs import Harness, repro, words_of
from tests.toys import Toy

GOOD, BAD, BROKEN = 0, 1, 125


@pytest.mark.usefixtures("warm")
def test_a_search_over_commits_ends_at_the_commit_and_its_lines(tmp_path: Path, harness_run: Harness) -> None:
    made = history(tmp_path / "a clone", [GOOD, GOOD, BAD, BAD, BAD, GOOD])
    words = words_of(repro(tmp_path), made.commits[0], "HEAD", "--output", tmp_path / "run")
    found = harness_run(*words, "--channel", "commit", "--clone", made.clone, "--max-gap", "0")
    assert found.code == 0
    c = made.commits
    assert found.transitions == [("regression", c[1], c[2]), ("recovery", c[4], c[5])]
    begun, ended = found.report["transitions"]
    assert begun["causes"] == [
        {"link": c[2], "title": "change 2 (#102)", "found": True, "changes": ["toykeras/__init__.py +2 -2"]}
    ]
    assert ended["causes"][0]["title"] == "change 5 (#105)"
    patch = (tmp_path / "run/kept" / f"{c[2][:12]}.patch").read_text()
    assert {"-def check(): return 0", "+def check(): return 1"} <= set(patch.splitlines())
    report = (tmp_path / "run/report.md").read_text()
    assert (
        f"Commit found for exception {c[1]} -> {c[2]}: {c[2]} (change 2 (\\#102)); `toykeras/__init__.py +2 -2`."
        in report
    )


@pytest.mark.usefixtures("warm")
def test_commits_that_cannot_be_built_leave_a_range_and_no_culprit(tmp_path: Path, harness_run: Harness) -> None:
    made = history(tmp_path / "clone", [GOOD, BROKEN, BROKEN, BAD])
    words = words_of(repro(tmp_path), made.commits[0], made.commits[3])
    found = harness_run(*words, "--channel", "commit", "--clone", made.clone, "--max-gap", "0")
    assert found.transitions == [("regression", made.commits[0], made.commits[3])]
    assert [u["version"] for u in found.report["transitions"][0]["untested"]] == made.commits[1:3]
    assert found.report["transitions"][0]["causes"] == []


def test_from_the_nightly_to_the_commit(tmp_path: Path, harness_run: Harness, built: LocalIndex) -> None:
    """Twelve hours of commits, a build every three: the commits between the two builds of the edge are searched."""
    made = history(tmp_path / "clone", [GOOD] * 7 + [BAD] * 5)
    stamps = {hour: FIRST + timedelta(hours=hour) for hour in (2, 5, 8, 11)}
    built.publish(
        Toy(
            name="toykeras-nightly",
            module="toykeras",
            version=f"1.0.dev{moment:%Y%m%d%H}",
            source=f"def check(): return {BAD if hour >= 7 else GOOD}",
            uploaded=moment,
        )
        for hour, moment in stamps.items()
    )
    words = words_of(repro(tmp_path), "2024-11-01", "2024-11-01", "--output", tmp_path / "run")
    asked = ["--package", "toykeras-nightly", "--channel", "nightly,commit", "--clone", str(made.clone)]
    found = harness_run(*words, *asked)
    assert found.transitions == [("regression", "1.0.dev2024110105", "1.0.dev2024110108")]
    assert found.report["stages"], found.err
    (stage,) = found.report["stages"]
    assert [(t["last_before"], t["first_after"]) for t in stage["transitions"]] == [(made.commits[6], made.commits[7])]
    assert stage["question"]["package"] == "toykeras"
    assert (stage["question"]["first"], stage["question"]["last"]) == (made.commits[4], made.commits[9])
    for name in ("report.md", "report.html"):
        assert "change 7 (" in (tmp_path / "run" / name).read_text()
    again = harness_run("report", tmp_path / "run", "--json")
    assert again.report == found.report, "what is written again from the journals alone is the same"


def test_a_clone_that_is_older_than_the_nightlies_is_named(
    tmp_path: Path, harness_run: Harness, built: LocalIndex
) -> None:
    """The coarser answer stands; what to do for the finer one is said."""
    made = history(tmp_path / "clone", [GOOD, BAD])
    built.publish(
        Toy(
            name="toykeras-nightly",
            module="toykeras",
            version=f"1.0.dev202412{day:02}03",
            source=f"def check(): return {code}",
            uploaded=FIRST + timedelta(days=29 + day),
        )
        for day, code in ((1, GOOD), (2, BAD))
    )
    words = words_of(repro(tmp_path), "2024-12-01", "2024-12-02")
    asked = ["--package", "toykeras-nightly", "--channel", "nightly,commit", "--clone", str(made.clone)]
    found = harness_run(*words, *asked)
    assert found.transitions == [("regression", "1.0.dev2024120103", "1.0.dev2024120203")]
    assert found.report["stages"] == []
    assert "the clone has no commit between 2024-12-01 02:00 and 2024-12-02 04:00" in found.err
    assert f"it ends with {made.commits[1][:12]} of 2024-11-01" in found.err


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--channel", "commit"], "commits and a clone go together"),
        (["--channel", "commit", "--clone", "{clone}", "--from", "nowhere"], "the clone has no nowhere"),
        (["--channel", "commit", "--clone", "{clone}", "--from", "HEAD", "--to", "HEAD~1"], "is not a descendant of"),
        (["--channel", "commit", "--clone", "{clone}", "--from", "2024-02-31"], "is not a day"),
        (["--channel", "commit", "--clone", "{clone}", "--from", "2020-01-01"], "no commit before 2020-01-01"),
        (["--channel", "commit", "--clone", "{clone}"], "where should the search begin?"),
    ],
)
@pytest.mark.usefixtures("warm")
def test_what_cannot_be_asked(tmp_path: Path, harness_run: Harness, more: list[str], told: str) -> None:
    made = history(tmp_path / "clone", [GOOD, BAD])
    refused = harness_run("bisect", repro(tmp_path).path, *(word.format(clone=made.clone) for word in more))
    assert refused.code == 2
    assert told in refused.err


@pytest.mark.parametrize("what", ["HEAD~1:toykeras/__init__.py", "HEAD~1", "HEAD~2^{tree}"])
def test_a_damaged_clone_ends_the_search_and_makes_no_commit_untestable(
    tmp_path: Path, harness_run: Harness, built: LocalIndex, what: str
) -> None:
    made = history(tmp_path / "clone", [GOOD, GOOD, BAD, BAD])
    name = made.git("rev-parse", what)
    damaged = made.clone / ".git" / "objects" / name[:2] / name[2:]
    whole = damaged.read_bytes()
    damaged.chmod(0o644)
    damaged.write_bytes(b"garbage")
    words = words_of(repro(tmp_path), made.commits[0], made.commits[3])
    asked = ["--channel", "commit", "--clone", str(made.clone)]
    stopped = harness_run(*words, *asked)
    assert stopped.code == 6
    assert "git can" in stopped.err
    assert "fsck" in stopped.err
    damaged.write_bytes(whole)
    found = harness_run(*words, *asked)
    assert found.transitions == [("regression", made.commits[1], made.commits[2])]


def test_a_file_that_goes_missing_while_the_search_goes_on(
    tmp_path: Path, harness_run: Harness, built: LocalIndex
) -> None:
    """What is fetched already is enough for the answer; the changed lines are not, and that is said."""
    made = history(tmp_path / "clone", [GOOD, GOOD, BAD, BAD])
    name = made.git("rev-parse", "HEAD~1:toykeras/__init__.py")
    damaged = made.clone / ".git" / "objects" / name[:2] / name[2:]
    away = tmp_path / "away"
    body = f"import pathlib\nif pathlib.Path({str(damaged)!r}).exists(): pathlib.Path({str(damaged)!r}).rename({str(away)!r})"
    words = words_of(repro(tmp_path, body=body), made.commits[0], made.commits[3])
    asked = ["--channel", "commit", "--clone", str(made.clone), "--output", str(tmp_path / "run"), "--jobs", "1"]
    found = harness_run(*words, *asked)
    assert found.code == 0
    assert found.transitions == [("regression", made.commits[1], made.commits[2])]
    assert "warning: the answer is complete, but not everything could be kept: git cannot read the clone" in found.err
    assert not list((tmp_path / "run" / "kept").iterdir())


def test_dates_that_no_calendar_has(tmp_path: Path, harness_run: Harness, built: LocalIndex) -> None:
    """The year 33658, written by a broken clock."""
    made = history(tmp_path / "clone", [GOOD, GOOD, BAD])
    tree, parent = made.git("rev-parse", "HEAD^{tree}"), made.commits[-1]
    (tmp_path / "far").write_text(
        f"tree {tree}\nparent {parent}\nauthor x <x@example.org> 1 +0000\n"
        f"committer x <x@example.org> 999999999999 +0000\n\nfar \x1e{parent}\x1f1\x1fx\n"
    )
    far = made.git("hash-object", "-t", "commit", "-w", str(tmp_path / "far"))
    made.git("update-ref", "refs/heads/main", far)
    words = words_of(repro(tmp_path), made.commits[0], far, "--output", tmp_path / "run")
    found = harness_run(*words, "--channel", "commit", "--clone", made.clone)
    assert found.code == 0
    assert [r["version"] for r in found.report["releases"]] == [*made.commits, far]
    assert found.transitions == [("regression", made.commits[1], made.commits[2])]


@pytest.mark.usefixtures("warm")
def test_a_shallow_clone_answers_for_what_it_has(tmp_path: Path, harness_run: Harness) -> None:
    made = history(tmp_path / "whole", [GOOD, GOOD, BAD, BAD])
    made.git("clone", "-q", "--depth", "3", made.clone.as_uri(), str(tmp_path / "shallow"))
    asked = ["--channel", "commit", "--clone", str(tmp_path / "shallow")]
    found = harness_run(*words_of(repro(tmp_path), made.commits[1], "HEAD"), *asked)
    assert found.transitions == [("regression", made.commits[1], made.commits[2])]
    refused = harness_run(*words_of(repro(tmp_path), made.commits[0], "HEAD"), *asked)
    assert refused.code == 2
    assert "--unshallow" in refused.err

"""Companions move with the release, over a local index: the release beside the other side's companions tells which it is.

toylib        1.0     1.1     2.0
needs         dep<2   dep     dep>=2        the reference set is that of 1.1 and 2.0: 1.0 moves
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

import pytest

from harness.domain.errors import Untestable
from harness.domain.releases.companions import Companions, Interpreter, Mode, Wanted
from harness.domain.releases.release import Release
from harness.domain.trials.trial import Environment
from harness.jobs.parting import CrossedEnvironments, crossed
from tests.fakes import TableEnvironments
from tests.local_index import LocalIndex
from tests.toy_runs import Harness, Outcome
from tests.toys import Toy

SCRIPT = """\
# /// script
# [tool.harness]
# title = "toylib fails"
# package = "toylib"
# ///
import sys, toylib, dep
sys.exit({fails})
"""


def day(month: int) -> datetime:
    return datetime(2024, month, 1, tzinfo=timezone.utc)


def lib(version: str, *requires: str, month: int = 1) -> Toy:
    return Toy(name="toylib", version=version, requires=requires, uploaded=day(month))


def dep(version: str, name: str = "dep", month: int = 1) -> Toy:
    return Toy(name=name, version=version, uploaded=day(month))


def bisect(tmp_path: Path, run: Harness, fails: str, last: str, *more: str) -> Outcome:
    case = tmp_path / "case.py"
    case.write_text(SCRIPT.format(fails=fails), encoding="utf-8")
    return run("bisect", case, "--from", "1.0", "--to", last, "--json", "--jobs", "1", *more)


def told(found: Outcome) -> tuple[str, list[str]]:
    (transition,) = found.report["transitions"]
    return transition["confounding"]["parting"], transition["confounding"]["packages"]


@pytest.fixture
def overlapping(index: LocalIndex) -> Sequence[Toy]:
    toys = [
        *(dep(version, name) for name in ("dep", "beside") for version in ("1.0", "2.0")),
        lib("1.0", "dep<2", "beside<2"),
        lib("1.1", "dep", "beside"),
        lib("2.0", "dep>=2", "beside>=2"),
    ]
    index.publish(toys)
    return toys


@pytest.mark.usefixtures("overlapping")
def test_the_companion_that_does_it_is_named(tmp_path: Path, harness_run: Harness) -> None:
    """1.1 is good beside the companions of 1.0; of the two that moved, one alone turns it."""
    found = bisect(tmp_path, harness_run, "dep.__version__ == '2.0'", "2.0")
    assert found.transitions == [("regression", "1.0", "1.1")]
    assert told(found) == ("it is the companions", ["dep"])
    by_version = {r["version"]: r["moved"] for r in found.report["releases"]}
    assert [(m["name"], m["version"], m["reference"]) for m in by_version["1.0"]] == [
        ("beside", "1.0", "2.0"),
        ("dep", "1.0", "2.0"),
    ]
    assert by_version["1.1"] == by_version["2.0"] == []
    assert "(companions moved too: it is dep)" in found.report["conclusion"]["sentence"]


@pytest.mark.usefixtures("overlapping")
def test_the_release_is_named_and_a_resumed_run_asks_for_nothing_more(tmp_path: Path, harness_run: Harness) -> None:
    found = bisect(tmp_path, harness_run, "toylib.__version__ != '1.0'", "2.0", "--output", str(tmp_path / "run"))
    assert told(found) == ("it is the release", [])
    journal = (tmp_path / "run" / "journal.jsonl").read_text()
    again = bisect(tmp_path, harness_run, "toylib.__version__ != '1.0'", "2.0", "--resume", str(tmp_path / "run"))
    assert again.report["transitions"] == found.report["transitions"]
    assert (tmp_path / "run" / "journal.jsonl").read_text() == journal
    assert [json.loads(line).get("crossing") for line in journal.splitlines()].count(None) < len(journal.splitlines())


@pytest.mark.usefixtures("overlapping")
def test_a_script_that_aborts_beside_other_companions_leaves_the_answer(tmp_path: Path, harness_run: Harness) -> None:
    crossed_alone = "(toylib.__version__, dep.__version__) == ('1.1', '1.0')"
    found = bisect(tmp_path, harness_run, f"139 if {crossed_alone} else toylib.__version__ != '1.0'", "2.0")
    assert (found.code, found.transitions) == (0, [("regression", "1.0", "1.1")])
    assert told(found) == ("cannot be parted here", ["beside", "dep"])


def test_what_no_resolution_parts_is_said(tmp_path: Path, harness_run: Harness, index: LocalIndex) -> None:
    index.publish([dep("1.0"), dep("2.0"), lib("1.0", "dep<2"), lib("2.0", "dep>=2")])
    found = bisect(tmp_path, harness_run, "dep.__version__ == '2.0'", "2.0")
    assert told(found) == ("cannot be parted here", ["dep"])
    assert found.verdicts == {"1.0": "good", "2.0": "bad"}


@pytest.mark.parametrize(
    ("fails", "answer"),
    [
        ("toylib.__version__ == dep.__version__ == '2.0'", "both together"),
        ("'2.0' in (toylib.__version__, dep.__version__)", "each of the two alone"),
    ],
)
def test_companions_of_the_day_are_parted_too(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, fails: str, answer: str
) -> None:
    index.publish([dep("1.0"), dep("2.0", month=3), lib("1.0", "dep", month=2), lib("2.0", "dep", month=4)])
    assert told(bisect(tmp_path, harness_run, fails, "2.0", "--companions", "as-of")) == (answer, [])


PYTHON = Interpreter(version="3.11.7", path="/python")
OWN, OTHERS = ("dep==1.0", "x==1"), ("dep==2.0", "x==2")
COMPANIONS = Companions(
    wanted=Wanted(package="toylib", requirements=("dep",)), mode=Mode.AS_OF, interpreter=PYTHON, data_lock=("x==2",)
)


def test_the_other_side_s_companions_become_the_reference() -> None:
    made = crossed(COMPANIONS, OWN, OTHERS, "")
    assert (made.mode, made.lock, made.shared, made.wanted) == (Mode.FIXED, OTHERS[:1], OTHERS, COMPANIONS.wanted)


def test_one_companion_of_the_other_side_is_held() -> None:
    made = crossed(replace(COMPANIONS, data_lock=()), OWN, OTHERS, "dep")
    assert made.lock == ("dep==2.0", "x==1")
    assert made.wanted.requirements == ("dep", "dep==2.0")


def test_an_environment_that_is_the_release_s_own_again_is_not_run() -> None:
    class Fixed(TableEnvironments):
        def prepare(self, release: Release) -> Environment:
            return replace(super().prepare(release), lock=(f"toylib=={release.version}", "dep==1.0"))

    release = Release(package="toylib", version="1.0")
    same = CrossedEnvironments(inner=Fixed(), companions=COMPANIONS, own=("dep==1.0",))
    with pytest.raises(Untestable, match=r"nothing resolves with 1\.0 and any of the companions that moved"):
        same.prepare(release)
    other = CrossedEnvironments(inner=Fixed(), companions=COMPANIONS, own=("dep==2.0",))
    assert other.prepare(release).lock == ("toylib==1.0", "dep==1.0")

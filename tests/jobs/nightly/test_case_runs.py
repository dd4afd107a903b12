"""The watch on fixes, held against what `verify-fix` would grade; and an index that must be certain."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest
from harness.jobs.night_runs import CertainIndex, LineListener, ReleaseFixChecker, searching

from harness.cli.commands import bisection
from harness.domain.cases.case import Case
from harness.domain.errors import InfrastructureError
from harness.domain.nightly.expectations import AwaitedFix
from harness.domain.releases.index_page import IndexPage
from harness.domain.releases.release import Channel, Release
from harness.domain.trials.entry import Entry
from harness.jobs import executor, single
from harness.jobs.bisection import variants
from harness.jobs.protocols import Event
from tests.fakes import Heard, TableEnvironments, TableTrials, untestable
from tests.nights import NAN

NIGHTLY = Release(package="keras-nightly", version="3.9.0.dev2025032003", channel=Channel.NIGHTLY)
WATCH = AwaitedFix(case="some", symptom=NAN, broken="3.9.2", link="https://github.com/keras-team/keras/pull/21072")


@pytest.fixture
def some(tmp_path: Path) -> Case:
    from harness.adapters.storage import case_files

    path = tmp_path / "some.py"
    path.write_text(
        '# /// script\n# dependencies = ["keras", "tensorflow"]\n# [tool.harness]\n# title = "some"\n# ///\n'
        "def model(): ...\ndef data(): ...\n"
    )
    return case_files.read(str(path))


@dataclass
class Bench:
    """A bench over the table of the fakes."""

    shown: dict[str, str]
    blocked: tuple[str, ...] = ()

    def attempt(self, own: Case, release: Release, repeat: int) -> list[Entry]:
        asked = variants(own, single.variant_of(own))
        environments = TableEnvironments(untestable(*self.blocked))
        return executor.attempt(own, release, asked, environments, TableTrials(self.shown), Heard(), repeat=repeat)

    def attempt_alone(self, own: Case, release: Release) -> list[Entry]:
        return self.attempt(own, release, 0)


@pytest.mark.parametrize(
    ("broken", "nightly", "answer"),
    [
        ("nan", "good", "yes"),
        ("nan", "nan", "not yet"),
        ("nan", "wrong", "the symptom is gone, but the values are not right"),
        ("nan", "raises", "not yet: it fails, though in another way"),
        ("good", "good", "cannot be told"),
    ],
)
def test_is_the_fix_in_yet(some: Case, broken: str, nightly: str, answer: str) -> None:
    bench = Bench({"3.9.2": broken, NIGHTLY.version: nightly})
    told = ReleaseFixChecker(bench, "keras").check(WATCH, some, NIGHTLY)
    assert (told.answer, told.link) == (answer, WATCH.link)


def test_a_release_that_cannot_be_tested_is_no_answer(some: Case) -> None:
    bench = Bench({"3.9.2": "nan", NIGHTLY.version: "good"}, blocked=(NIGHTLY.version,))
    told = ReleaseFixChecker(bench, "keras").check(WATCH, some, NIGHTLY)
    assert told.answer == "cannot be told"
    assert "no wheel" in told.reason


class Pages:
    """An index with one page."""

    def __init__(self, stale_reason: str) -> None:
        self.stale_reason = stale_reason

    def page(self, package: str) -> IndexPage:
        return IndexPage(package=package, fetched=0.0, releases=(NIGHTLY,), stale_reason=self.stale_reason)


def test_a_page_that_could_not_be_renewed_is_a_fault_of_the_night() -> None:
    assert CertainIndex(Pages("")).releases("keras-nightly") == (NIGHTLY,)
    with pytest.raises(InfrastructureError, match="does not answer"):
        CertainIndex(Pages("the index does not answer (no connection)")).releases("keras-nightly")


def test_what_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    for said in (LineListener(), LineListener(quiet=True)):
        said.notify(Event(kind="case", release="identity", left=3))
        said.notify(Event(kind="build", release="3.9.2"))
        said.notify(Event(kind="narrow", release="identity", detail="timeout"))
    assert capsys.readouterr().err.splitlines() == [
        "  identity (3 left)",
        "  identity: timeout changed; looking for the night",
        "  identity: timeout changed; looking for the night",
    ]


def test_a_search_that_another_command_starts_has_every_option_of_bisect(some: Case) -> None:
    given = {"jobs": 3, "pins": ("tensorflow==2.18.1",), "mode": "fixed", "python": None}
    asked = searching(some, given, first="2024-11-18", symptoms=("timeout",), max_gap=7)
    names = {parameter.name for parameter in bisection.command.params} - {"case_name"}
    assert names <= set(asked)
    assert (asked["jobs"], asked["first"], asked["last"], asked["max_gap"]) == (3, "2024-11-18", "latest", 7)
    assert asked["options"] == ()

"""What a replay takes over, and what it has to run."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.domain.cases.case import Case
from harness.domain.errors import Interrupted
from harness.domain.nightly.nights import CaseResult
from harness.domain.releases.release import Release, Timeline
from harness.domain.search.history import ReleaseState
from harness.domain.verdicts.reasons import recorded
from harness.jobs.events import EventKind
from harness.jobs.nightly.replay import ReplayRunner, SearchedNights, known_look, search_all
from harness.jobs.requests import NightlyRequest
from tests.examples import case
from tests.fakes import FakeServices, Heard, TableTrials
from tests.nights import BAD, GOOD, NAN, STABLE, builds

G, B, NOT_RUN, BLOCKED = (
    ReleaseState(runs=(GOOD.verdicts,)),
    ReleaseState(runs=(BAD.verdicts, BAD.verdicts)),
    ReleaseState(),
    ReleaseState(blocked=recorded("cannot be installed")),
)


def test_what_was_run_is_its_own_answer() -> None:
    answer = known_look([G, B], 1, 1)
    assert answer is not None
    assert (answer.verdicts[NAN].outcome.value, answer.inferred) == ("bad", False)
    assert known_look([G, B], 1, 2) is None


def test_a_night_between_two_equal_neighbours_takes_over_their_answer_and_says_so() -> None:
    answer = known_look([G, NOT_RUN, BLOCKED, NOT_RUN, G], 3, 0)
    assert answer is not None
    assert (answer.verdicts[NAN].outcome.value, answer.inferred) == ("good", True)


def test_a_night_between_different_neighbours_or_at_an_end_is_run() -> None:
    assert known_look([G, NOT_RUN, B], 1, 0) is None
    assert known_look([NOT_RUN, G], 0, 0) is None
    assert known_look([G, NOT_RUN], 1, 0) is None


def test_a_confirmation_is_never_taken_over() -> None:
    assert known_look([G, NOT_RUN, G], 1, 1) is None


def test_a_build_that_cannot_be_tested_says_why() -> None:
    answer = known_look([G, BLOCKED, G], 1, 0)
    assert answer is not None
    assert answer.blocked == "cannot be installed"


NIGHTS = builds(12)
LINE = Timeline(releases=tuple(NIGHTS))


class NotedRunner:
    """Answers good, and notes what had to be run."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, int]] = []

    def look(self, case: Case, release: Release, repeat: int) -> CaseResult:
        self.ran.append((release.version, repeat))
        return GOOD


def test_only_what_the_searches_do_not_hold_is_run() -> None:
    runner = NotedRunner()
    versions = tuple(r.version for r in NIGHTS[:4])
    replayed = ReplayRunner(runner, {"identity": SearchedNights(versions=versions, states=(G, NOT_RUN, G, B))})
    about, stranger = case(), case(name="other")
    assert replayed.look(about, NIGHTS[1], 0).inferred
    assert replayed.look(about, NIGHTS[3], 1).verdicts[NAN].outcome.value == "bad"
    assert runner.ran == []
    replayed.look(about, NIGHTS[1], 1)  # a confirmation
    replayed.look(about, NIGHTS[5], 0)  # outside the search
    replayed.look(about, STABLE[0], 0)  # the control
    replayed.look(stranger, NIGHTS[0], 0)
    assert runner.ran == [
        (NIGHTS[1].version, 1),
        (NIGHTS[5].version, 0),
        (STABLE[0].version, 0),
        (NIGHTS[0].version, 0),
    ]


@pytest.fixture
def world(tmp_path: Path) -> FakeServices:
    """NaN since the seventh night."""
    shown = {night.version: "good" if day < 6 else "nan" for day, night in enumerate(NIGHTS)}
    return FakeServices(tmp_path, [case()], [*STABLE, *NIGHTS], TableTrials(shown))


def request(folder: Path, **changes: object) -> NightlyRequest:
    return NightlyRequest(**{"state": folder / "state", "jobs": 1, **changes})  # type: ignore[arg-type]


class TestSearchAll:
    def test_each_case_is_searched_once_and_few_nights_are_run(self, world: FakeServices, tmp_path: Path) -> None:
        heard = Heard()
        searched = search_all(world, [case()], LINE, request(tmp_path), heard)
        found = searched["identity"]
        assert found.versions == LINE.versions
        known = [state.runs[0][NAN].outcome.value if state.runs else "" for state in found.states]
        assert (known[5], known[6]) == ("good", "bad")
        assert "" in known
        assert "  identity: searching 12 nightlies" in [e.detail for e in heard.events if e.kind is EventKind.MESSAGE]

    def test_without_gaps_every_night_is_run(self, world: FakeServices, tmp_path: Path) -> None:
        searched = search_all(world, [case()], LINE, request(tmp_path, max_gap=0), Heard())
        assert all(state.runs for state in searched["identity"].states)

    def test_a_stretch_that_was_made_longer_is_searched_anew_beside_the_first(
        self, world: FakeServices, tmp_path: Path
    ) -> None:
        """It was refused as another question, and the state had to be thrown away."""
        shorter = Timeline(releases=LINE.releases[:9])
        search_all(world, [case()], shorter, request(tmp_path), Heard())
        searched = search_all(world, [case()], LINE, request(tmp_path), Heard())
        assert searched["identity"].versions == LINE.versions
        assert sorted(path.name for path in (tmp_path / "state").iterdir()) == ["search-identity", "search-identity-2"]
        world.table.ran.clear()
        again = search_all(world, [case()], shorter, request(tmp_path), Heard())
        assert again["identity"].versions == shorter.versions
        assert world.table.ran == []

    def test_a_search_that_was_interrupted_goes_on(self, world: FakeServices, tmp_path: Path) -> None:
        world.built.failures[NIGHTS[5].version] = KeyboardInterrupt()
        with pytest.raises(Interrupted):
            search_all(world, [case()], LINE, request(tmp_path), Heard())
        world.built.failures.clear()
        before, world.table.ran = set(world.table.ran), []
        assert before
        search_all(world, [case()], LINE, request(tmp_path), Heard())
        assert world.table.ran
        assert not before & set(world.table.ran)

"""The one place where trials are started: several pieces at once, and nothing that is finished gets lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.adapters.storage.home import Home
from harness.adapters.storage.run_folders import RunFolders
from harness.domain.cases.case import Case
from harness.domain.errors import (
    EnvironmentChanged,
    HarnessError,
    InfrastructureError,
    Interrupted,
    Untestable,
    UsageError,
)
from harness.domain.releases.release import Release
from harness.domain.trials.entry import Entry
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.jobs.events import EventKind
from harness.jobs.executor import Attempt, Runner, Work, drive, resumable
from harness.jobs.protocols import Journal
from tests.examples import case, release, timeline
from tests.fakes import TWO, Heard, MemoryJournal, TableEnvironments, TableTrials, header, untestable

CASE = case()


class CalledTrials(TableTrials):
    """Calls a function with the version before a trial ends; what it shows is good."""

    def __init__(self, call: Callable[[str], object]) -> None:
        super().__init__({})
        self.call = call

    def run(self, environment: Environment, case: Case, trials: Sequence[Trial]) -> Sequence[FinishedTrial]:
        for trial in trials:
            self.call(trial.release)
            self.shown[trial.release] = "good"
        return super().run(environment, case, trials)


def attempt(version: str) -> Attempt:
    return Attempt(case=CASE, release=release(version), variants=(TWO,))


def chooser(pieces: Sequence[str]) -> Callable[[Sequence[str], int], list[str]]:
    """Gives each piece once, as many as there is room for."""
    left = list(pieces)

    def choose(running: Sequence[str], room: int) -> list[str]:
        del running
        chosen, left[:] = left[:room], left[room:]
        return chosen

    return choose


def work_on(
    pieces: Sequence[str],
    jobs: int,
    call: Callable[[str], object] = lambda version: None,
    *,
    check: Callable[[Sequence[Entry]], object] | None = None,
    done: Callable[[str], None] | None = None,
    choose: Callable[[Sequence[str], int], Sequence[str]] | None = None,
    journal: Journal | None = None,
) -> tuple[Journal, BaseException | None]:
    """Work through named pieces once each; returns the journal, and what came out."""
    journal = journal or MemoryJournal()
    work = Work(choose=choose or chooser(pieces), attempt=attempt, check=check, done=done)
    with ThreadPoolExecutor(jobs) as pool:
        runner = Runner(
            pool=pool, room=jobs, environments=TableEnvironments(), trials=CalledTrials(call), listener=Heard()
        )
        try:
            drive(work, runner, journal)
        except (HarnessError, KeyboardInterrupt) as end:
            return journal, end
    return journal, None


def recorded(journal: Journal) -> list[str]:
    return [entry.release for entry in journal.entries()]


class TestDrive:
    @settings(max_examples=30)
    @given(st.integers(0, 12), st.integers(1, 5))
    def test_every_piece_is_recorded_once(self, count, jobs):
        """Whatever the number of pieces and jobs, each leaves its entries exactly once."""
        pieces = [f"1.{n}" for n in range(count)]
        journal, error = work_on(pieces, jobs)
        assert error is None
        assert sorted(recorded(journal)) == sorted(pieces)

    def test_never_more_are_running_than_there_is_room_for(self):
        guard, now, most = threading.Lock(), [0], [0]

        def call(version: str) -> None:
            with guard:
                now[0] += 1
                most[0] = max(most[0], now[0])
            threading.Event().wait(0.002)
            with guard:
                now[0] -= 1

        work_on([f"1.{n}" for n in range(20)], 3, call)
        assert most[0] <= 3

    def test_who_chooses_knows_what_is_running(self):
        """A search must not ask for a release that is being tried."""
        seen: list[tuple[int, int]] = []
        give = chooser([f"1.{n}" for n in range(6)])

        def choose(running: Sequence[str], room: int) -> Sequence[str]:
            seen.append((len(running), room))
            return give(running, room)

        work_on([], 2, choose=choose)
        assert seen[0] == (0, 2)
        assert all(running + room == 2 for running, room in seen)

    def test_what_is_said_to_be_done_is_already_recorded(self):
        """Who shows a verdict may look it up in the journal."""
        journal, seen = MemoryJournal(), list[bool]()
        work_on(["1.0", "1.1", "1.2"], 2, journal=journal, done=lambda piece: seen.append(piece in recorded(journal)))
        assert seen == [True, True, True]


class TestNothingIsLost:
    @pytest.mark.parametrize("end", [InfrastructureError("disk full"), KeyboardInterrupt(), Interrupted()])
    def test_one_piece_ends_all_and_what_the_others_finish_is_recorded(self, end: BaseException):
        """One piece fails while another is still running: the other's result is not thrown away."""
        begun, failed = threading.Barrier(2, timeout=30), threading.Event()

        def call(version: str) -> None:
            begun.wait()
            if version == "bad":
                failed.set()
                raise end
            failed.wait(10)

        journal, error = work_on(["bad", "slow"], 2, call)
        assert error is end
        assert recorded(journal) == ["slow"]

    def test_after_a_failure_nothing_new_is_begun(self):
        begun: list[str] = []

        def call(version: str) -> None:
            begun.append(version)
            raise InfrastructureError("disk full")

        work_on(["1.0", "1.1", "1.2"], 1, call)
        assert begun == ["1.0"]

    @pytest.mark.parametrize("end", [InfrastructureError("the terminal is gone"), KeyboardInterrupt()])
    def test_a_failure_of_who_is_told_loses_nothing_either(self, end: BaseException):
        def done(piece: str) -> None:
            raise end

        journal, error = work_on(["1.0"], 1, done=done)
        assert error is end
        assert recorded(journal) == ["1.0"]

    @pytest.mark.parametrize("end", [HarnessError("the search is wrong"), KeyboardInterrupt()])
    def test_a_failure_of_who_chooses_waits_for_what_is_running(self, end: BaseException):
        """Ctrl-C reaches this thread wherever it is, for example between two choices."""
        chosen, begun, refused = ["quick", "slow"], threading.Barrier(2, timeout=30), threading.Event()

        def choose(running: Sequence[str], room: int) -> Sequence[str]:
            if chosen:
                return [chosen.pop(0) for _ in range(min(room, len(chosen)))]
            refused.set()
            raise end

        def call(version: str) -> None:
            begun.wait()
            if version == "slow":
                refused.wait(10)

        journal, error = work_on([], 2, call, choose=choose)
        assert error is end
        assert sorted(recorded(journal)) == ["quick", "slow"]

    def test_what_fails_its_check_is_not_recorded_and_the_rest_is(self):
        """A script that aborts is no verdict; the piece beside it is one."""
        begun, failed = threading.Barrier(2, timeout=30), threading.Event()

        def call(version: str) -> None:
            begun.wait()
            if version != "bad":
                failed.wait(10)

        def check(entries: Sequence[Entry]) -> None:
            if entries[0].release == "bad":
                failed.set()
                raise InfrastructureError("left with exit code 139")

        journal, error = work_on(["bad", "slow"], 2, call, check=check)
        assert isinstance(error, InfrastructureError)
        assert recorded(journal) == ["slow"]

    def test_of_several_that_fail_their_check_the_first_comes_out(self):
        both = threading.Barrier(2)

        def check(entries: Sequence[Entry]) -> None:
            raise InfrastructureError(f"{entries[0].release} left with exit code 139")

        journal, error = work_on(["1.0", "1.1"], 2, lambda version: both.wait(10), check=check)
        assert isinstance(error, InfrastructureError)
        assert recorded(journal) == []

    def test_a_piece_that_had_not_begun_is_left_for_the_next_run(self):
        """A pool may hold back what it took: it is neither run nor recorded."""
        begun: list[str] = []

        def call(version: str) -> None:
            begun.append(version)
            raise InfrastructureError("disk full")

        journal = MemoryJournal()
        with ThreadPoolExecutor(1) as pool:
            runner = Runner(
                pool=pool, room=3, environments=TableEnvironments(), trials=CalledTrials(call), listener=Heard()
            )
            with pytest.raises(InfrastructureError):
                drive(Work(choose=chooser(["1.0", "1.1", "1.2"]), attempt=attempt), runner, journal)
        assert begun[0] == "1.0"
        assert recorded(journal) == []


class TestRunner:
    def runner(self, word: str = "good", *blocked: str, heard: Heard | None = None) -> Runner:
        return Runner(
            pool=ThreadPoolExecutor(1),
            environments=TableEnvironments(untestable(*blocked)),
            trials=TableTrials({"1.0": word}),
            listener=heard or Heard(),
        )

    def tried(self, **changes: object) -> Attempt:
        given = {"case": CASE, "release": release("1.0"), "variants": (TWO,), "repeats": (2,), "why": "split"}
        return Attempt(**{**given, **changes})  # type: ignore[arg-type]

    def test_each_trial_is_an_entry_with_its_environment(self):
        (entry,) = self.runner("nan").attempt(self.tried())
        assert entry.environment is not None
        assert entry.environment.key == "key-1.0"
        assert entry.finished is not None
        assert (entry.finished.trial.repeat, entry.finished.trial.variant) == (2, TWO)

    def test_what_it_cost_stands_on_the_first_entry_alone(self):
        entries = self.runner().attempt(self.tried(variants=(TWO, TWO)))
        assert set(entries[0].seconds) == {"resolve", "build", "import", "trials"}
        assert entries[1].seconds == {}
        assert entries[0].seconds["import"] >= 0

    def test_an_untestable_release_is_one_entry_with_the_reason(self):
        (entry,) = self.runner("good", "1.0").attempt(self.tried())
        assert entry == Entry(release="1.0", untestable="1.0: no wheel for this Python")

    def test_repeats_run_in_their_order(self):
        entries = self.runner().attempt(self.tried(repeats=(3, 1)))
        assert [e.finished.trial.repeat for e in entries if e.finished] == [3, 1]

    def test_an_untestable_release_is_not_repeated(self):
        runner = self.runner("good", "1.0")
        assert len(runner.attempt(self.tried(repeats=(0, 1, 2)))) == 1

    def test_a_trial_that_turns_out_untestable_ends_the_repeats_and_keeps_those_before(self):
        class SecondRefused(TableTrials):
            def run(self, environment: Environment, case: Case, trials: Sequence[Trial]) -> Sequence[FinishedTrial]:
                if trials[0].repeat == 1:
                    raise Untestable("the canary is red")
                return super().run(environment, case, trials)

        runner = Runner(
            pool=ThreadPoolExecutor(1),
            environments=TableEnvironments(),
            trials=SecondRefused({"1.0": "good"}),
            listener=Heard(),
        )
        entries = runner.attempt(self.tried(repeats=(0, 1, 2)))
        assert [entry.untestable for entry in entries] == [None, "the canary is red"]

    def test_a_fault_of_the_machine_is_no_entry(self):
        environments = TableEnvironments({"1.0": InfrastructureError("disk full")})
        runner = Runner(pool=ThreadPoolExecutor(1), environments=environments, trials=TableTrials({}), listener=Heard())
        with pytest.raises(InfrastructureError):
            runner.attempt(self.tried())
        with pytest.raises(InfrastructureError):
            runner.run(self.tried())

    def test_waiting_for_an_attempt_gives_its_entries(self):
        runner = self.runner()
        assert [e.release for e in runner.run(self.tried())] == ["1.0"]

    def test_what_begins_is_heard_with_its_reason(self):
        heard = Heard()
        self.runner(heard=heard).attempt(self.tried())
        assert [(e.kind, e.release, e.detail) for e in heard.events] == [
            (EventKind.BUILD, "1.0", "split"),
            (EventKind.RUN, "1.0", "split"),
        ]


class TestResumable:
    COMMAND = "harness bisect identity"

    @pytest.fixture
    def begun(self, tmp_path: Path) -> RunFolders:
        return RunFolders(Home(tmp_path / "home"))

    @pytest.mark.parametrize("end", [KeyboardInterrupt(), Interrupted(), Interrupted(resume="another")])
    def test_an_interruption_says_what_is_kept_and_how_to_go_on(
        self, begun: RunFolders, tmp_path: Path, end: BaseException
    ):
        folder = tmp_path / "a run"
        with begun.begin(folder, header(CASE, timeline(["1.0", "1.1"]))) as journal:
            journal.record(Entry(release="1.0", untestable="no wheel"))
            with pytest.raises(Interrupted) as stopped, resumable(journal, self.COMMAND):
                raise end
        assert stopped.value.finished == 1
        assert stopped.value.resume == f"harness bisect identity --resume '{folder}'"
        assert stopped.value.hint == f"resume with: {stopped.value.resume}"

    @pytest.mark.parametrize(("hint", "advice"), [(None, "mend it"), ("free some space", "free some space")])
    def test_a_fault_of_the_machine_keeps_its_own_advice(
        self, begun: RunFolders, tmp_path: Path, hint: str | None, advice: str
    ):
        with (
            begun.begin(tmp_path / "run", header(CASE, timeline(["1.0"]))) as journal,
            pytest.raises(InfrastructureError, match="disk full") as failed,
            resumable(journal, self.COMMAND),
        ):
            raise InfrastructureError("disk full", hint=hint)
        assert failed.value.hint == f"{advice}; then resume with: {self.COMMAND} --resume {tmp_path / 'run'}"

    @pytest.mark.parametrize("error", [UsageError("wrong", hint="correct it"), HarnessError("ours")])
    def test_other_errors_pass_as_they_are(self, begun: RunFolders, tmp_path: Path, error: HarnessError):
        """What is wrong in the question is not cured by asking it again."""
        before = error.hint
        with (
            begun.begin(tmp_path / "run", header(CASE, timeline(["1.0"]))) as journal,
            pytest.raises(HarnessError) as failed,
            resumable(journal, self.COMMAND),
        ):
            raise error
        assert failed.value is error
        assert error.hint == before

    def test_without_any_failure_it_is_silent(self, begun: RunFolders, tmp_path: Path):
        with begun.begin(tmp_path / "run", header(CASE, timeline(["1.0"]))) as journal:
            with resumable(journal, self.COMMAND):
                journal.record(Entry(release="1.0", untestable="no wheel"))
            assert len(journal.entries()) == 1


def test_a_release_stands_for_itself_in_an_attempt():
    """The default is one run of the trials, without a reason."""
    plain = Attempt(case=CASE, release=Release(package="keras", version="1.0"), variants=(TWO,))
    assert (plain.repeats, plain.why) == ((0,), "")


class ChangingTrials(TableTrials):
    """Finds its environment changed so often, by others or by itself."""

    def __init__(self, changes: list[bool]) -> None:
        super().__init__({"1.0": "good"})
        self.changes = changes

    def run(self, environment: Environment, case: Case, trials: Sequence[Trial]) -> Sequence[FinishedTrial]:
        if self.changes:
            raise EnvironmentChanged("changed: a.py", own=self.changes.pop(0))
        return super().run(environment, case, trials)


@pytest.mark.parametrize(
    ("changes", "reason", "prepared"),
    [
        ([False], None, 2),
        ([False, False, False], None, 4),
        ([True], "changed: a.py", 1),
        ([False, True], "changed: a.py", 2),
    ],
)
def test_only_a_change_of_its_own_makes_a_release_untestable(
    changes: list[bool], reason: str | None, prepared: int
) -> None:
    environments = TableEnvironments()
    with ThreadPoolExecutor(1) as pool:
        runner = Runner(pool=pool, environments=environments, trials=ChangingTrials(changes), listener=Heard())
        (entry,) = runner.run(Attempt(case=CASE, release=release("1.0"), variants=(TWO,)))
    assert entry.untestable == reason
    assert (entry.finished is None) == (reason is not None), "what ran in a changed environment is not recorded"
    assert len(environments.prepared) == prepared


def test_what_others_change_again_and_again_is_no_fact_about_the_release() -> None:
    with ThreadPoolExecutor(1) as pool:
        trials = ChangingTrials([False] * 100)
        runner = Runner(pool=pool, environments=TableEnvironments(), trials=trials, listener=Heard())
        with pytest.raises(InfrastructureError, match="something changes"):
            runner.run(Attempt(case=CASE, release=release("1.0"), variants=(TWO,)))

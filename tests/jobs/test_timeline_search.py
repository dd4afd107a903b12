"""One search over small real fakes: every planted transition is found, and nothing that is finished is lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.domain.cases.case import Case, Level
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import HarnessError, InfrastructureError
from harness.domain.findings import assemble
from harness.domain.findings.finding import Finding
from harness.domain.findings.transition import Kind
from harness.domain.search.policy import Policy
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.verdict import Outcome
from harness.jobs.events import EventKind
from harness.jobs.executor import Runner
from harness.jobs.timeline_search import SearchRequest, course_of, run_search
from tests.examples import case, timeline
from tests.fakes import (
    TWO,
    Heard,
    MemoryJournal,
    TableEnvironments,
    TableTrials,
    header,
    untestable,
)

CASE = case()
SHOWS: dict[
    str, dict[Symptom, bool]
] = {  # what each word of a table means for each symptom: bad, good, or nothing that can be known (absent)
    "good": dict.fromkeys(Symptom, False),
    "nan": {s: s is Symptom.NONFINITE_METRIC for s in Symptom if s is not Symptom.WRONG_METRIC},
    "raises": {Symptom.EXCEPTION: True},
    "wrong": {s: s is Symptom.WRONG_METRIC for s in Symptom},
    "wrong weights": {s: s is Symptom.WRONG_WEIGHTS for s in Symptom},
    "refused": {},
    "untestable": {},
}
TABLES = st.lists(st.sampled_from(list(SHOWS)), min_size=1, max_size=7)


class Run:
    """One bisection over a table, kept with all that it touched."""

    def __init__(
        self,
        words: Sequence[str],
        *,
        about: Case = CASE,
        policy: Policy | None = None,
        jobs: int = 1,
        failures: Mapping[str, BaseException] | None = None,
        journal: MemoryJournal | None = None,
        course: tuple[tuple[str, int], ...] = (),
    ) -> None:
        self.versions = [f"1.{n}" for n in range(len(words))]
        table = dict(zip(self.versions, words, strict=True))
        blocked = untestable(*(version for version, word in table.items() if word == "untestable"))
        self.timeline = timeline(self.versions)
        self.policy = policy or Policy()
        self.about = about
        self.environments = TableEnvironments(dict[str, BaseException](blocked) | dict(failures or {}))
        self.trials = TableTrials(table)
        self.journal = journal or MemoryJournal()
        self.heard = Heard()
        self.jobs = jobs
        self.course = course

    def go(self) -> Finding:
        variant = TWO if self.about.level is Level.MODEL else Variant()
        request = SearchRequest(
            case=self.about, timeline=self.timeline, policy=self.policy, variant=variant, course=self.course
        )
        with ThreadPoolExecutor(self.jobs) as pool:
            runner = Runner(
                pool=pool,
                room=self.jobs,
                environments=self.environments,
                trials=self.trials,
                listener=self.heard,
            )
            run_search(request, runner, self.journal)
        return self.finding()

    def finding(self) -> Finding:
        made = header(self.about, self.timeline, self.policy)
        if self.about.level is Level.SCRIPT:
            made = replace(made, question=replace(made.question, replicas=1, strategy="none"))
        return assemble.compose(made, self.journal.entries())


def planted(words: Sequence[str]) -> set[tuple[str, str, str, str]]:
    """Brute force: every change between neighbours of which both say something."""
    found = set()
    for symptom in Symptom:
        known = [(f"1.{n}", SHOWS[word][symptom]) for n, word in enumerate(words) if symptom in SHOWS[word]]
        for (before, was), (after, now) in pairwise(known):
            if was is not now:
                kind = Kind.REGRESSION if now else Kind.RECOVERY
                found.add((symptom.value, kind.value, before, after))
    return found


def found(finding: Finding) -> set[tuple[str, str, str, str]]:
    return {(t.symptom.value, t.kind.value, t.last_before, t.first_after) for t in finding.transitions}


class TestSearch:
    @given(TABLES)
    def test_every_planted_transition_is_found_and_no_other(self, words):
        """Whatever happens in the releases of a timeline, the answer is what running all of them shows."""
        told = Run(words).go()
        assert found(told) == planted(words)
        assert told.conclusion.complete

    @given(TABLES, st.integers(1, 8))
    def test_a_spent_budget_states_nothing_against_the_runs(self, words, budget):
        """Each verdict is what the release shows, whatever was not run."""
        told = Run(words, policy=Policy(max_trials=budget)).go()
        for made, word in zip(told.releases, words, strict=True):
            for symptom, verdict in made.by_symptom.items():
                if verdict.outcome is not Outcome.SKIP:
                    assert SHOWS[word][symptom] is (verdict.outcome is Outcome.BAD)
        if not told.conclusion.complete:
            assert "cut short: the budget is spent" in told.conclusion.caveats[0]

    @settings(max_examples=30)
    @given(TABLES, st.integers(2, 4))
    def test_several_jobs_give_the_same_finding_as_one(self, words, jobs):
        """The order in which trials end decides nothing."""
        alone, together = Run(words).go(), Run(words, jobs=jobs).go()
        assert found(together) == found(alone)
        assert together.conclusion.answer is alone.conclusion.answer
        assert together.conclusion.sentence == alone.conclusion.sentence
        assert [(r.version, r.verdict, r.symptoms, r.reason) for r in together.releases] == [
            (r.version, r.verdict, r.symptoms, r.reason) for r in alone.releases
        ]

    @settings(max_examples=30)
    @given(TABLES, st.integers(1, 4), st.integers(1, 4))
    def test_who_goes_the_same_way_again_runs_the_same_and_no_more(self, words, jobs, others):
        """A second search that knows the first one's course makes exactly its runs, with any number of jobs."""
        first = Run(words, jobs=jobs)
        answer = first.go()
        second = Run(words, jobs=others, course=course_of(first.journal.entries()))
        assert found(second.go()) == found(answer)
        assert course_of(second.journal.entries()) == course_of(first.journal.entries())

    def test_a_course_that_leads_nowhere_leaves_the_search_as_it_is(self):
        """Runs of another timeline, or that give no verdict now, are not waited for."""
        words = ["good", "untestable", "nan"]
        led = Run(words, course=(("9.9", 0), ("1.1", 0), ("1.1", 1), ("1.2", 7)))
        assert found(led.go()) == found(Run(words).go())

    def test_the_history_of_keras_is_told_apart_by_symptom(self):
        """The MNIST CNN: an exception in one release, NaN in the next three, then good again."""
        finding = Run(["good", "raises", "nan", "nan", "nan", "good"]).go()
        assert found(finding) == {
            ("exception", "regression", "1.0", "1.1"),
            ("exception", "recovery", "1.1", "1.2"),
            ("nonfinite-metric", "regression", "1.0", "1.2"),
            ("nonfinite-metric", "recovery", "1.4", "1.5"),
        }
        (hidden,) = [t for t in finding.transitions if (t.symptom.value, t.first_after) == ("nonfinite-metric", "1.2")]
        assert [u.version for u in hidden.untested] == ["1.1"]
        assert str(hidden.untested[0].reason).startswith("hidden by exception: ValueError: aggregation MEAN")

    def test_each_side_of_a_transition_is_run_again(self):
        run = Run(["good", "good", "nan", "nan"])
        run.go()
        runs = {v: sum(t.release == v and t.variant == TWO for t in run.trials.ran) for v in run.versions}
        assert runs["1.1"] >= 2
        assert runs["1.2"] >= 2

    def test_the_budget_ends_the_search_and_what_was_not_run_is_named(self):
        run = Run(["good"] * 9, policy=Policy(max_trials=3))
        finding = run.go()
        assert sum(t.variant == TWO for t in run.trials.ran) == 3
        assert len(finding.conclusion.not_run) == 6
        assert [r.version for r in finding.releases if r.verdict is None] == list(finding.conclusion.not_run)

    def test_a_release_is_judged_against_a_reference_of_its_own(self):
        run = Run(["good", "nan"])
        run.go()
        asked = {(t.release, t.repeat, t.variant.label) for t in run.trials.ran}
        for version, repeat, label in [key for key in asked if key[2] != "reference"]:
            assert (version, repeat, "reference") in asked, label

    def test_the_listener_hears_of_building_running_and_the_verdict(self):
        run = Run(["good", "untestable", "refused", "nan"])
        run.go()
        about = {v: [e.kind for e in run.heard.events if e.release == v] for v in run.versions}
        kinds = {version: heard[:3] for version, heard in about.items()}
        assert kinds == {
            "1.0": ["build", "run", "good"],
            "1.1": ["build", "skip"],
            "1.2": ["build", "run", "skip"],
            "1.3": ["build", "run", "bad"],
        }
        details = {e.release: e.detail for e in run.heard.events if e.kind in ("bad", "skip")}
        assert details == {"1.1": "1.1: no wheel for this Python", "1.2": "needs a TPU", "1.3": "nonfinite-metric"}
        assert min(e.left for e in run.heard.events if e.left is not None) == 0

    def test_what_it_hears_is_framed_by_begin_and_end(self):
        run = Run(["good", "nan"])
        run.go()
        assert (run.heard.events[0].kind, run.heard.events[0].left) == (EventKind.BEGIN, 2)
        assert run.heard.events[-1].kind is EventKind.END


class TestUntestable:
    def test_it_becomes_one_entry_with_its_reason(self):
        run = Run(["good", "untestable", "nan"])
        finding = run.go()
        entries = [e for e in run.journal.entries() if e.release == "1.1"]
        assert [e.untestable for e in entries] == ["1.1: no wheel for this Python"]
        assert entries[0].finished is None
        assert finding.releases[1].verdict is Outcome.SKIP
        assert finding.releases[1].reason == "1.1: no wheel for this Python"
        assert run.environments.prepared.count("1.1") == 1

    def test_a_timeline_of_them_is_inconclusive(self):
        finding = Run(["untestable", "untestable"]).go()
        assert finding.conclusion.answer.value == "inconclusive"


class TestFailures:
    @pytest.mark.parametrize("jobs", [1, 3])
    def test_a_failure_of_the_machine_comes_out_and_leaves_what_is_finished(self, jobs):
        run = Run(["good", "good", "good", "nan"], jobs=jobs, failures={"1.3": InfrastructureError("disk full")})
        with pytest.raises(InfrastructureError, match="disk full"):
            run.go()
        kept = {(e.finished.trial.release, e.finished.trial.variant) for e in run.journal.entries() if e.finished}
        assert kept == {(t.release, t.variant) for t in run.trials.ran}
        assert ("1.0", TWO) in kept
        assert run.heard.events[-1].kind is EventKind.END

    def test_resuming_goes_on_where_it_stopped_and_ends_the_same(self):
        words = ["good", "good", "nan", "nan", "good"]
        broken = Run(words, failures={"1.4": InfrastructureError("disk full")})
        with pytest.raises(InfrastructureError):
            broken.go()
        resumed = Run(words, journal=broken.journal)
        finding = resumed.go()
        assert found(finding) == planted(words)
        assert not {(t.release, t.variant, t.repeat) for t in broken.trials.ran} & {
            (t.release, t.variant, t.repeat) for t in resumed.trials.ran
        }

    def test_a_finished_run_asks_for_nothing_more(self):
        first = Run(["good", "nan", "good"])
        first.go()
        again = Run(["good", "nan", "good"], journal=first.journal)
        assert again.go() == first.finding()
        assert again.trials.ran == []
        assert again.environments.prepared == []

    @pytest.mark.parametrize("lost", range(8))
    def test_a_run_that_lost_an_entry_runs_it_again_and_ends(self, lost):
        """The number of the next run was counted, one that was there came again, and the search never ended."""
        words = ["good", "good", "nan", "nan"]
        whole = Run(words)
        expected = found(whole.go())
        entries = list(whole.journal.entries())
        resumed = Run(words, journal=MemoryJournal([*entries[:lost], *entries[lost + 1 :]]))
        assert found(resumed.go()) == expected

    @settings(max_examples=30)
    @given(TABLES, st.data())
    def test_a_run_that_was_cut_anywhere_ends_as_if_it_had_not_been(self, words, data):
        """Power may fail after any entry: what a fresh process makes of the rest is the same answer."""
        whole = Run(words)
        expected = found(whole.go())
        cut = data.draw(st.integers(0, len(whole.journal.entries())))
        resumed = Run(words, journal=MemoryJournal(whole.journal.entries()[:cut]))
        assert found(resumed.go()) == expected

    def test_a_surprise_in_one_environment_is_that_release_s_skip(self):
        run = Run(["good", "nan", "nan"], failures={"1.1": HarnessError("imports another version")})
        assert [release.reason for release in run.go().releases][1] == "imports another version"


class TestScripts:
    SCRIPT = case(level=Level.SCRIPT)

    def test_a_script_speaks_for_itself(self):
        run = Run(["exit 0"], about=self.SCRIPT)
        run.go()
        assert {t.variant for t in run.trials.ran} == {Variant()}

    def test_one_that_aborts_stops_the_search_and_is_tried_again_when_resumed(self):
        """The journal keeps verdicts; an abort is none, so it must not stop every later run as well."""
        run = Run(["exit 0", "exit 139"], about=self.SCRIPT)
        with pytest.raises(InfrastructureError, match="exit code 139"):
            run.go()
        assert [e.release for e in run.journal.entries()] == ["1.0"]
        run.trials.shown["1.1"] = "exit 1"
        assert found(run.go()) == {("exception", "regression", "1.0", "1.1")}

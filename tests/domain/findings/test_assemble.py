"""Assembling: one way from the journal's entries to the answer."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.case import Case, Level
from harness.domain.cases.symptoms import Symptom
from harness.domain.findings import assemble
from harness.domain.releases.release import Exclusion, Timeline
from harness.domain.search.policy import Policy
from harness.domain.trials.crossing import Crossing
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import EndingKind, NonFinite, Stage
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import REFERENCE, Variant
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import Outcome, Verdict
from tests.examples import case, ending, observation, release, script, timeline
from tests.fakes import SHOWN, TWO, header

CASE = case()
ENVIRONMENT = Environment(key="key", executable="/python", python="3.11.7", lock=("keras==1.0",))
WORDS = [word for word in SHOWN if not word.startswith("exit")]


def entry(version: str, variant: Variant, word: str = "good", repeat: int = 0, **seconds: float) -> Entry:
    seen = observation() if variant.replicas == 1 else SHOWN[word]()
    trial = Trial(release=version, variant=variant, repeat=repeat)
    finished = FinishedTrial(trial=trial, observation=seen, seconds=1.23456)
    return Entry(release=version, environment=ENVIRONMENT, finished=finished, seconds=seconds)


def pair(version: str, word: str, repeat: int = 0) -> list[Entry]:
    return [entry(version, REFERENCE, repeat=repeat), entry(version, TWO, word, repeat=repeat)]


JOURNALS = st.lists(
    st.tuples(st.sampled_from(["1.0", "1.1", "1.2"]), st.sampled_from([*WORDS, "untestable"])), max_size=6
).map(
    lambda told: [
        one
        for repeat, (version, word) in enumerate(told)
        for one in (
            [Entry(release=version, untestable="no wheel")] if word == "untestable" else pair(version, word, repeat)
        )
    ]
)


class TestRow:
    def test_each_repeat_is_judged_against_the_reference_of_the_same_repeat(self):
        entries = [*pair("1.0", "wrong"), entry("1.0", TWO, "wrong", repeat=1)]
        first, second = assemble.row(CASE, entries, TWO).runs
        assert first[Symptom.WRONG_METRIC].outcome is Outcome.BAD
        assert str(second[Symptom.WRONG_METRIC].reason) == "there is no reference on one replica"

    def test_a_release_that_could_not_be_tested_keeps_the_reason(self):
        row = assemble.row(CASE, [Entry(release="1.0", untestable="no wheel")], TWO)
        assert (row.runs, str(row.blocked)) == ((), "no wheel")

    def test_a_run_outweighs_a_refusal_of_another_time(self):
        """A release that was once untestable and later was run is tested."""
        row = assemble.row(CASE, [Entry(release="1.0", untestable="no wheel"), *pair("1.0", "nan")], TWO)
        assert row.blocked is None
        assert len(row.runs) == 1

    def test_trials_of_other_variants_do_not_count(self):
        four = Variant(replicas=4, strategy="mirrored")
        assert not assemble.row(CASE, [entry("1.0", four, "nan")], TWO).tried

    def test_the_reference_of_a_variant_has_its_switches(self):
        switched = Variant(replicas=2, strategy="mirrored", fix="f", options=(("fault", "on"),))
        assert switched.reference == Variant(options=(("fault", "on"),))

    def test_one_observation_can_be_asked_for(self):
        entries = pair("1.0", "nan", repeat=3)
        assert assemble.observed(entries, TWO, 3) is not None
        assert assemble.observed(entries, TWO) is None


class TestHistory:
    def test_it_has_one_row_per_release_in_the_timeline_s_order(self):
        entries = [*pair("1.2", "nan"), *pair("1.0", "good")]
        rows = assemble.history(CASE, timeline(["1.0", "1.1", "1.2"]), entries, TWO)
        assert [row.tried for row in rows] == [True, False, True]

    @given(JOURNALS)
    def test_entries_of_other_releases_change_nothing(self, entries):
        """A release's row depends on its own entries alone."""
        rows = assemble.history(CASE, timeline(["1.0", "1.1", "1.2"]), entries, TWO)
        alone = [e for e in entries if e.release == "1.1"]
        assert rows[1] == assemble.history(CASE, timeline(["1.1"]), alone, TWO)[0]


class TestComplete:
    BOTH = (REFERENCE, TWO)

    def test_every_variant_needs_every_repeat(self):
        entries = [*pair("1.0", "good"), *pair("1.0", "good", repeat=1)]
        assert assemble.complete(entries, self.BOTH, 2)
        assert not assemble.complete(entries, self.BOTH, 3)
        assert not assemble.complete(entries[:-1], self.BOTH, 2)
        assert not assemble.complete(entries, (*self.BOTH, replace(TWO, fix="f")), 2)

    def test_a_release_that_cannot_be_tested_has_nothing_left_to_run(self):
        assert assemble.complete([Entry(release="1.0", untestable="no wheel")], self.BOTH, 3)

    def test_one_that_was_never_run_is_not_complete(self):
        assert not assemble.complete([], self.BOTH, 1)

    @given(st.integers(1, 4), st.sets(st.integers(0, 3)))
    def test_it_is_complete_when_no_repeat_is_missing(self, count, run):
        """A run that was torn off anywhere is gone on with, and a whole one is not run again."""
        entries = [one for repeat in run for one in pair("1.0", "good", repeat)]
        assert assemble.complete(entries, self.BOTH, count) is (set(range(count)) <= run)


class TestShows:
    def test_any_run_counts(self):
        entries = [*pair("1.0", "good"), *pair("1.0", "nan", repeat=1)]
        assert assemble.shows(CASE, entries, TWO, [Symptom.NONFINITE_METRIC])
        assert assemble.shows(CASE, entries, TWO, [])
        assert not assemble.shows(CASE, entries, TWO, [Symptom.WRONG_WEIGHTS])

    def test_nothing_shows_where_nothing_ran(self):
        assert not assemble.shows(CASE, [], TWO, [Symptom.NONFINITE_METRIC])
        assert not assemble.shows(CASE, [Entry(release="1.0", untestable="no wheel")], TWO, [])

    @given(st.lists(st.sampled_from(WORDS), max_size=4), st.sets(st.sampled_from(list(Symptom))))
    def test_it_is_what_the_verdicts_of_its_runs_say(self, words, targets):
        """Without targets every symptom is one."""
        entries = [one for repeat, word in enumerate(words) for one in pair("1.0", word, repeat)]
        bad = {s for run in assemble.row(CASE, entries, TWO).runs for s, v in run.items() if v.outcome is Outcome.BAD}
        assert assemble.shows(CASE, entries, TWO, sorted(targets)) is bool(bad & targets if targets else bad)


class TestBlocked:
    def test_the_first_reason_on_record_counts(self):
        new, old = Entry(release="1.1", untestable="no wheel"), Entry(release="1.0", untestable="yanked")
        assert assemble.blocked([*pair("1.1", "good"), new], [old]) == "no wheel"
        assert assemble.blocked(pair("1.1", "good"), [old]) == "yanked"

    def test_without_one_it_was_not_run(self):
        assert assemble.blocked() == assemble.blocked([], pair("1.0", "good")) == "not run"


class TestResult:
    def result(self, *entries: Entry, word: str | None = None):
        told = [*entries, *(pair("1.0", word) if word else [])]
        (made,) = assemble.compose(header(CASE, timeline(["1.0"])), told).releases
        return made

    def test_a_good_release_needs_no_reason(self):
        made = self.result(word="good")
        assert (made.verdict, made.symptoms, made.reason) == (Outcome.GOOD, (), "")

    def test_a_bad_one_shows_its_symptoms_and_both_numbers(self):
        made = self.result(word="nan")
        assert (made.verdict, made.symptoms) == (Outcome.BAD, (Symptom.NONFINITE_METRIC,))
        assert made.reason == "nonfinite-metric: loss is nan, first at step 125 (loss = nan)"
        assert made.reference == {"loss": 0.0873}
        assert math.isnan(made.replicas["loss"])
        assert isinstance(made.first_nonfinite, NonFinite)

    def test_the_verdict_is_about_what_was_asked_and_what_else_shows_is_told(self):
        asked = header(CASE, timeline(["1.0"]), Policy(symptoms=(Symptom.EXCEPTION,)))
        (made,) = assemble.compose(asked, pair("1.0", "nan")).releases
        assert (made.verdict, made.symptoms) == (Outcome.GOOD, ())
        assert made.reason == "beside what was asked: nonfinite-metric"
        hidden = header(CASE, timeline(["1.0"]), Policy(symptoms=(Symptom.WRONG_METRIC,)))
        (made,) = assemble.compose(hidden, pair("1.0", "nan")).releases
        assert made.verdict is Outcome.SKIP
        assert made.reason.startswith("hidden by nonfinite-metric")

    def test_one_that_was_run_and_said_nothing_says_why(self):
        """Each skip is explained, not only that of an environment that could not be had."""
        made = self.result(word="refused")
        assert (made.verdict, made.reason) == (Outcome.SKIP, "needs a TPU")

    def test_reasons_that_differ_by_symptom_are_all_told(self):
        verdicts = {
            Symptom.EXCEPTION: Verdict(outcome=Outcome.SKIP, reason=recorded("one")),
            Symptom.KILLED: Verdict(outcome=Outcome.SKIP, reason=recorded("other")),
            Symptom.TIMEOUT: Verdict(outcome=Outcome.SKIP, reason=recorded("one")),
        }
        assert assemble.why(assemble.row(CASE, pair("1.0", "refused"), TWO), verdicts) == "one; other"

    def test_an_untestable_one_has_its_reason_and_no_verdict_by_symptom(self):
        made = self.result(Entry(release="1.0", untestable="no wheel"))
        assert (made.verdict, made.reason, made.by_symptom) == (Outcome.SKIP, "no wheel", {})

    def test_one_that_was_not_run_has_no_verdict(self):
        made = self.result()
        assert (made.verdict, made.reason, made.trials, made.environment) == (None, "", (), None)

    def test_its_trials_are_listed_as_they_ended(self):
        raised = Entry(
            release="1.0",
            environment=ENVIRONMENT,
            finished=FinishedTrial(
                trial=Trial(release="1.0", variant=TWO, repeat=1),
                observation=observation(ending=ending(EndingKind.RAISED, Stage.TRAIN)),
                seconds=2.0,
                cached=True,
            ),
        )
        listed = self.result(*pair("1.0", "good"), raised).trials
        assert [(t.variant, t.repeat, t.ended, t.seconds, t.cached) for t in listed] == [
            ("reference", 0, "finished", 1.235, False),
            ("2 replicas", 0, "finished", 1.235, False),
            ("2 replicas", 1, "raised", 2.0, True),
        ]

    @pytest.mark.parametrize(("day", "date"), [(31, "2024-02-01"), (None, None)])
    def test_its_date_is_a_day(self, day, date):
        dated = Timeline(releases=(release("1.0", day=day),))
        assert assemble.compose(header(CASE, dated), []).releases[0].released == date


class TestFinding:
    def test_time_is_summed_by_phase_and_begins_with_the_index(self):
        entries = [entry("1.0", REFERENCE, build=1.0, trials=0.25), entry("1.0", TWO, build=2.0004)]
        assert assemble.timing(header(CASE, timeline(["1.0"])), entries) == {"index": 0.5, "build": 3.0, "trials": 0.25}

    def test_locks_are_kept_by_environment(self):
        assert assemble.locks([*pair("1.0", "good"), Entry(release="1.1", untestable="no wheel")]) == {
            "key": ("keras==1.0",)
        }

    def test_it_is_about_the_variant_that_was_asked_for(self):
        """Trials with other switches in the same journal say nothing about it."""
        begun = header(CASE, timeline(["1.0"]))
        asked = replace(begun, question=replace(begun.question, options=(("fault", "on"),)))
        switched = replace(TWO, options=(("fault", "on"),))
        entries = [*pair("1.0", "good"), entry("1.0", switched, "nan")]
        assert assemble.compose(asked, entries).releases[0].verdict is Outcome.BAD
        assert assemble.compose(begun, entries).releases[0].verdict is Outcome.GOOD

    def test_what_the_timeline_left_out_is_in_it(self):
        line = timeline(["1.0"], excluded=(Exclusion(release=release("1.0rc1"), reason="pre-release"),))
        (left_out,) = assemble.compose(header(CASE, line), []).excluded
        assert (left_out.version, str(left_out.reason)) == ("1.0rc1", "pre-release")

    @given(JOURNALS)
    def test_the_same_journal_always_gives_the_same_finding(self, entries):
        """Reports can be written again at any time, from the journal alone."""
        made = header(CASE, timeline(["1.0", "1.1", "1.2"]))
        assert assemble.compose(made, entries) == assemble.compose(made, entries)

    @given(JOURNALS)
    def test_every_skip_and_every_bad_release_is_explained(self, entries):
        """No report can show a verdict other than good without a reason."""
        for made in assemble.compose(header(CASE, timeline(["1.0", "1.1", "1.2"])), entries).releases:
            assert bool(made.reason) == (made.verdict in (Outcome.BAD, Outcome.SKIP))
            assert bool(made.symptoms) == (made.verdict is Outcome.BAD)


class TestFolded:
    @given(JOURNALS, st.data())
    def test_entries_one_by_one_give_what_all_at_once_give(self, entries, data) -> None:
        """In pieces of any size, with a release outside of the timeline: every state is that of `row`."""
        line = timeline(["1.0", "1.1"])
        folded = assemble.Folded(CASE, line, TWO)
        while folded.taken < len(entries):
            size = data.draw(st.integers(1, 4))
            folded.take(entries[folded.taken : folded.taken + size])
            done = assemble.group(entries[: folded.taken])
            rows = [assemble.row(CASE, done.get(release.version, []), TWO) for release in line.releases]
            assert list(folded.states) == rows
        assert list(folded.states) == list(assemble.history(CASE, line, entries, TWO))

    @pytest.mark.parametrize(("there", "following"), [((), 0), ((0, 1), 2), ((1,), 0), ((0, 2, 3), 1)])
    def test_the_next_run_has_the_lowest_number_that_is_free(self, there, following) -> None:
        """A damaged journal may lack one in between; counting them gave a number that was there already."""
        folded = assemble.Folded(CASE, timeline(["1.0", "1.1"]), TWO)
        folded.take([one for repeat in there for one in pair("1.1", "good", repeat)])
        assert folded.next_repeat(1) == following
        assert folded.next_repeat(0) == 0


class TestBaseline:
    """The value that is right comes from a release; every other release is judged against it."""

    ABOUT = case(level=Level.SCRIPT, value="loss (.*)")
    LINE = timeline(["1.0", "1.1", "1.2"])

    def told(self, version: str, text: str, repeat: int = 0) -> Entry:
        trial = Trial(release=version, variant=REFERENCE, repeat=repeat)
        finished = FinishedTrial(trial=trial, observation=script(0, output=text), seconds=1.0)
        return Entry(release=version, environment=ENVIRONMENT, finished=finished)

    def shown(self, about: Case, entries: list[Entry]) -> list[Outcome | None]:
        states = assemble.history(about, self.LINE, entries, REFERENCE)
        found = [state.verdict(Symptom.CHANGED_VALUE) for state in states]
        return [None if verdict is None else verdict.outcome for verdict in found]

    def test_it_is_the_oldest_one_with_a_value_in_whatever_order_they_are_run(self):
        entries = [self.told("1.2", "loss 2"), self.told("1.1", "loss 1"), self.told("1.0", "none")]
        for order in permutations(entries):
            assert self.shown(self.ABOUT, list(order)) == [Outcome.SKIP, Outcome.GOOD, Outcome.BAD]
            folded = assemble.Folded(self.ABOUT, self.LINE, REFERENCE)
            for one in order:
                folded.take([one])
            assert list(folded.states) == list(
                assemble.history(self.ABOUT, self.LINE, sorted(order, key=lambda e: e.release), REFERENCE)
            )

    def test_it_is_the_one_that_the_case_names_inside_the_timeline_or_outside(self):
        entries = [self.told("1.0", "loss 1"), self.told("1.1", "loss 2"), self.told("0.9", "loss 2")]
        for name in ("1.1", "0.9"):
            assert self.shown(replace(self.ABOUT, reference=name), entries) == [Outcome.BAD, Outcome.GOOD, None]

    def test_nothing_is_good_or_bad_before_that_one_was_run(self):
        about = replace(self.ABOUT, reference="0.9")
        assert self.shown(about, [self.told("1.0", "loss 1")]) == [Outcome.SKIP, None, None]

    def test_the_first_repeat_with_a_value_counts(self):
        entries = [self.told("1.0", "none"), self.told("1.0", "loss 1", 1), self.told("1.0", "loss 2", 2)]
        found = assemble.baseline_of(self.ABOUT, (), [entries], REFERENCE)
        assert found is not None
        assert found.output == "loss 1"

    def test_a_crossing_is_compared_with_it_too(self):
        crossing = Crossing(release="1.1", companions_of="1.0")
        crossed = replace(self.told("1.1", "loss 1"), release=crossing.label, crossing=crossing)
        sides = [
            replace(self.told(version, text), environment=replace(ENVIRONMENT, key=version, lock=("keras==1", pin)))
            for version, text, pin in (("1.0", "loss 1", "np==1"), ("1.1", "loss 2", "np==2"))
        ]
        crossed = replace(crossed, environment=sides[0].environment)
        run = header(self.ABOUT, self.LINE, Policy(confirmations=1))
        run = replace(run, question=replace(run.question, replicas=1, strategy="none"))
        (found,) = assemble.compose(run, [*sides, crossed]).transitions
        assert found.confounding is not None
        assert found.confounding.short == "it is np"

    def test_the_results_say_each_value(self):
        run = header(self.ABOUT, self.LINE, Policy())
        run = replace(run, question=replace(run.question, replicas=1, strategy="none"))
        entries = [self.told("1.0", "loss 1"), self.told("1.1", "none")]
        assert [r.value for r in assemble.compose(run, entries).releases] == ["1", "", ""]


class TestCompanions:
    """Where a release ran beside other companions than the reference set, and what that asks for."""

    OLD, NEW = ("np==1",), ("np==2",)

    def run(self, policy: Policy | None = None, mode: str = "fixed"):
        made = header(CASE, timeline(["1.0", "1.1"]), policy)
        return replace(made, setting=replace(made.setting, lock=self.NEW, mode=mode, named=("np",)))

    def entries(self):
        sides = [("1.0", "good", self.OLD), ("1.1", "nan", ())]
        return [
            replace(one, environment=replace(ENVIRONMENT, key=version, lock=("keras==1.0", *lock)))
            for version, word, lock in sides
            for repeat in range(5)
            for one in pair(version, word, repeat)
        ]

    def test_what_moved_is_told_of_the_release_and_of_the_transition(self):
        finding = assemble.compose(self.run(), self.entries())
        assert [list(map(str, one.moved)) for one in finding.releases] == [
            ["np 1 instead of 2, although asked for by name"],
            [],
        ]
        assert [t.confounding and t.confounding.short for t in finding.transitions] == [
            "the release and np cannot be parted here"
        ]
        assert "(companions moved too: the release and np cannot be parted here)" in finding.conclusion.sentence

    def test_as_of_mode_has_no_reference_set(self):
        finding = assemble.compose(self.run(mode="as-of"), self.entries())
        assert [one.moved for one in finding.releases] == [(), ()]

    def test_a_finished_search_asks_for_crossings_and_one_cut_short_does_not(self):
        wanted, count = assemble.crossings_wanted(self.run(), self.entries())
        assert ([one.label for one in wanted], count) == (
            ["1.0 with the companions of 1.1", "1.1 with the companions of 1.0"],
            2,
        )
        assert assemble.crossings_wanted(self.run(Policy(max_trials=1)), self.entries()[:2]) == ([], 0)

    def test_a_crossing_is_no_run_of_its_release(self):
        (crossing, _), _ = assemble.crossings_wanted(self.run(), self.entries())
        extra = [replace(one, release=crossing.label, crossing=crossing) for one in pair("1.0", "nan")]
        extra = [replace(one, environment=replace(ENVIRONMENT, lock=("keras==1.0", *self.NEW))) for one in extra]
        before, after = (assemble.compose(self.run(), [*self.entries(), *more]) for more in ([], extra))
        assert after.releases == before.releases
        assert [t.confounding and t.confounding.short for t in after.transitions] == ["it is np"]

    def test_the_companions_of_a_release_are_its_own_or_the_shared_ones(self):
        versions = ("1.0", "1.1", "9.9")
        found = [assemble.locked_companions(self.run(), self.entries(), version) for version in versions]
        assert found == [self.OLD, self.NEW, ()]


class TestWhatEveryEnvironmentLacks:
    def lacking(self, version: str) -> Entry:
        raised = ending(
            EndingKind.RAISED, Stage.BUILD, exception="ModuleNotFoundError", message="No module named 'packaging'"
        )
        seen = observation({}, weights=None, ending=raised)
        trial = Trial(release=version, variant=TWO)
        return Entry(release=version, finished=FinishedTrial(trial=trial, observation=seen, seconds=1.0))

    def test_it_is_no_symptom_of_any_release(self):
        entries = [self.lacking("1.0"), Entry(release="1.1", untestable="no wheel"), self.lacking("1.3")]
        found = assemble.compose(header(CASE, timeline(["1.0", "1.1", "1.2", "1.3"])), entries)
        assert [release.verdict for release in found.releases] == [Outcome.SKIP, Outcome.SKIP, None, Outcome.SKIP]
        assert (found.lacks, found.transitions) == ("packaging", ())
        assert "try --with 'packaging>=20'" in found.releases[0].reason
        assert found.releases[1].reason == "no wheel"

    def test_one_release_that_runs_makes_it_the_symptom_of_the_others(self):
        entries = [self.lacking("1.0"), self.lacking("1.1"), *pair("1.2", "good")]
        found = assemble.compose(header(CASE, timeline(["1.0", "1.1", "1.2"])), entries)
        assert (found.lacks, found.releases[0].verdict) == ("", Outcome.BAD)

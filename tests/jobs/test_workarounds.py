"""Remedies and claims over the protocols: what is run, what is recorded, what it says."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from harness.domain.cases.case import Case, Claim, Workaround
from harness.domain.errors import UsageError
from harness.domain.fixes.claims import ClaimResult
from harness.domain.fixes.workarounds import Effect, WorkaroundReport
from harness.domain.trials.observation import Observation
from harness.domain.trials.trial import Trial
from harness.jobs import workarounds
from harness.jobs.workarounds import CHUNK, Measurement
from tests.examples import case, release, timeline
from tests.fakes import SHOWN, Heard, MemoryJournal, TableEnvironments, TableTrials, header, untestable

FAULT = {"fault": "nan"}
CASE = case(
    parameters={"fault": ("none", "nan"), "remedy": ("none", "cures", "hides", "nothing")},
    workarounds=tuple(
        Workaround(name=name, title=f"it {name}", options={"remedy": name}, against=FAULT)
        for name in ("cures", "hides", "nothing")
    ),
    claims=(
        Claim(says="the fault gives NaN", predicts="nonfinite-metric", options=FAULT),
        Claim(says="1.0 is not affected", predicts="good", release="1.0", options=FAULT),
        Claim(says="0.1 was never published", predicts="good", release="0.1"),
        Claim(says="a TPU helps", untestable="there is no TPU here"),
        Claim(says="without the fault nothing is wrong", predicts="good"),
    ),
)
TABLE = {"": "good", "nan": "nan", "nan cures": "good", "nan hides": "wrong", "nan nothing": "nan"}
"""What shows, by fault and remedy."""


class SwitchedTrials(TableTrials):
    """The table is read by the settings; on one replica a fault shows as on two."""

    def __init__(self, table: Mapping[str, str] = TABLE) -> None:
        super().__init__({})
        self.table = table

    def _observe(self, case: Case, trial: Trial) -> Observation:
        options = dict(trial.variant.options)
        on = [options.get(name, "none") for name in ("fault", "remedy")]
        word = self.table[" ".join(value for value in on if value != "none")]
        if word == "wrong" and trial.variant.replicas == 1:
            word = "good"
        return SHOWN[word]()


def survey(**changes: object) -> Measurement:
    given = {"case": CASE, "releases": (release("1.1"),), "claimed": (release("1.0"),), "counts": (1, 2)}
    return Measurement(**{**given, **changes})  # type: ignore[arg-type]


def measured(
    asked: Measurement, trials: SwitchedTrials, journal: MemoryJournal, environments: TableEnvironments | None = None
) -> WorkaroundReport:
    workarounds.measure(asked, environments or TableEnvironments(), trials, journal, Heard())
    return workarounds.compose(header(CASE, timeline(["1.0", "1.1"])), asked, journal.entries())


class TestRemedies:
    def test_one_row_per_remedy_one_cell_per_release_and_count(self):
        report = measured(survey(), SwitchedTrials(), MemoryJournal())
        told = {row.remedy.name: [(c.replicas, c.cured, c.right) for c in row.cells] for row in report.rows}
        assert told == {
            "cures": [(1, Effect.YES, Effect.YES), (2, Effect.YES, Effect.YES)],
            "hides": [(1, Effect.YES, Effect.YES), (2, Effect.YES, Effect.NO)],
            "nothing": [(1, Effect.NO, Effect.NO), (2, Effect.NO, Effect.NO)],
        }

    def test_a_release_that_cannot_be_tested_says_why_in_every_cell(self):
        environments = TableEnvironments(untestable("1.1"))
        report = measured(survey(claimed=()), SwitchedTrials(), MemoryJournal(), environments)
        cells = [cell for row in report.rows for cell in row.cells]
        assert {(c.cured, c.graded.reason) for c in cells} == {(Effect.OPEN, "1.1: no wheel for this Python")}
        assert environments.prepared == ["1.1"] * len(environments.prepared)

    def test_the_reference_shown_is_that_of_the_remedy(self):
        """The fault's own reference may be NaN; what the remedied values are held against is what counts."""
        (row, *_) = measured(survey(), SwitchedTrials(), MemoryJournal()).rows
        assert row.cells[1].graded.reference == {"loss": 0.0873}


class TestClaims:
    def test_each_is_answered_with_its_evidence(self):
        report = measured(survey(), SwitchedTrials(), MemoryJournal())
        assert [(one.claim.says, one.answer.value) for one in report.claims] == [
            ("the fault gives NaN", "supported"),
            ("1.0 is not affected", "refuted"),
            ("0.1 was never published", "not testable here"),
            ("a TPU helps", "not testable here"),
            ("without the fault nothing is wrong", "supported"),
        ]
        assert report.claims[2].reason == "0.1, 2 replicas: keras has no release 0.1"
        assert report.claims[1].evidence[0].trial == "2 replicas, fault=nan"

    def test_on_one_replica_only_a_claim_about_values_has_a_reference(self):
        health = Claim(says="s", predicts="good", replicas=1, options=FAULT)
        values = Claim(says="s", predicts="wrong-metric", replicas=1, options=FAULT)
        assert workarounds.pair(CASE, health)[0] is None
        reference, own = workarounds.pair(CASE, values)
        assert reference is not None
        assert (dict(reference.options)["fault"], dict(own.options)["fault"]) == ("none", "nan")

    def test_settings_that_the_case_does_not_have_are_told(self):
        with pytest.raises(UsageError, match="has no parameter 'falut'"):
            workarounds.pair(CASE, Claim(says="s", predicts="good", options={"falut": "nan"}))

    def test_a_claim_of_an_untestable_release_says_why(self):
        report = measured(survey(), SwitchedTrials(), MemoryJournal(), TableEnvironments(untestable("1.0")))
        assert report.claims[1].answer is ClaimResult.NOT_TESTABLE
        assert report.claims[1].reason == "1.0, 2 replicas, fault=nan: 1.0: no wheel for this Python"


class TestRuns:
    def test_each_trial_runs_once(self):
        trials = SwitchedTrials()
        measured(survey(), trials, MemoryJournal())
        assert len(trials.ran) == len(set(trials.ran))

    def test_a_claimed_release_runs_its_claims_alone(self):
        trials = SwitchedTrials()
        measured(survey(), trials, MemoryJournal())
        assert {t.variant.options for t in trials.ran if t.release == "1.0"} == {(("fault", "nan"),)}

    def test_a_torn_run_goes_on_where_it_stopped(self):
        """What the journal holds is not run again, and the answer is the same."""
        whole, journal = SwitchedTrials(), MemoryJournal()
        report = measured(survey(), whole, journal)
        torn, rest = MemoryJournal(journal.entries()[: CHUNK - 1]), SwitchedTrials()
        assert measured(survey(), rest, torn).rows == report.rows
        assert len(rest.ran) == len(whole.ran) - (CHUNK - 1)

    def test_nothing_left_runs_nothing(self):
        journal, again = MemoryJournal(), SwitchedTrials()
        measured(survey(), SwitchedTrials(), journal)
        measured(survey(), again, journal)
        assert again.ran == []

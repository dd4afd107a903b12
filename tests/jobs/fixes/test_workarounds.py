"""Workarounds and claims over the protocols: what is run, what is recorded, what it says."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from harness.domain.cases.case import Case, Claim, Level, Workaround
from harness.domain.errors import InfrastructureError, Interrupted, UsageError
from harness.domain.fixes.claims import ClaimResult
from harness.domain.fixes.workarounds import Effect, WorkaroundReport
from harness.domain.trials.observation import Observation
from harness.domain.trials.trial import Trial
from harness.jobs.events import EventKind
from harness.jobs.executor import Runner
from harness.jobs.fixes import workarounds
from harness.jobs.fixes.workarounds import CHUNK, Measurement, measure_workarounds
from harness.jobs.requests import WorkaroundsRequest
from tests.examples import case, release, timeline
from tests.fakes import SHOWN, FakeServices, Heard, MemoryJournal, TableEnvironments, TableTrials, header, untestable

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
"""What shows, by fault and workaround."""


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
    asked: Measurement,
    trials: SwitchedTrials,
    journal: MemoryJournal,
    environments: TableEnvironments | None = None,
    heard: Heard | None = None,
    jobs: int = 1,
) -> WorkaroundReport:
    with ThreadPoolExecutor(jobs) as pool:
        runner = Runner(
            pool=pool,
            room=jobs,
            environments=environments or TableEnvironments(),
            trials=trials,
            listener=heard or Heard(),
        )
        workarounds.measure(asked, runner, journal)
    return workarounds.compose(header(CASE, timeline(["1.0", "1.1"])), asked, journal.entries())


class TestWorkarounds:
    def test_one_row_per_workaround_one_cell_per_release_and_count(self):
        report = measured(survey(), SwitchedTrials(), MemoryJournal())
        effects = {row.remedy.name: [(c.replicas, c.cured, c.right) for c in row.cells] for row in report.rows}
        assert effects == {
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

    def test_the_reference_shown_is_that_of_the_workaround(self):
        """The fault's own reference may be NaN; what the values with the workaround are held against is what counts."""
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

    def test_a_script_is_held_against_nothing_and_chooses_its_replicas(self):
        script = replace(CASE, level=Level.SCRIPT, replicas=1)
        against, own = workarounds.pair(script, Claim(says="s", predicts="good", options=FAULT))
        assert (against, own.replicas, dict(own.options)) == (None, 1, FAULT)

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

    def test_several_jobs_give_the_same_answers_as_one(self):
        alone = measured(survey(), SwitchedTrials(), MemoryJournal())
        together = measured(survey(), SwitchedTrials(), MemoryJournal(), jobs=3)
        assert repr((together.rows, together.claims)) == repr((alone.rows, alone.claims))

    def test_what_happens_is_heard(self):
        heard = Heard()
        measured(survey(), SwitchedTrials(), MemoryJournal(), heard=heard)
        assert (heard.events[0].kind, heard.events[0].left) == (EventKind.BEGIN, 2)
        assert heard.events[-1].kind is EventKind.END
        assert [e.left for e in heard.events if e.kind is EventKind.DONE][-1] == 0


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeServices:
    monkeypatch.chdir(tmp_path)
    return FakeServices(tmp_path, [CASE], [release("1.0"), release("1.1")], SwitchedTrials())


def request(folder: Path, **changes: object) -> WorkaroundsRequest:
    given: dict[str, object] = {"case": "identity", "jobs": 1, "output": folder / "run"}
    return WorkaroundsRequest(**{**given, **changes})  # type: ignore[arg-type]


class TestJob:
    def test_the_latest_release_is_measured_and_those_of_the_claims(self, world: FakeServices, tmp_path: Path):
        report, folder = measure_workarounds(world, request(tmp_path), Heard())
        assert world.reports.measured == {folder: report}
        assert (report.versions, report.counts) == (("1.1",), (1, 2))
        assert set(world.built.prepared) == {"1.0", "1.1"}
        assert report.reproduce == "harness workarounds identity --release 1.1"
        assert report.question.fixes == ("remedies and claims on 1, 2 replicas",)

    def test_releases_and_replicas_are_those_asked_for(self, world: FakeServices, tmp_path: Path):
        report, _ = measure_workarounds(
            world, request(tmp_path, releases=("1.1", "1.0", "1.1"), replicas=(2, 4, 2)), Heard()
        )
        assert (report.versions, report.counts) == (("1.0", "1.1"), (2, 4))
        assert (report.question.first, report.question.last, report.question.replicas) == ("1.0", "1.1", 4)

    @pytest.mark.parametrize("end", [KeyboardInterrupt(), Interrupted(), InfrastructureError("disk full")])
    def test_what_is_finished_is_kept_and_the_way_to_go_on_is_told(
        self, world: FakeServices, tmp_path: Path, end: BaseException
    ):
        world.built.failures["1.0"] = end
        command = f"harness workarounds identity --release 1.1 --resume {tmp_path / 'run'}"
        with pytest.raises((Interrupted, InfrastructureError)) as stopped:
            measure_workarounds(world, request(tmp_path), Heard())
        assert isinstance(stopped.value, Interrupted | InfrastructureError)
        assert stopped.value.hint is not None
        assert stopped.value.hint.endswith(f"resume with: {command}")
        world.built.failures.clear()
        before, world.table.ran = set(world.table.ran), []
        assert before
        report, _ = measure_workarounds(world, request(tmp_path, output=None, resume=tmp_path / "run"), Heard())
        assert not before & set(world.table.ran)
        assert [one.answer.value for one in report.claims][:2] == ["supported", "refuted"]

    def test_companions_that_do_not_fit_the_claims_are_those_of_the_releases_asked_for(
        self, world: FakeServices, tmp_path: Path
    ):
        world.boundary, heard = "tensorflow 2.16 fits up to 1.0", Heard()
        measure_workarounds(world, request(tmp_path), heard)
        assert [e.detail for e in heard.events if e.kind is EventKind.WARNING] == [
            "no companions fit the releases of all claims",
            "tensorflow 2.16 fits up to 1.0",
        ]
        assert len(world.chosen) == 2


class TestRefused:
    def test_a_case_with_nothing_to_measure(self, world: FakeServices, tmp_path: Path):
        world.shelf.cases["identity"] = replace(CASE, workarounds=(), claims=())
        with pytest.raises(UsageError, match="no workarounds and no claims") as refused:
            measure_workarounds(world, request(tmp_path), Heard())
        assert "NAME.claims.toml" in (refused.value.hint or "")

    def test_a_script_on_replicas_that_it_does_not_choose(self, world: FakeServices, tmp_path: Path):
        world.shelf.cases["identity"] = replace(CASE, level=Level.SCRIPT)
        with pytest.raises(UsageError, match="a script runs on the replicas that it chooses"):
            measure_workarounds(world, request(tmp_path, replicas=(2,)), Heard())

    @pytest.mark.parametrize(
        "wrong",
        [
            {"workarounds": (Workaround(name="w", title="t", options={"remdy": "cures"}),)},
            {"claims": (Claim(says="s", predicts="good", options={"falut": "nan"}),)},
        ],
    )
    def test_wrong_settings_before_anything_is_built(self, world: FakeServices, tmp_path: Path, wrong):
        world.shelf.cases["identity"] = replace(CASE, **wrong)
        world.index.published.clear()
        with pytest.raises(UsageError, match="has no"):
            measure_workarounds(world, request(tmp_path), Heard())
        assert world.built.prepared == []

    def test_an_unknown_release_by_its_option(self, world: FakeServices, tmp_path: Path):
        with pytest.raises(UsageError, match="is not on the index") as refused:
            measure_workarounds(world, request(tmp_path, releases=("0.5",)), Heard())
        assert refused.value.where == "--release"

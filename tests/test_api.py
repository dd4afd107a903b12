"""The Python interface gives what the command line gives: the same finding, the same files, the same refusals."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import harness
from harness import BisectRequest, ReleasesRequest, ReportRequest, ReproduceRequest, TrialRequest, codec
from harness.api import AnswerWarning, Warn
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from harness.domain.findings.finding import Finding
from harness.domain.verdicts.verdict import Outcome
from harness.jobs.events import Event, EventKind
from harness.reporting.bisection import json_report
from tests.fakes import Heard
from tests.local_index import LocalIndex
from tests.toy_runs import Harness, repro, words_of


def test_every_name_that_is_offered_is_there():
    for name in harness.__all__:
        assert callable(getattr(harness, name)), name


def test_another_name_is_no_name_of_the_package():
    with pytest.raises(AttributeError, match="no attribute 'bisection_of'"):
        _ = harness.bisection_of


def test_a_search_gives_the_finding_of_its_report(warm: LocalIndex, tmp_path: Path, harness_run: Harness):
    case = repro(tmp_path)
    heard = Heard()
    request = BisectRequest(case=str(case.path), first="1.3", last="2.0", output=tmp_path / "run", jobs=1)
    finding = harness.bisect(request, listener=heard)
    assert isinstance(finding, Finding)
    assert [(t.kind.value, t.last_before, t.first_after) for t in finding.transitions] == [
        ("recovery", "1.3", "1.4"),
        ("regression", "1.4", "2.0"),
    ]
    assert finding.folder == tmp_path / "run"
    written = codec.loads(Finding, (finding.folder / "report.json").read_bytes())
    assert json_report.json_text(written) == json_report.json_text(finding)
    kinds = [event.kind for event in heard.events]
    assert kinds[0] is EventKind.BEGIN
    assert kinds[-1] is EventKind.END
    same = harness_run(*words_of(case, "1.3", "2.0", "--output", tmp_path / "cli", "--jobs", "1"))
    assert same.transitions == [(t.kind.value, t.last_before, t.first_after) for t in finding.transitions]


def test_an_answer_shows_itself_as_tables(warm: LocalIndex, tmp_path: Path):
    case = repro(tmp_path)
    finding = harness.bisect(BisectRequest(case=str(case.path), first="1.3", last="1.4", output=tmp_path / "run"))
    page = finding._repr_html_()
    assert "<td>1.3</td>" in page
    assert f"<p>{finding.conclusion.sentence.replace('->', '-&gt;')}</p>" in page
    again = harness.report(ReportRequest(run=tmp_path / "run"))
    assert again._repr_html_() == page
    same = harness.reproduce(ReproduceRequest(run=tmp_path / "run", release="1.4"))
    assert same.same_numbers
    assert "Numbers: the same." in same._repr_html_()


def test_one_release_and_the_list_of_all(warm: LocalIndex, tmp_path: Path):
    case = repro(tmp_path)
    result = harness.run(TrialRequest(case=str(case.path), release="1.3"))
    assert result.verdicts[Symptom.EXCEPTION].outcome is Outcome.BAD
    assert "toykeras 1.3" in result._repr_html_()
    listing = harness.releases(ReleasesRequest(package="toykeras", first="1.3", last="1.4"))
    assert [release.version for release in listing.releases] == ["1.3", "1.4"]
    assert "<td>1.4</td>" in listing._repr_html_()


def test_it_runs_outside_the_main_thread(warm: LocalIndex, tmp_path: Path):
    """Only the main thread may set the handlers of signals."""
    case, found = repro(tmp_path), []
    request = TrialRequest(case=str(case.path), release="1.4")
    thread = threading.Thread(target=lambda: found.append(harness.run(request)))
    thread.start()
    thread.join()
    assert len(found) == 1


def test_a_wrong_request_is_refused_when_it_is_made():
    with pytest.raises(UsageError, match="pins nothing"):
        BisectRequest(case="identity", pins=("tensorflow",))


def test_an_unknown_case_is_refused_with_near_names(warm: LocalIndex):
    with pytest.raises(UsageError) as refusal:
        harness.bisect(BisectRequest(case="identiti"))
    assert refusal.value.hint is not None
    assert refusal.value.hint.startswith("did you mean identity")


def test_without_a_listener_what_may_bend_the_answer_is_a_warning():
    with pytest.warns(AnswerWarning, match="the page is old"):
        Warn().notify(Event(kind=EventKind.WARNING, detail="the page is old"))
    Warn().notify(Event(kind=EventKind.BUILD, release="1.0"))

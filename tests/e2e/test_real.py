"""The regression itself, found again on real Keras."""

from __future__ import annotations

import jsonschema
import pytest

from harness.reporting.bisection import json_report
from tests.e2e.running import harness

pytestmark = [pytest.mark.real, pytest.mark.timeout(3600)]

QUESTION = ("bisect", "identity", "--from", "3.6.0", "--to", "3.10.0")


@pytest.fixture(scope="module")
def first(tmp_path_factory):
    return harness(*QUESTION, output=tmp_path_factory.mktemp("first") / "run")


def changes(report, symptom):
    found = [t for t in report["transitions"] if t["symptom"] == symptom]
    return [(t["kind"], t["last_before"], t["first_after"]) for t in found]


def test_both_edges_of_the_nan_are_found_and_confirmed(first):
    code, report, _ = first
    assert code == 0
    assert changes(report, "nonfinite-metric") == [
        ("regression", "3.6.0", "3.7.0"),
        ("recovery", "3.9.2", "3.10.0"),
    ]
    assert all(t["confirmed"] and t["confidence"] >= 0.99 for t in report["transitions"])


def test_the_gradient_is_a_regression_of_its_own(first):
    """3.6.0 and 3.7.0 have twice the gradient; it ends two releases before the NaN does."""
    _, report, _ = first
    assert changes(report, "wrong-weights") == [("recovery", "3.7.0", "3.8.0")]


def test_a_metric_behind_nan_is_neither_right_nor_wrong(first):
    _, report, _ = first
    verdicts = {r["version"]: r["by_symptom"].get("wrong-metric", {}).get("outcome") for r in report["releases"]}
    assert (verdicts["3.6.0"], verdicts["3.7.0"], verdicts["3.9.2"], verdicts["3.10.0"]) == (
        "bad",
        "skip",
        "skip",
        "good",
    )
    assert changes(report, "wrong-metric") == [("recovery", "3.6.0", "3.10.0")]


def test_no_other_symptom_shows(first):
    _, report, _ = first
    assert {t["symptom"] for t in report["transitions"]} == {"nonfinite-metric", "wrong-metric", "wrong-weights"}


def test_the_numbers_are_those_that_were_measured(first):
    _, report, _ = first
    released = {r["version"]: r for r in report["releases"]}
    assert {f"{r['reference']['loss']:.5f}" for r in released.values()} == {f"{0.08486:.5f}"}
    assert {released[v]["first_nonfinite"]["step"] for v in ("3.7.0", "3.9.2")} == {125}


def test_the_report_is_what_the_schema_says(first):
    jsonschema.validate(first[1], json_report.schema())


def trials(report):
    return {(r["version"], t["variant"], t["repeat"]): t["cached"] for r in report["releases"] for t in r["trials"]}


def test_a_second_run_runs_nothing_again(first, tmp_path):
    """With several jobs the order in which they end decides which edge is repeated once more, so a trial may be new;
    none that was finished is run again, and the answer is the same.
    """
    code, report, _ = harness(*QUESTION, output=tmp_path / "run")
    assert code == 0
    before, after = trials(first[1]), trials(report)
    assert [key for key in before if key in after and not after[key]] == []
    assert len(set(after) - set(before)) <= len(before) // 4
    found = [{k: t[k] for k in ("symptom", "kind", "last_before", "first_after")} for t in report["transitions"]]
    assert found == [{k: t[k] for k in found[0]} for t in first[1]["transitions"]]
    assert report["question"] == first[1]["question"]

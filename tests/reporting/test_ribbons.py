"""One ribbon per symptom over a common axis."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.evidence import Place
from harness.domain.findings.transition import Untested
from harness.domain.verdicts.reasons import recorded
from harness.reporting import ribbons
from harness.reporting.ribbons import State, by_reason, cell, columns
from tests.reporting import examples

FINDING = examples.everyday()
RESULTS = {release.version: release for release in FINDING.releases}


@pytest.mark.parametrize(
    ("version", "symptom", "state"),
    [
        ("3.5.0", Symptom.NONFINITE_METRIC, State.GOOD),
        ("3.8.0", Symptom.NONFINITE_METRIC, State.BAD),
        ("3.8.0", Symptom.WRONG_METRIC, State.HIDDEN),
        ("3.7.0", Symptom.WRONG_METRIC, State.SKIP),
        ("3.9.0", Symptom.WRONG_METRIC, State.NOT_RUN),
        ("3.9.1", Symptom.WRONG_METRIC, State.SKIP),
        ("3.9.1", None, State.SKIP),
        ("3.8.0", None, State.BAD),
    ],
)
def test_what_a_cell_says(version, symptom, state):
    assert cell(Place(version=version), RESULTS[version], symptom)[0] is state


def test_what_was_yanked_or_is_not_known():
    assert cell(Place(version="1", yanked="broken", tried=False), None, None) == (
        State.YANKED,
        "left out: yanked: broken",
    )
    assert cell(Place(version="1", yanked="", tried=False), None, None) == (State.YANKED, "left out: yanked")
    assert cell(Place(version="1"), None, None) == (State.NOT_RUN, "")


def test_neighbours_that_say_the_same_are_one_segment_and_the_axis_is_common():
    drawn = ribbons.ribbons(FINDING, examples.evidence().places)
    assert [ribbon.name for ribbon in drawn] == ["exception", "nonfinite-metric"]
    assert {sum(len(s.places) for s in ribbon.segments) for ribbon in drawn} == {len(examples.evidence().places)}
    assert drawn[0].segments[0].versions == "3.5.0 to 3.6.0 (2 releases)"
    assert State.YANKED in {s.state for s in drawn[0].segments}


def test_without_any_symptom_there_is_one_ribbon_of_verdicts():
    finding = replace(FINDING, releases=FINDING.releases[:2], transitions=())
    (one,) = ribbons.ribbons(finding, examples.evidence().places[:2])
    assert one.name == ribbons.ANY


def many(count: int = 1800):
    releases = [replace(FINDING.releases[n % 2], version=f"{n}.0", reason=f"reason {n}") for n in range(count)]
    bad = [replace(examples.nan(f"{n}.0", "2025-01-01")) for n in range(900, 902)]
    finding = replace(FINDING, releases=(*releases[:900], *bad, *releases[902:]), transitions=())
    return finding, tuple(Place(version=r.version) for r in finding.releases)


def test_1800_releases_are_few_columns():
    finding, axis = many()
    drawn = ribbons.ribbons(finding, axis)
    cut = columns(axis, drawn, ["900.0"])
    assert [column.first for column in cut] == [0, 900, 901, 902]
    assert sum(len(column.places) for column in cut) == 1800
    assert cut[0].label == "0.0 … 899.0"
    assert cut[1].label == "900.0"


def test_reasons_of_neighbours_are_told_once():
    one, other = recorded("hidden"), recorded("broken")
    told = [Untested(version=str(n), reason=one) for n in range(3)] + [Untested(version="3", reason=other)]
    assert list(by_reason(told)) == ["0 to 2 (3 releases): hidden", "3: broken"]

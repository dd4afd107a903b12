"""Ribbons laid out: cells, flags and boundaries."""

from __future__ import annotations

from harness.domain.findings.evidence import without_evidence
from harness.reporting.pages import axis
from tests.reporting import examples

FINDING, EVIDENCE = examples.everyday(), examples.evidence()


def test_every_ribbon_covers_the_whole_axis():
    drawn = axis.drawn(FINDING, EVIDENCE)
    assert len(drawn.columns) == 9  # the yanked one among them
    for row in drawn.rows[:2]:
        assert [n for cell in row.cells for n in range(cell.column, cell.column + len(cell.columns))] == list(range(9))


def test_each_transition_has_a_flag_where_it_comes_in_with_confidence_and_cause():
    flags = [flag for row in axis.drawn(FINDING, EVIDENCE).rows[:2] for flag in row.flags]
    assert [(flag.label, flag.css, flag.column) for flag in flags] == [
        ("1", "begins", 2),
        ("2", "begins", 3),
        ("3", "ends", 8),
    ]
    assert "confidence 0.9500, not confirmed" in flags[1].text
    assert "pull/21072" in flags[2].text


def test_where_companions_change_there_is_a_boundary():
    row = axis.drawn(FINDING, EVIDENCE).rows[-1]
    assert row.name == "companions"
    assert [(flag.column, flag.text) for flag in row.flags] == [
        (3, "environment 3.6.0 → 3.8.0: tensorflow-cpu 2.17.1 → 2.18.1")
    ]
    assert len(axis.drawn(FINDING, without_evidence(FINDING)).rows) == 2


def test_what_was_not_built_is_not_compared():
    assert axis.changes(FINDING, EVIDENCE, "3.5.0", "3.6.0") == []

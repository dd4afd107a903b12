"""What moved, in sentences, and in every report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.domain.findings.finding import Finding
from harness.domain.findings.transition import Confounding, Parting
from harness.domain.releases.moves import Move
from harness.reporting.bisection.documents import html, markdown
from harness.reporting.bisection.terminal_report import terminal
from harness.reporting.moved_companions import moved_lines, partings
from tests.reporting.examples import everyday, printed

NUMPY = Move(name="numpy", version="2.0.2", reference="2.1.3")
TOOL = Move(name="tool", version="1")
SENTENCE = "Between 3.6.0 and 3.7.0 companions moved too (numpy 2.0.2 -> 2.1.3): it is numpy."


@pytest.fixture
def moved() -> Finding:
    finding = everyday()
    places = {1: (NUMPY, TOOL), 2: (NUMPY, TOOL), 3: (NUMPY,)}
    releases = [replace(one, environment=f"key{n}", moved=places.get(n, ())) for n, one in enumerate(finding.releases)]
    confounding = Confounding(moved=(NUMPY,), parting=Parting.COMPANIONS, packages=("numpy",), sentence=SENTENCE)
    transitions = [replace(one, confounding=confounding) for one in finding.transitions]
    return replace(finding, releases=tuple(releases), transitions=tuple(transitions))


def test_neighbours_with_the_same_companions_share_a_line(moved: Finding) -> None:
    names = [release.version for release in moved.releases]
    assert moved_lines(moved) == [
        f"{names[1]}, {names[2]}: numpy 2.0.2 instead of 2.1.3, in addition tool 1",
        f"{names[3]}: numpy 2.0.2 instead of 2.1.3",
    ]
    assert moved_lines(replace(moved, releases=())) == []


def test_an_answer_is_told_once_for_all_symptoms(moved: Finding) -> None:
    assert len(moved.transitions) > 1
    assert partings(moved) == [SENTENCE]


def test_every_report_says_both(moved: Finding, tmp_path: Path) -> None:
    nested = replace(everyday(), stages=(moved,))
    for text in (markdown(moved), html(moved), printed(terminal(moved, tmp_path)), printed(terminal(nested, tmp_path))):
        assert "numpy 2.0.2 instead of 2.1.3" in text
        assert "it is numpy" in text
    assert "it is numpy" in markdown(nested)
    assert "it is numpy" in html(nested)

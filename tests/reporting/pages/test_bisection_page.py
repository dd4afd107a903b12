"""The page of a search; its golden file stands in tests/golden, what a browser sees in tests/e2e."""

from __future__ import annotations

from dataclasses import replace

from harness.domain.findings.evidence import without_evidence
from harness.reporting.pages import bisection_page
from harness.reporting.pages.bisection_page import html, table_rows
from tests.reporting import examples
from tests.reporting.test_ribbons import many

FINDING, EVIDENCE = examples.everyday(), examples.evidence()


def test_the_answer_and_what_to_do_stand_before_everything_else():
    text = html(FINDING, EVIDENCE)
    places = [
        text.index(part)
        for part in ("<h1>", "What to do next", 'id="ribbons"', 'id="transitions"', 'id="charts"', 'id="releases"')
    ]
    assert places == sorted(places)


def test_equal_reasons_of_neighbours_stand_once():
    rows = list(table_rows(FINDING.releases))
    assert [row.spans for row in rows] == [2, 0, 1, 1, 1, 1, 1, 1]


def test_a_stretch_that_was_not_run_is_one_row():
    unrun = [replace(FINDING.releases[4], version=f"{n}.0") for n in range(40)]
    (row,) = table_rows(unrun)
    assert row.until == "39.0: 40 releases"


def test_40_releases_with_evidence_stay_far_below_2_mb():
    releases = tuple(replace(FINDING.releases[n % 8], version=f"{n}.0") for n in range(40))
    seen = EVIDENCE.of("3.8.0")
    seen = replace(seen, trials=tuple(replace(seen.trials[0], output="x" * 1200) for _ in range(4)))
    finding = replace(FINDING, releases=releases)
    behind = replace(without_evidence(finding), releases={r.version: seen for r in releases})
    assert len(html(finding, behind).encode()) < 500_000


def test_1800_nightlies_are_a_page_of_a_bounded_size():
    finding, _ = many()
    assert len(html(finding).encode()) < 2_000_000


def test_without_numbers_there_are_no_pictures():
    bare = replace(FINDING, releases=(FINDING.releases[4],), transitions=())
    assert bisection_page.final_metric(bare) is None
    assert bisection_page.weights(bare, without_evidence(bare)) is None
    assert "<figure" not in html(bare)


def test_the_same_finding_gives_the_same_bytes():
    assert html(FINDING, EVIDENCE, paste="x") == html(FINDING, EVIDENCE, paste="x")

"""A grid as people read it."""

from __future__ import annotations

from rich.console import Console

from harness import codec
from harness.domain.search.matrix import Cell, GridFinding, borders_of, cells_of
from harness.domain.verdicts.verdict import Outcome
from harness.reporting import grid_report

WORDS = {"g": Outcome.GOOD, "b": Outcome.BAD, "s": Outcome.SKIP, "-": None}
RELEASES = ("1.0", "1.1", "1.2", "1.3")
VERSIONS = ("2.17", "2.18", "2.19", "2.20")


def finding() -> GridFinding:
    columns = [
        [Cell(outcome=WORDS[letter], reason="no wheel fits" if letter == "s" else "") for letter in text]
        for text in ("g-gb", "-gb-", "gsbb", "ssss")
    ]
    told = zip(VERSIONS, columns, strict=True)
    return GridFinding(
        case="to|y",
        package="toykeras",
        also="toynumpy",
        releases=RELEASES,
        versions=VERSIONS,
        columns=tuple(cells_of(column) for column in columns),
        borders=tuple(border for version, column in told for border in borders_of(version, RELEASES, column)),
        run=11,
        left_out=3,
        reproduce="harness grid toy.py",
    )


DRAWING = """\
toykeras   2.17     2.18     2.19     2.20
1.0        good    (good)    good     skip
1.1       (good)    good     skip     skip
                  ──────────────────
1.2        good  │  BAD      BAD      skip
         ─────────
1.3        BAD     (bad)     BAD      skip"""


def test_the_border_is_drawn_between_good_and_bad():
    assert "\n".join("".join(line).rstrip() for line in grid_report.matrix(finding())) == DRAWING


def test_markdown_holds_the_drawing_the_borders_and_what_was_not_run():
    text = grid_report.document(finding())
    assert DRAWING in text
    assert "# to\\|y: toykeras beside toynumpy" in text
    assert "- toynumpy 2.19: toykeras 1.0 -\\> 1.2 becomes bad (between: 1.1 not testable)" in text.replace(
        "->", "-\\>"
    )
    assert "- toynumpy 2.20, not testable: 1.0 to 1.3: no wheel fits" in text
    assert "11 of 16 cells were run; 3 were not run" in text
    assert "--max-gap 0 runs every cell" in text.replace("\\", "")
    assert "`harness grid toy.py`" in text


def test_the_terminal_shows_the_same_and_json_reads_back():
    console = Console(width=200, record=True, file=None)
    with console.capture() as shown:
        console.print(grid_report.terminal(finding()))
    for line in DRAWING.splitlines():
        assert line in shown.get()
    assert "toynumpy 2.17: toykeras 1.2 -> 1.3 becomes bad" in shown.get()
    assert codec.loads(GridFinding, grid_report.json_text(finding())) == finding()
    assert set(grid_report.texts(finding())) == {"grid.json", "grid.md"}

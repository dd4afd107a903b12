"""A grid as people read it: the matrix with the border drawn in, and the same as Markdown and JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise

from rich.console import Group
from rich.text import Text

from harness import codec
from harness.domain.search.matrix import Border, Cell, GridFinding
from harness.domain.verdicts.verdict import Outcome
from harness.reporting.text import clean, code, command, lines, markdown

STYLES = {"good": "green", "BAD": "bold red", "skip": "yellow", "(good)": "dim green", "(bad)": "dim red"}
LEGEND = "(good), (bad): not run, as the nearest cells of its column that were run; -: not known; lines: the border."
WORDS = {Outcome.GOOD: "good", Outcome.BAD: "BAD", Outcome.SKIP: "skip"}
TAKEN_OVER = {Outcome.GOOD: "(good)", Outcome.BAD: "(bad)"}

Side = Outcome | None


def matrix(finding: GridFinding) -> list[list[str]]:
    """The drawing as lines of pieces: words of cells, and the lines of the border between good and bad."""
    left = max(len(name) for name in (*finding.releases, finding.package)) + 1
    widths = [max(len(version), len("(good)")) + 2 for version in finding.versions]
    titles = [version.center(width) + " " for version, width in zip(finding.versions, widths, strict=True)]
    drawn = [_filled(column) for column in finding.columns]
    found = [[finding.package.ljust(left), *titles]]
    for row, release in enumerate(finding.releases):
        found.append([release.ljust(left), *_row(finding, drawn, widths, row)])
        under = [_under(column, row) * (width + 1) for column, width in zip(drawn, widths, strict=True)]
        found += [[" " * left, *under]] if any(map(str.strip, under)) else []
    return found


def _row(finding: GridFinding, drawn: Sequence[Sequence[Side]], widths: Sequence[int], row: int) -> list[str]:
    """The words of one release, and where its verdict changes from one column to the next a line between them."""
    words = [_word(column[row]).center(width) for column, width in zip(finding.columns, widths, strict=True)]
    bars = ["│" if _differ(one[row], other[row]) else " " for one, other in pairwise(drawn)]
    return [piece for pair in zip(words, [*bars, ""], strict=True) for piece in pair]


def _under(column: Sequence[Side], row: int) -> str:
    return "─" if row + 1 < len(column) and _differ(column[row], column[row + 1]) else " "


def _word(cell: Cell) -> str:
    if cell.outcome is not None:
        return WORDS[cell.outcome]
    return "-" if cell.side is None else TAKEN_OVER[cell.side]


def _differ(one: Side, other: Side) -> bool:
    return None not in (one, other) and one is not other


def _filled(column: Sequence[Cell]) -> list[Side]:
    """What cells are for the drawing: one that cannot be tested goes with what lies before it."""
    found: list[Side] = []
    for row, cell in enumerate(column):
        after = next((later.side for later in column[row:] if later.side is not None), None)
        found.append(cell.side or (found[-1] if found else None) or after)
    return found


def terminal(finding: GridFinding) -> Group:
    """The answer for a terminal."""
    drawing = [
        Text.assemble(*((command(piece), STYLES.get(piece.strip(), "")) for piece in line)) for line in matrix(finding)
    ]
    title = Text(clean(f"{finding.case}: {finding.package} beside {finding.also}"))
    told = [LEGEND, "", *_sentences(finding), finding.sentence]
    return Group(title, Text(), *drawing, *(Text(clean(line)) for line in told))


def document(finding: GridFinding) -> str:
    """The answer as Markdown."""
    drawing = "\n".join("".join(line).rstrip() for line in matrix(finding))
    parts = [
        f"# {markdown(finding.case)}: {markdown(finding.package)} beside {markdown(finding.also)}",
        markdown(finding.sentence),
        f"```text\n{lines(drawing)}\n```",
        LEGEND,
        "\n".join(f"- {markdown(line)}" for line in _sentences(finding)),
        f"Ask it again: {code(finding.reproduce, 2000)}. The folder of each column holds its journal.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def json_text(finding: GridFinding) -> str:
    """The answer as JSON."""
    return codec.dumps(GridFinding, finding, indent=2) + "\n"


def texts(finding: GridFinding) -> Mapping[str, str]:
    """The files of a grid by their names."""
    return {"grid.json": json_text(finding), "grid.md": document(finding)}


def _sentences(finding: GridFinding) -> list[str]:
    """The borders, what cannot be tested and why, and what the answer does not rest on."""
    told = [_border(finding, border) for border in finding.borders]
    for version, column in zip(finding.versions, finding.columns, strict=True):
        skipped = [(name, cell.reason) for name, cell in zip(finding.releases, column, strict=True) if _untested(cell)]
        for reason, group in groupby(skipped, key=lambda one: one[1]):
            names = [name for name, _ in group]
            told.append(f"{finding.also} {version}, not testable: {_span(names)}: {reason or 'no reason on record'}")
    if finding.left_out:
        told.append("A change among cells that were not run would not be seen; --max-gap 0 runs every cell.")
    return told


def _untested(cell: Cell) -> bool:
    return cell.outcome is Outcome.SKIP


def _span(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


def _border(finding: GridFinding, border: Border) -> str:
    between = f" (between: {', '.join(border.untested)} not testable)" if border.untested else ""
    change = f"{finding.package} {border.last_before} -> {border.first_after}"
    return f"{finding.also} {border.also}: {change} becomes {border.becomes.value}{between}"

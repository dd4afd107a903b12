"""The block of inline metadata (PEP 723) at the top of a script, as text, and the script without it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from harness.domain.errors import UsageError

_OPENING = re.compile(r"# /// ([a-zA-Z0-9-]+)")
_MEANT = re.compile(r"#\s*///\s*script\s*")
EXAMPLE_BLOCK = """\
# /// script
# dependencies = ["keras", "tensorflow"]
# [tool.harness]
# title = "what goes wrong, in one line"
# ///"""


def metadata_text(text: str, *, where: str) -> str | None:
    """Return the TOML of the PEP 723 ``script`` block, or None when there is none.

    Raises:
        UsageError: more than one block, or one that PEP 723 does not read as a block.
    """
    lines = text.split("\n")
    blocks = list(_script_blocks(lines))
    if len(blocks) > 1:
        raise UsageError("more than one '# /// script' block", where=where, hint="keep one (PEP 723 allows no more)")
    if blocks:
        return "".join(f"{line[2:]}\n" for line in lines[blocks[0]][1:-1])
    meant = [number for number, line in enumerate(lines, start=1) if _MEANT.fullmatch(line)]
    if meant:
        raise UsageError(
            f"the '# /// script' block that line {meant[0]} opens is not closed",
            where=where,
            hint="begin it with '# /// script', start each line with '# ', end it with '# ///'; no spaces behind",
        )
    return None


def code_text(text: str) -> str:
    """Return the source without its ``script`` blocks: what runs, whatever its metadata says."""
    lines = text.split("\n")
    for block in reversed(list(_script_blocks(lines))):
        del lines[block]
    return "\n".join(lines)


def metadata_lines(text: str) -> int:
    """Count the lines that `code_text` leaves out; the code behind them stands so much further down in the file."""
    return sum(block.stop - block.start for block in _script_blocks(text.split("\n")))


def _script_blocks(lines: Sequence[str]) -> Iterator[slice]:
    """Yield the lines of every ``script`` block, its opening and closing lines included.

    They are found as the regular expression of PEP 723 finds them, but in linear time.

    A block ends at the last "# ///" that only comment lines separate from its opening line.
    """
    place = 0
    while place < len(lines):
        opening = _OPENING.fullmatch(lines[place])
        place += 1
        if opening is None:
            continue
        end = place
        while end < len(lines) and (lines[end] == "#" or lines[end].startswith("# ")):
            end += 1
        closing = next((n for n in range(end - 1, place, -1) if lines[n] == "# ///"), None)
        if closing is not None and opening[1] == "script":
            yield slice(place - 1, closing + 1)
        place = end

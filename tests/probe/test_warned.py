"""The lines of a trial's output that speak of a warning."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.probe.warned import LONGEST_LINE, MOST_LINES, WarningLines


def lines(*chunks: bytes) -> list[str]:
    made = WarningLines()
    for chunk in chunks:
        made.take(chunk)
    return made.end()


def test_lines_that_warn_are_kept_once_and_others_are_not():
    assert lines(b"a\nx.py:1: UserWarning: odd\nb\nx.py:1: UserWarning: odd\nWARNING:absl:y") == [
        "x.py:1: UserWarning: odd",
        "WARNING:absl:y",
    ]


@given(st.lists(st.sampled_from([b"warn", b"ing", b"\n", b"x", b" "]), max_size=30), st.integers(1, 5))
def test_where_the_pieces_are_cut_does_not_matter(parts, size):
    whole = b"".join(parts)
    assert lines(*(whole[n : n + size] for n in range(0, len(whole), size))) == lines(whole)


def test_what_warns_without_end_is_cut():
    found = lines(b"".join(b"warning %d %s\n" % (n, b"x" * 2000) for n in range(1000)))
    assert len(found) == MOST_LINES
    assert {len(line) for line in found} == {LONGEST_LINE}
    assert lines(*[b"warn" * 20_000] * 10) == [("warn" * 200)[:LONGEST_LINE]]

"""The timeline as a search would see it, release by release."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from harness.domain.releases.companions import Interpreter
from harness.domain.releases.listing import ListedRelease, describe
from harness.domain.releases.release import Exclusion, Order, Timeline, stable_timeline
from tests.examples import release
from tests.offline import PUBLISHED

PYTHONS = [Interpreter(version="3.11.7", path="/a"), Interpreter(version="3.12.1", path="/b")]


def rows(order: Order = Order.VERSION) -> dict[str, ListedRelease]:
    made = stable_timeline(PUBLISHED, first=None, last="latest", order=order)
    return {row.version: row for row in describe(made, PYTHONS)}


def test_every_release_of_the_range_has_a_row_those_left_out_too() -> None:
    assert list(rows()) == ["3.5.0", "3.6.0rc0", "3.6.0", "3.6.1", "3.7.0", "3.9.9", "3.10.0"]


def test_each_says_whether_it_is_usable_here_or_why_not() -> None:
    found = rows()
    assert found["3.5.0"].usable == "yes, on Python 3.11, 3.12"
    assert found["3.6.0rc0"].usable == "left out: pre-release"
    assert found["3.6.1"].usable == "left out: yanked: forgot a file"
    assert found["3.10.0"].usable == "no: no Python >=3.20 here"


def test_date_requires_python_and_the_yanked_reason_are_those_of_the_index() -> None:
    found = rows()
    assert (found["3.5.0"].date, found["3.5.0"].requires_python) == ("2024-01-01", ">=3.9")
    assert (found["3.6.1"].yanked, found["3.5.0"].yanked) == ("forgot a file", None)


def test_by_date_the_order_is_that_of_publication() -> None:
    assert [v for v in rows(Order.DATE) if v in ("3.7.0", "3.9.9", "3.10.0")] == ["3.7.0", "3.10.0", "3.9.9"]


def test_one_yanked_without_a_reason_still_says_so() -> None:
    (row,) = describe(Timeline(releases=(release("3.6.1", yanked=""),)), PYTHONS)
    assert (row.yanked, row.date) == ("yes", None)


def test_without_any_python_nothing_is_usable() -> None:
    (row,) = describe(Timeline(releases=(release("3.6.1", requires_python=">=3.9"),)), [])
    assert row.usable == "no: no Python >=3.9 here"


@given(st.lists(st.integers(0, 20), unique=True, min_size=1), st.sets(st.integers(0, 20)))
def test_no_release_is_lost_and_none_is_told_twice(numbers: list[int], left_out: set[int]) -> None:
    """A reader who misses a release finds it here with its reason."""
    made = {n: release(f"3.{n}.0") for n in numbers}
    line = Timeline(
        releases=tuple(r for n, r in made.items() if n not in left_out),
        excluded=tuple(Exclusion(release=r, reason="pre-release") for n, r in made.items() if n in left_out),
    )
    listed = describe(line, PYTHONS)
    assert [row.version for row in listed] == [f"3.{n}.0" for n in sorted(numbers)]
    assert {row.version for row in listed if row.usable == "left out: pre-release"} == {
        f"3.{n}.0" for n in set(numbers) & left_out
    }

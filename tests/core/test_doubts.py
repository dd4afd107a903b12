"""What an answer leaves open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.core.board import Row
from harness.core.doubts import doubts, flaky_share, missed_island, percent
from harness.core.verdicts import GOOD
from tests.histories.simulate import NAN, bad, script


def board_of(letters: str) -> list[Row]:
    run = script(letters.replace(".", "g"))
    shown = [run(i, 0) if letter != "." else None for i, letter in enumerate(letters)]
    return [Row() if s is None else Row(blocked=s) if isinstance(s, str) else Row(runs=(s, s)) for s in shown]


def told(letters: str) -> tuple[str, ...]:
    return doubts([f"v{i}" for i in range(len(letters))], board_of(letters), [NAN])


class TestMissedIsland:
    @given(st.integers(1, 12), st.data())
    def test_equals_the_sum_over_all_islands(self, releases: int, data) -> None:
        """The formula of the docstring, island by island."""
        tested = sorted(data.draw(st.sets(st.integers(0, releases - 1))))
        chances = [data.draw(st.sampled_from([0.0, 0.25, 0.5, 1.0])) for _ in tested]
        length = data.draw(st.integers(1, releases))
        passing, total = dict(zip(tested, chances, strict=True)), 0.0
        for start in range(releases - length + 1):
            product = 1.0
            for i in range(start, start + length):
                product *= passing.get(i, 1.0)
            total += product
        expected = total / (releases - length + 1)
        assert missed_island(tested, releases, length, chances) == pytest.approx(expected)

    def test_islands_longer_than_the_timeline_do_not_exist(self) -> None:
        assert missed_island([], 3, 4) == 0

    def test_everything_run(self) -> None:
        assert missed_island(range(9), 9, 1) == 0

    def test_half_run(self) -> None:
        assert missed_island([0, 2, 4, 6, 8], 9, 1) == pytest.approx(4 / 9)
        assert missed_island([0, 2, 4, 6, 8], 9, 2) == 0


class TestUntestable:
    def test_stretch_inside(self) -> None:
        assert told("ggxxgg")[0] == "v2 to v3 (2 releases) could not be tested: cannot be installed."

    def test_at_the_start_the_answer_may_have_begun_there(self) -> None:
        assert "What v1 shows may have begun in any of them or before." in told("xnnnn")[0]

    def test_at_the_end_the_answer_may_change_there(self) -> None:
        assert told("gggxx")[0].endswith("What holds in v2 may have changed in any of them.")

    def test_everything(self) -> None:
        assert told("xxx") == ("v0 to v2 (3 releases) could not be tested: cannot be installed.",)

    def test_one_without_a_reason(self) -> None:
        (sentence, *_) = doubts(["a", "b"], [Row(blocked=""), Row(runs=({NAN: GOOD},))], [NAN])
        assert sentence.startswith("a (1 release) could not be tested: no reason on record.")


class TestFlaky:
    FLAKY = [Row(runs=({NAN: bad()}, {NAN: GOOD}) * 4)] * 4

    def test_share(self) -> None:
        assert flaky_share(self.FLAKY, NAN) == 0.5
        assert flaky_share(board_of("ggnn"), NAN) is None
        assert flaky_share(board_of("gggg"), NAN) is None

    def test_sentence(self) -> None:
        sentences = doubts("abcd", self.FLAKY, [NAN])
        assert sentences[0] == ("nonfinite-metric is flaky from a to d: it shows in about 50 % of the runs (16 of 32).")

    def test_passes_of_a_flaky_symptom_may_hide_an_island(self) -> None:
        board = [*self.FLAKY, *[Row(runs=({NAN: GOOD},) * 5)] * 4]
        assert any("2 % if 1 long" in s or "1.56 % if 1 long" in s for s in doubts("abcdefgh", board, [NAN]))

    def test_an_accident_is_told(self) -> None:
        accident = Row(runs=({NAN: bad()}, *[{NAN: GOOD}] * 15))
        board = [*[Row(runs=({NAN: GOOD},) * 4)] * 2, accident, *[Row(runs=({NAN: GOOD},) * 4)] * 2]
        (sentence,) = doubts("abcde", board, [NAN])
        assert "showed in 1 of 16 runs of c, which is taken for an accident" in sentence


def test_without_a_symptom_islands_are_told_for_any() -> None:
    (sentence,) = doubts("abcdefgh", board_of("g......g"), [])
    assert sentence.startswith("any symptom: 2 of 8 releases tell of it, 6 were not run. Another island")


def test_nothing_to_doubt() -> None:
    assert told("ggnn") == ()
    assert doubts([], [], []) == ()


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0 %"), (1, "100 %"), (0.3, "30 %"), (0.9999, "99.9 %"), (0.00001, "0.1 %")]
)
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text

"""What an answer leaves open."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.findings.caveats import caveats, flaky_share, missed_island, percent
from harness.domain.search.history import ReleaseState
from harness.domain.verdicts.reasons import recorded
from harness.domain.verdicts.verdict import GOOD
from tests.histories.simulate import NAN, bad, script


def board_of(letters: str) -> list[ReleaseState]:
    run = script(letters.replace(".", "g"))
    shown = [run(i, 0) if letter != "." else None for i, letter in enumerate(letters)]
    return [
        ReleaseState()
        if s is None
        else ReleaseState(blocked=recorded(s))
        if isinstance(s, str)
        else ReleaseState(runs=(s, s))
        for s in shown
    ]


def told(letters: str) -> tuple[str, ...]:
    return caveats([f"v{i}" for i in range(len(letters))], board_of(letters), [NAN])


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

    def test_one_testable_release_speaks_for_the_untestable_ones_beside_it(self) -> None:
        assert told("gxx")[0] == (
            "v1 to v2 (2 releases) could not be tested: cannot be installed. "
            "What holds in v0 may have changed in any of them."
        )

    def test_everything(self) -> None:
        assert told("xxx") == ("v0 to v2 (3 releases) could not be tested: cannot be installed.",)

    def test_one_without_a_reason(self) -> None:
        (sentence, *_) = caveats(
            ["a", "b"], [ReleaseState(blocked=recorded("")), ReleaseState(runs=({NAN: GOOD},))], [NAN]
        )
        assert sentence.startswith("a (1 release) could not be tested: no reason on record.")

    def test_the_whole_of_what_is_told_of_both_ends(self) -> None:
        assert told("xgggx") == (
            (
                "v0 (1 release) could not be tested: cannot be installed. "
                "What v1 shows may have begun in any of them or before."
            ),
            (
                "v4 (1 release) could not be tested: cannot be installed. "
                "What holds in v3 may have changed in any of them."
            ),
            (
                "nonfinite-metric: 3 of 5 releases tell of it. Another island of bad releases would have been "
                "missed with a probability of 40 % if 1 long."
            ),
        )

    def test_the_commonest_reason_speaks_and_of_equals_the_first_by_name(self) -> None:
        def reason(*given: str) -> str:
            (sentence,) = caveats(
                "abcde"[: len(given)], [ReleaseState(blocked=recorded(text)) for text in given], [NAN]
            )
            return sentence

        told_of_three = "a to c (3 releases) could not be tested: no wheel."
        assert reason("disk", "no wheel.", "no wheel.") == told_of_three
        assert reason("no wheel", "a canary", "no wheel") == told_of_three
        assert reason("no wheel", "a canary") == "a to b (2 releases) could not be tested: a canary."


class TestFlaky:
    FLAKY = [ReleaseState(runs=({NAN: bad()}, {NAN: GOOD}) * 4)] * 4

    def test_share(self) -> None:
        assert flaky_share(self.FLAKY, NAN) == 0.5
        assert flaky_share(board_of("ggnn"), NAN) is None
        assert flaky_share(board_of("gggg"), NAN) is None

    def test_sentence(self) -> None:
        sentences = caveats("abcd", self.FLAKY, [NAN])
        assert sentences[0] == ("nonfinite-metric is flaky from a to d: it shows in about 50 % of the runs (16 of 32).")

    def test_passes_of_a_flaky_symptom_may_hide_an_island(self) -> None:
        history = [*self.FLAKY, *[ReleaseState(runs=({NAN: GOOD},) * 5)] * 4]
        assert any("2 % if 1 long" in s or "1.56 % if 1 long" in s for s in caveats("abcdefgh", history, [NAN]))

    def test_each_flaky_range_has_its_own_share(self) -> None:
        half, most, fine = ({NAN: bad()}, {NAN: GOOD}), ({NAN: bad()},) * 3 + ({NAN: GOOD},), ({NAN: GOOD},)
        history = [ReleaseState(runs=runs) for runs in (half * 6, half * 6, fine * 20, fine * 20, most * 4, most * 4)]
        assert caveats("abcdef", history, [NAN])[:2] == (
            "nonfinite-metric is flaky from a to b: it shows in about 50 % of the runs (12 of 24).",
            "nonfinite-metric is flaky from e to f: it shows in about 75 % of the runs (24 of 32).",
        )
        assert flaky_share(history, NAN) == 36 / 56

    def test_passes_hide_an_island_with_the_chance_of_all_of_them(self) -> None:
        """At one in two, five passes are all missed with 1/32: four such releases of eight."""
        history = [*self.FLAKY, *[ReleaseState(runs=({NAN: GOOD},) * 5)] * 4]
        assert caveats("abcdefgh", history, [NAN])[1] == (
            "nonfinite-metric: 8 of 8 releases tell of it. Another island of bad releases would have been "
            "missed with a probability of 1.56 % if 1 long."
        )

    def test_an_accident_is_told(self) -> None:
        accident = ReleaseState(runs=({NAN: bad()}, *[{NAN: GOOD}] * 15))
        history = [*[ReleaseState(runs=({NAN: GOOD},) * 4)] * 2, accident, *[ReleaseState(runs=({NAN: GOOD},) * 4)] * 2]
        (sentence,) = caveats("abcde", history, [NAN])
        assert sentence.startswith(
            "nonfinite-metric showed in 1 of 16 runs of c, which is taken for an accident of the run (9"
        )
        assert sentence.endswith(" % sure).")


def test_without_a_symptom_islands_are_told_for_any() -> None:
    (sentence,) = caveats("abcdefgh", board_of("g......g"), [])
    assert sentence.startswith("any symptom: 2 of 8 releases tell of it, 6 were not run. Another island")


def test_untestable_releases_tell_nothing_and_were_not_left_out_either() -> None:
    assert caveats("abcd", board_of("gx.g"), [])[1] == (
        "any symptom: 2 of 4 releases tell of it, 1 was not run. Another island of bad releases would have been "
        "missed with a probability of 50 % if 1 long, 33.3 % if 2 long."
    )
    assert caveats("ab", [ReleaseState(), ReleaseState()], []) == ()


def test_a_chance_of_a_miss_below_a_half_percent_is_not_told() -> None:
    def missed(releases: int) -> tuple[str, ...]:
        return caveats([str(i) for i in range(releases)], board_of("." + "g" * (releases - 1)), [NAN])

    assert missed(200) == (
        (
            "nonfinite-metric: 199 of 200 releases tell of it, 1 was not run. Another island of bad releases would "
            "have been missed with a probability of 0.5 % if 1 long."
        ),
    )
    assert missed(201) == ()


def test_nothing_to_doubt() -> None:
    assert told("ggnn") == ()
    assert caveats([], [], []) == ()


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0 %"), (1, "100 %"), (0.3, "30 %"), (0.9999, "99.9 %"), (0.00001, "0.1 %")]
)
def test_percent(share: float, text: str) -> None:
    assert percent(share) == text

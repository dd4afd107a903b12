"""What is kept up to date, or worked out in groups, gives what working it out anew gives, to the last bit."""

from __future__ import annotations

import itertools
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.search import gaps, history, posterior
from harness.domain.search.forward_backward import SETTLING
from harness.domain.search.history import ReleaseState, SearchHistory, Tally, grouped, seen_symptoms
from harness.domain.search.policy import Policy
from harness.domain.search.posterior import posterior_of
from harness.domain.search.strategy import next_trials
from harness.domain.verdicts.reasons import recorded
from tests.histories import plain
from tests.histories.simulate import NAN, RAISES, WRONG, record, script

RANGES = st.lists(st.tuples(st.sampled_from("gggGnNwWesxx"), st.integers(1, 9)), min_size=1, max_size=7)
LETTERS = RANGES.map(lambda ranges: "".join(letter * length for letter, length in ranges))
POLICIES = st.builds(
    Policy,
    symptoms=st.sampled_from([(), (NAN,), (WRONG, RAISES)]),
    repeats=st.integers(1, 3),
    max_trials=st.none() | st.integers(1, 60),
    max_gap=st.none() | st.integers(0, 3),
)


@given(LETTERS, POLICIES, st.integers(1, 4), st.sampled_from((1.0, 0.6, 0.3)), st.integers(0, 999))
def test_every_choice_is_that_of_the_plain_search(letters, policy, jobs, rate, seed) -> None:
    """Whole searches with several jobs, whose trials end in any order: each choice, its repeat and its reason."""
    rng, run = random.Random(seed), script(letters, rate=rate, seed=seed)
    history, plainly = SearchHistory(len(letters)), [ReleaseState() for _ in letters]
    running: list[int] = []
    for _ in range(120):
        chosen = next_trials(history, policy, wanted=jobs - len(running), pending=running)
        assert chosen == plain.next_trials(plainly, policy, wanted=jobs - len(running), pending=running)
        running += [trial.index for trial in chosen]
        if not running:
            break
        index = running.pop(rng.randrange(len(running)))
        record(plainly, index, run(index, len(plainly[index].runs)))
        history[index] = plainly[index]


@given(LETTERS, st.sampled_from((1, 2, 5, 512)), st.data())
def test_a_history_that_grew_equals_one_made_at_once(letters, cell, data) -> None:
    """Counts, tested and untried places, symptoms, groups and posteriors, in whatever order the states came."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(history, "_CELL", cell)
        _compare(letters, data)


def _compare(letters, data) -> None:
    run, plainly, grown = script(letters, rate=0.5), [ReleaseState() for _ in letters], SearchHistory(len(letters))
    for index in data.draw(st.lists(st.integers(0, len(letters) - 1), max_size=30)):
        if plainly[index].blocked is None:
            record(plainly, index, run(index, len(plainly[index].runs)))
            grown[index] = plainly[index]
    assert list(grown) == plainly
    assert grown.runs == sum(len(state.runs) for state in plainly)
    assert grown.tested == [i for i, state in enumerate(plainly) if state.runs]
    assert grown.blocked == [i for i, state in enumerate(plainly) if state.blocked is not None]
    assert list(gaps.middles(i for i, state in enumerate(plainly) if not state.tried)) == list(grown.untried.middles())
    assert list(grown.run_less_than(3)) == [i for i, state in enumerate(plainly) if 0 < len(state.runs) < 3]
    assert seen_symptoms(grown, ()) == seen_symptoms(plainly, ())
    for symptom in (NAN, RAISES, WRONG):
        assert posterior_of(grown, symptom) == posterior_of(plainly, symptom)
        told = [(i, state.tally(symptom)) for i, state in enumerate(plainly) if state.tally(symptom).runs]
        assert grown.known(symptom).groups() == grouped(told)
        failed = [(i, state.tally(symptom).bad > 0) for i, state in enumerate(plainly) if state.tally(symptom).runs]
        assert list(grown.known(symptom).changes) == [
            (i, k) for (i, was), (k, now) in itertools.pairwise(failed) if was is not now
        ]


def test_runs_are_never_lost() -> None:
    history = SearchHistory([ReleaseState(runs=({},)), ReleaseState(blocked=recorded("no wheel"))])
    with pytest.raises(ValueError, match="place 0: 1 runs are known, 0 were given"):
        history[0] = ReleaseState()
    with pytest.raises(ValueError, match="place 1"):
        history[1] = ReleaseState()


GROUPS = st.lists(
    st.tuples(
        st.sampled_from([(0, 1), (1, 0), (0, 2), (2, 1), (3, 0)]),
        st.integers(1, 4),
        st.integers(1, SETTLING) | st.integers(1, 500),
    ),
    min_size=1,
    max_size=5,
)


@given(GROUPS)
def test_groups_give_the_figures_of_their_places(groups) -> None:
    """Hundreds of equal neighbours at once, or each by itself; the same bits where they are not that many."""
    known = [(distance if k else 0, Tally(*tally), None, 1) for tally, distance, size in groups for k in range(size)]
    places = list(itertools.accumulate([0, *[max(1, distance) for distance, *_ in known[1:]]]))
    apart = tuple(
        (b - a, tally, None, 1)
        for (a, b), (_, tally, _, _) in zip(zip([0, *places], places, strict=False), known, strict=True)
    )
    together = grouped([(place, tally) for place, (_, tally, _, _) in zip(places, known, strict=True)])
    assert sum(size for *_, size in together) == len(apart)
    change = min(0.02, 1 / (places[-1] + 1))
    one, other = (posterior._weigh.__wrapped__(made, change) for made in (apart, together))
    long = max(size for *_, size in together) > SETTLING
    for mine, plainly in zip(*(list(expanded(stretches)) for stretches in (other, one)), strict=True):
        assert mine == (pytest.approx(plainly, rel=1e-9, abs=1e-12) if long else plainly)


def expanded(stretches):
    for size, *figures in stretches:
        yield from itertools.repeat(figures, size)


def test_a_long_timeline_takes_few_steps() -> None:
    """Where runs agree, the passes settle: of 100,000 releases some thousand stretches are left."""
    groups = [(0, Tally(0, 1), None, 1), (1, Tally(0, 1), None, 49_999), (1, Tally(1, 0), None, 50_000)]
    told = posterior._weigh(tuple(groups), 1e-5)
    assert sum(stretch.size for stretch in told) == 100_000
    assert len(told) < 5_000


@given(st.sets(st.integers(0, 40)), st.data())
def test_stretches_stay_those_of_their_places(places, data) -> None:
    """Taking places out, looking between two others, and leaving some aside."""
    made = gaps.Stretches.of(sorted(places))
    left = set(places)
    for place in data.draw(st.lists(st.sampled_from(sorted(places)), unique=True) if places else st.just([])):
        made.remove(place)
        left.remove(place)
    assert len(made) == len(left)
    assert {place for place in range(42) if place in made} == left
    aside = data.draw(st.sets(st.integers(0, 40), max_size=4))
    low, high = sorted(data.draw(st.tuples(st.integers(-1, 41), st.integers(-1, 41))))
    inside = [i for start, stop in made.between(low, high, aside) for i in range(start, stop)]
    assert inside == [i for i in sorted(left - aside) if low < i < high]
    limit = data.draw(st.integers(0, 3))
    assert list(made.middles(limit, aside)) == list(plain.middles(sorted(left - aside), limit))
    with pytest.raises(KeyError):
        made.remove(41)


@given(st.integers(1, 80), st.data())
def test_the_next_outermost_is_that_of_the_plain_search(count, data) -> None:
    works = {i: data.draw(st.booleans()) for i in data.draw(st.sets(st.integers(0, count - 1)))}
    for order in (range(count), range(count)[::-1]):
        if order[0] not in works or works[order[0]] or any(works.values()) or len(works) < 3:
            assert gaps.next_outermost(order, works) == plain.next_outermost(order, works)

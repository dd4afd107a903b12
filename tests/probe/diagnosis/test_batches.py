"""The batch of a step, found again in whatever `fit` was given."""

from __future__ import annotations

import types
from typing import Any

import numpy as np
import pytest

from harness.probe.diagnosis import batches

X = np.arange(10.0).reshape(10, 1)


def built(steps_per_execution: int = 1, **arguments: Any) -> Any:
    library = types.SimpleNamespace(config=types.SimpleNamespace(floatx=lambda: "float32"))
    net = types.SimpleNamespace(steps_per_execution=steps_per_execution)
    return types.SimpleNamespace(library=library, net=net, arguments=arguments, load_data=lambda: dict(arguments))


def numbers(batch: tuple[Any, ...]) -> list[list[float]]:
    return [part.ravel().tolist() for part in batch]


@pytest.mark.parametrize(("step", "expected"), [(1, [0, 1, 2, 3]), (3, [8, 9]), (4, [0, 1, 2, 3]), (6, [8, 9])])
def test_arrays_begin_anew_with_each_epoch(step, expected):
    assert numbers(batches.batch_of(built(x=X, y=-X, batch_size=4), step)) == [expected, [-n for n in expected]]


def test_floats_are_cast_as_fit_does_and_integers_are_not():
    x, y = batches.batch_of(built(x=X, y=np.arange(10), batch_size=4), 1)
    assert (x.dtype, y.dtype) == ("float32", "int64")


def test_the_rest_for_validation_is_never_trained():
    assert numbers(batches.batch_of(built(x=X, batch_size=4, validation_split=0.4), 2)) == [[4, 5]]


def test_several_inputs_stay_what_they_are():
    (x,) = batches.batch_of(built(x={"a": X, "b": [X, -X]}, batch_size=4), 2)
    assert x["a"].ravel().tolist() == [4, 5, 6, 7]
    assert x["b"][1].ravel().tolist() == [-4, -5, -6, -7]


class Endless:
    """A dataset: can be iterated again and again."""

    def __init__(self, *parts: tuple[Any, ...]) -> None:
        self.parts = parts

    def __iter__(self) -> Any:
        return iter(self.parts)


@pytest.mark.parametrize(("step", "expected"), [(1, 0.0), (2, 1.0), (3, 0.0)])
def test_a_dataset_begins_anew_with_each_epoch(step, expected):
    x, y = batches.batch_of(built(x=Endless((X[:1], X[:1]), (X[1:2], X[1:2]))), step)
    assert (x.item(), y.item()) == (expected, expected)


class Batches:
    """What Keras calls a PyDataset."""

    def __len__(self) -> int:
        return 2

    def __getitem__(self, number: int) -> Any:
        return X[number : number + 1], -X[number : number + 1]


@pytest.mark.parametrize(("step", "expected"), [(1, 0.0), (2, 1.0), (3, 0.0)])
def test_a_sequence_is_asked_for_its_batch(step, expected):
    assert numbers(batches.batch_of(built(x=Batches()), step)) == [[expected], [-expected]]


def test_a_sequence_that_is_shuffled_is_not():
    with pytest.raises(batches.CannotRepeatError, match="fit shuffles the batches"):
        batches.batch_of(built(x=Batches(), shuffle=True), 1)


class Shuffled:
    """A dataset that gives another order each time."""

    def __init__(self) -> None:
        self.asked = 0.0

    def __iter__(self) -> Any:
        self.asked += 1.0
        return iter([(np.array([self.asked]),)])


class Ends:
    """An iterator with a single batch."""

    def __init__(self) -> None:
        self.left = 1

    def __iter__(self) -> Ends:
        return self

    def __next__(self) -> Any:
        self.left -= 1
        if self.left < 0:
            raise StopIteration
        return (X[:2],)


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: built(x=X, shuffle=True), "fit shuffles the samples"),
        (lambda: built(x=X, steps_per_epoch=2), "steps_per_epoch beside arrays"),
        (lambda: built(4, x=X), "several steps are executed in one call"),
        (lambda: built(x=7), "x is a int"),
        (lambda: built(x=Shuffled()), "other batches each time"),
        (lambda: built(x=Ends()), "the data ends before the bad step"),
    ],
)
def test_what_cannot_be_known_is_said(made, why):
    with pytest.raises(batches.CannotRepeatError, match=why):
        batches.batch_of(made(), 2)


def test_samples_are_counted_in_the_first_array():
    assert batches.rows({"a": X}) == 10
    with pytest.raises(batches.CannotRepeatError):
        batches.rows(np.float64(1.0))

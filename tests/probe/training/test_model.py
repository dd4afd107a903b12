"""What the probe notes at every step, and what its own failures mean."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.probe.refusals import Refused
from harness.probe.training import variables
from harness.probe.training.model import _recorder, reading_model

LIBRARY = SimpleNamespace(callbacks=SimpleNamespace(Callback=object))


def mirrored(*copies: float) -> SimpleNamespace:
    """A variable with a copy per replica, which is no number (int() of it raises)."""
    return SimpleNamespace(values=tuple(np.asarray(copy) for copy in copies))


def model(**changes: Any) -> SimpleNamespace:
    weight = SimpleNamespace(path="dense/kernel", values=(np.ones(2), np.ones(2)))
    return SimpleNamespace(**{"weights": [weight], "count_params": lambda: 2, **changes})


def recorder(net: SimpleNamespace) -> tuple[Any, dict[str, Any]]:
    facts: dict[str, Any] = {}
    made = _recorder(LIBRARY, facts)
    made.model = net
    made.on_train_begin()
    return made, facts


@pytest.mark.parametrize(("attributes", "steps"), [({}, 1), ({"steps_per_execution": 4}, 4)])
def test_one_call_may_stand_for_several_steps(attributes: dict[str, Any], steps: int) -> None:
    made, _ = recorder(model(**attributes))
    made.on_train_batch_end(0, {"loss": 1.0})
    made.on_train_batch_end(1, {"loss": 1.0})
    assert made.step == 2 * steps


def test_tf_keras_keeps_that_number_in_a_mirrored_variable() -> None:
    assert variables.steps_per_call(model(steps_per_execution=mirrored(3, 3))) == 3
    made, facts = recorder(model(steps_per_execution=mirrored(1, 1)))
    made.on_train_batch_end(0, {"loss": float("nan")})
    assert facts["first_nonfinite_metric"]["step"] == 1


def test_a_weight_that_is_not_finite_on_any_replica_is_noted_once() -> None:
    net = model()
    made, facts = recorder(net)
    made.on_train_batch_end(0, {})
    assert "first_nonfinite_weight" not in facts
    net.weights[0].values = (np.ones(2), np.array([1.0, np.inf]))
    made.on_train_batch_end(1, {})
    made.on_train_batch_end(2, {})
    assert facts["first_nonfinite_weight"] == {"name": "dense/kernel", "step": 2, "value": float("inf")}


def test_what_the_probe_cannot_read_is_refused_and_never_the_case_s_exception() -> None:
    def broken() -> int:
        raise TypeError("int() argument must be a number, not 'MirroredVariable'\nand more")

    made, _ = recorder(model(count_params=broken))
    with pytest.raises(Refused, match=r"the probe could not read the model: TypeError: int\(\) argument .*Variable'$"):
        made.on_train_batch_end(0, {"loss": 1.0})
    with pytest.raises(Refused, match="not here"), reading_model():
        raise Refused("not here")

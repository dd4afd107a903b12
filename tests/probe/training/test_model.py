"""What the probe notes at every step, and what its own failures mean."""

from __future__ import annotations

import random
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from harness.probe.refusals import Refused
from harness.probe.training import variables
from harness.probe.training.model import (
    Built,
    _recorder,
    evaluate,
    fit_arguments,
    load_case,
    numbers,
    prepare,
    reading_model,
    stopwatch,
    train,
)

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


class Network:
    """Says what it was given, and trains nothing."""

    weights: tuple[Any, ...] = ()
    metrics: tuple[Any, ...] = ()
    optimizer = None

    def __init__(self, *, fails: Exception | None = None, history: dict[str, Any] | None = None) -> None:
        self.fails, self.history = fails, history or {"loss": [2.0, 1.0]}
        self.evaluated: dict[str, Any] = {}

    def count_params(self) -> int:
        return 0

    def fit(self, callbacks: Any, **arguments: Any) -> Any:
        self.fitted = arguments
        for callback in callbacks:
            callback.model = self
            getattr(callback, "on_train_begin", lambda: None)()
        callbacks[-1].on_train_batch_end(0, {"loss": 2.0})
        if self.fails:
            raise self.fails
        return SimpleNamespace(history=self.history)

    def evaluate(self, **arguments: Any) -> dict[str, float]:
        self.evaluated = arguments
        return {"loss": 0.5}


def built(net: Network, **arguments: Any) -> Built:
    return Built(
        library=LIBRARY,
        case=SimpleNamespace(),  # type: ignore[arg-type]
        net=net,
        arguments=arguments,
        load_data=lambda: {"x": "drawn again"},
        facts={"durations": {}},
    )


def trained(net: Network, **arguments: Any) -> tuple[dict[str, Any], list[str]]:
    stages: list[str] = []
    made = built(net, **arguments)
    train(made, stopwatch(made.facts["durations"], stages.append))
    return made.facts, stages


class TestTraining:
    def test_what_is_noted(self) -> None:
        facts, stages = trained(Network(), x=[1.0])
        assert (facts["final"], facts["evaluated"], facts["steps"]) == ({"loss": 1.0}, {"loss": 0.5}, {"loss": [2.0]})
        assert stages == ["train", "evaluate"] == list(facts["durations"])
        assert facts["weights"]["count"] == 0

    def test_what_fit_raises_loses_nothing_that_was_seen_before(self) -> None:
        made = built(Network(fails=ZeroDivisionError("here")), x=[1.0])
        with pytest.raises(ZeroDivisionError, match="here"):
            train(made, stopwatch(made.facts["durations"], lambda stage: None))
        assert made.facts["steps"] == {"loss": [2.0]}
        assert "weights" in made.facts
        assert "final" not in made.facts
        assert "train" in made.facts["durations"]

    def test_the_case_s_own_callbacks_come_first(self) -> None:
        own = SimpleNamespace()
        net = Network()
        trained(net, x=[1.0], callbacks=[own])
        assert own.model is net

    def test_an_iterator_is_used_up_and_drawn_again_for_evaluate(self) -> None:
        net = Network()
        trained(net, x=iter([1]))
        assert net.evaluated["x"] == "drawn again"

    def test_a_final_number_that_no_step_showed_is_noted_too(self) -> None:
        facts, _ = trained(Network(history={"loss": [1.0], "val_loss": [float("nan")], "none": []}), x=[1.0])
        found = facts["first_nonfinite_metric"]
        assert (found["name"], found["step"]) == ("val_loss", 1)


class TestPreparing:
    """A case is loaded and called inside the scope; the data is the same for every trial."""

    CASE = """
import random

def data(size=2):
    return [random.random()] * size, [0.0] * size

def model(fault="none"):
    class Net:
        distribute_strategy = type("Strategy", (), {"num_replicas_in_sync": %d})
    net = Net()
    net.fault = fault
    return net
"""

    @pytest.fixture
    def made(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
        policies: list[str] = []
        library = ModuleType("small_keras")
        library.utils = SimpleNamespace(set_random_seed=random.seed)  # type: ignore[attr-defined]
        library.config = SimpleNamespace(set_dtype_policy=policies.append)  # type: ignore[attr-defined]
        config = SimpleNamespace(list_physical_devices=lambda kind: [])
        monkeypatch.setitem(sys.modules, "small_keras", library)
        monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace(config=config))
        monkeypatch.delitem(sys.modules, "repro_case", raising=False)

        def prepared(replicas: int = 1, **trial: Any) -> tuple[Built, list[str], list[str]]:
            path = tmp_path / "case.py"
            path.write_text(self.CASE % replicas)
            request = {"import_name": "small_keras", "seed": 3, "case": str(path), "fit": {"epochs": 2}}
            stages: list[str] = []
            facts: dict[str, Any] = {"durations": {}}
            described = {"strategy": "none", "replicas": 1, "options": {}, **trial}
            return prepare(request, described, facts, stopwatch({}, stages.append)), stages, policies

        yield prepared
        sys.modules.pop("repro_case", None)

    def test_the_stages_come_in_order(self, made: Any) -> None:
        found, stages, policies = made()
        assert stages == ["devices", "fix", "load", "data", "build"]
        assert found.arguments["epochs"] == 2
        assert found.facts["devices"]["choice"] == "one device"
        assert "fix" not in found.facts
        assert policies == []

    def test_parameters_reach_the_functions_that_name_them(self, made: Any) -> None:
        found, _, _ = made(options={"fault": "late", "size": 3, "unknown": 1})
        assert (found.net.fault, len(found.arguments["x"])) == ("late", 3)

    def test_the_data_can_be_drawn_again(self, made: Any) -> None:
        found, _, _ = made()
        random.random()  # as training does
        assert found.load_data()["x"] == found.arguments["x"] == made()[0].arguments["x"]

    def test_a_policy_is_set_before_the_case_is_loaded(self, made: Any) -> None:
        assert made(policy="mixed_float16")[2] == ["mixed_float16"]

    def test_a_fix_is_applied_and_noted(self, made: Any, tmp_path: Path) -> None:
        path = tmp_path / "my_fix.py"
        path.write_text("def apply():\n    return 'absent', 'nothing here'\n")
        found, _, _ = made(fix={"name": "mine", "path": str(path), "options": {}})
        assert found.facts["fix"] == {"name": "mine", "outcome": "absent", "detail": "nothing here"}

    def test_a_model_that_trains_on_fewer_replicas_proves_nothing(self, made: Any) -> None:
        with pytest.raises(Refused, match=r"the model trains on 2 replica\(s\), not on 1"):
            made(replicas=2)


class TestArguments:
    @pytest.mark.parametrize(
        ("data", "expected"),
        [
            ((1, 2), {"x": 1, "y": 2}),
            ((1, 2, 3), {"x": 1, "y": 2, "sample_weight": 3}),
            ({"x": 1, "shuffle": True}, {"x": 1, "shuffle": True}),
            ("dataset", {"x": "dataset"}),
            ((1,), {"x": (1,)}),
        ],
    )
    def test_data_becomes_arguments_of_fit(self, data: Any, expected: dict[str, Any]) -> None:
        assert fit_arguments(data, {}) == {"verbose": 0, "shuffle": False, **expected}

    def test_the_options_of_the_metadata_win(self) -> None:
        assert fit_arguments({"x": 1, "epochs": 1}, {"epochs": 5})["epochs"] == 5

    def test_evaluate_gets_data_batch_size_and_steps_and_nothing_else(self) -> None:
        net = Network()
        arguments = {"x": 1, "y": 2, "sample_weight": None, "batch_size": 8, "steps_per_epoch": 3, "epochs": 9}
        assert evaluate(net, arguments) == {"loss": 0.5}
        assert net.evaluated == {"x": 1, "y": 2, "batch_size": 8, "steps": 3, "verbose": 0, "return_dict": True}


def test_a_metric_with_several_values_has_several_names() -> None:
    logs: dict[Any, Any] = {"loss": 1, "f1": np.array([0.5, 0.25]), "none": None, 3: [2.0]}
    assert numbers(logs) == {
        "loss": 1.0,
        "f1[0]": 0.5,
        "f1[1]": 0.25,
        "3": 2.0,
    }


def test_a_case_that_is_no_python_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ImportError, match="cannot load the case"):
        load_case(str(tmp_path / "case.txt"))

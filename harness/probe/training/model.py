"""Train a model case once and note the facts."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import inspect
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from .. import fixing
from ..exceptions import describe
from ..refusals import Refused
from . import replication, variables
from .replication import Replication

Timed = Callable[[str], "contextlib.AbstractContextManager[None]"]
DATA = ("x", "y", "sample_weight")
SMALL_MODEL = 4_096  # scalars up to which weights are recorded one by one and watched at every step


@dataclass(frozen=True)
class Built:
    """A case that is ready to train.

    Attributes:
        library: Keras, or what takes its place.
        case: The module of the case.
        net: The compiled model.
        arguments: Keyword arguments of ``fit``.
        load_data: Draws the same data again and returns arguments of ``fit`` anew.
        facts: The facts of the trial, filled as it goes.
        replicas: How it comes to several replicas.
    """

    library: Any
    case: ModuleType
    net: Any
    arguments: dict[str, Any]
    load_data: Callable[[], dict[str, Any]]
    facts: dict[str, Any]
    replicas: Replication = field(default_factory=lambda: Replication("one device", []))


def run(request: dict[str, Any], trial: dict[str, Any], facts: dict[str, Any], enter: Callable[[str], None]) -> None:
    """Run one trial of a model case; fills `facts` as it goes, so that a failure loses nothing."""
    timed = stopwatch(facts["durations"], enter)
    train(prepare(request, trial, facts, timed), timed)


def prepare(request: dict[str, Any], trial: dict[str, Any], facts: dict[str, Any], timed: Timed) -> Built:
    """Choose devices, apply the fix, load the case, make data and model."""
    with timed("devices"):
        backend = request.get("backend") or "tensorflow"
        replicas = replication.make(backend, trial["strategy"], trial["replicas"])
        facts["devices"] = replicas.facts
    library = importlib.import_module(request["import_name"])
    library = library.keras if request["import_name"] == "tensorflow" else library
    with timed("fix"):
        if trial.get("fix"):
            facts["fix"] = fixing.apply(trial["fix"])
    library.utils.set_random_seed(request["seed"])
    if trial.get("policy"):
        library.config.set_dtype_policy(trial["policy"])
    with timed("load"):
        case = load_case(request["case"])

    def load_data() -> dict[str, Any]:
        library.utils.set_random_seed(request["seed"])
        return fit_arguments(call(case.data, trial), request["fit"])

    with timed("data"):
        arguments = load_data()
        facts["data_digest"] = variables.data_digest([arguments.get(k) for k in DATA])
        own = replicas.share(arguments)
    with timed("build"):
        library.utils.set_random_seed(request["seed"])
        with replicas.scope():
            net = call(case.model, trial)
        replicas.built(net)
    return Built(
        library=library,
        case=case,
        net=net,
        arguments=own,
        load_data=load_data,
        facts=facts,
        replicas=replicas,
    )


def train(built: Built, timed: Timed, more_callbacks: Sequence[Any] = ()) -> None:
    """Fit and evaluate a prepared case and note metrics, weights and variables; `more_callbacks` go to ``fit``."""
    facts, arguments, net = built.facts, built.arguments, built.net
    recorder = _recorder(built.library, facts, built.replicas)
    callbacks = [*(arguments.get("callbacks") or []), recorder, *more_callbacks]
    with timed("train"):
        try:
            history = net.fit(**{**arguments, "callbacks": callbacks})
        except BaseException:
            with contextlib.suppress(Exception):  # what fit raised is the fact; a broken model may not be readable
                _note_model(net, recorder, facts, Replication("", []))
            raise
        with reading_model():
            _note_model(net, recorder, facts, built.replicas)
    last = numbers({name: values[-1] for name, values in history.history.items() if len(values)})
    facts["final"] = built.replicas.combined(last)
    built.replicas.finish()
    with timed("evaluate"):
        anew = hasattr(arguments.get("x"), "__next__") or built.replicas.divides  # fit has used it up, or had a part
        facts["evaluated"] = evaluate(net, built.load_data() if anew else arguments)
    if facts.get("first_nonfinite_metric") is None:
        _note_nonfinite(facts, "first_nonfinite_metric", facts["final"], len(next(iter(facts["steps"].values()), ())))


@contextlib.contextmanager
def reading_model() -> Iterator[None]:
    """Turn a failure to read the model into `Refused`: it is the probe's fault and says nothing about the release."""
    try:
        yield
    except Refused:
        raise
    except Exception as error:
        name, message, _ = describe(error)
        raise Refused(f"the probe could not read the model: {name}: {message.splitlines()[0][:300]}") from error


def _note_model(model: Any, recorder: Any, facts: dict[str, Any], replicas: Replication) -> None:
    facts["weights"] = variables.weights(model, recorder.initial, SMALL_MODEL, replicas.copies)
    facts["variables"] = variables.describe(model)
    facts["iterations"] = variables.iterations(model)


def numbers(logs: dict[str, Any]) -> dict[str, float]:
    """Every metric as plain numbers; one with several values (a score per class) becomes ``name[0]`` and so on."""
    found: dict[str, float] = {}
    for name, value in logs.items():
        parts = variables.floats(value)
        if len(parts) == 1:
            found[str(name)] = parts[0]
        else:
            found.update({f"{name}[{n}]": part for n, part in enumerate(parts)})
    return found


def load_case(path: str) -> ModuleType:
    """Import the case file under a name of its own."""
    spec = importlib.util.spec_from_file_location("repro_case", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load the case {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules["repro_case"] = module
    spec.loader.exec_module(module)
    return module


def fit_arguments(data: Any, options: dict[str, Any]) -> dict[str, Any]:
    """Merge what `data()` returned with the options of the metadata.

    `data()` returns ``(x, y)``, ``(x, y, sample_weight)``, a mapping of arguments of ``fit``, or one
    dataset.
    """
    if isinstance(data, dict):
        arguments = dict(data)
    elif isinstance(data, tuple) and len(data) in (2, 3):
        arguments = dict(zip(DATA, data))  # noqa: B905 - Python 3.9
    else:
        arguments = {"x": data}
    return {"verbose": 0, "shuffle": False, **arguments, **options}


def evaluate(model: Any, arguments: dict[str, Any]) -> dict[str, float]:
    """Evaluate on the training data with the same batch size."""
    kept = {k: arguments[k] for k in (*DATA, "batch_size") if arguments.get(k) is not None}
    if arguments.get("steps_per_epoch"):
        kept["steps"] = arguments["steps_per_epoch"]
    return numbers(model.evaluate(verbose=0, return_dict=True, **kept))


def call(function: Callable[..., Any], trial: dict[str, Any]) -> Any:
    """Call `model` or `data` with those parameters of the trial that it names."""
    accepted = inspect.signature(function).parameters
    return function(**{name: value for name, value in trial.get("options", {}).items() if name in accepted})


def _recorder(library: Any, facts: dict[str, Any], replicas: Replication | None = None) -> Any:
    """Build a callback that notes every metric after every step, and the first non-finite place."""
    steps: dict[str, list[float]] = facts.setdefault("steps", {})

    class Recorder(library.callbacks.Callback):  # type: ignore[misc]
        """Reads, never writes."""

        step = 0
        initial: Any = None

        def on_train_begin(self, logs: dict[str, Any] | None = None) -> None:
            """Note the initial weights: a model without an input shape has been built by now."""
            with reading_model():
                self.initial = variables.initial_weights(self.model)

        def on_train_batch_end(self, batch: int, logs: dict[str, Any] | None = None) -> None:
            """Note the running averages that Keras hands to callbacks; one call may make several steps."""
            with reading_model():
                self.step += variables.steps_per_call(self.model)
                values = numbers(logs or {})
                self._note(replicas.combined(values) if replicas is not None else values)

        def _note(self, values: dict[str, float]) -> None:
            for name, value in values.items():
                steps.setdefault(name, []).append(value)
            _note_nonfinite(facts, "first_nonfinite_metric", values, self.step)
            if facts.get("first_nonfinite_weight") is None:
                name, value = variables.first_nonfinite(self.model, SMALL_MODEL)
                if name:
                    facts["first_nonfinite_weight"] = {"name": name, "step": self.step, "value": value}

    return Recorder()


def _note_nonfinite(facts: dict[str, Any], key: str, values: dict[str, float], step: int) -> None:
    if facts.get(key) is None:
        for name, value in values.items():
            if not math.isfinite(value):
                facts[key] = {"name": name, "step": step, "value": value}
                return


def stopwatch(durations: dict[str, float], enter: Callable[[str], None]) -> Timed:
    """Return a context manager that enters a stage and notes how long it took."""

    @contextlib.contextmanager
    def timed(stage: str) -> Any:
        enter(stage)
        started = time.monotonic()
        try:
            yield
        finally:
            durations[stage] = time.monotonic() - started

    return timed

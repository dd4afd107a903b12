"""A tiny training on one device: proof that an environment works at all, before any trial runs in it."""

from __future__ import annotations

import importlib
import math
import os
from collections.abc import Callable
from typing import Any

from ..exceptions import describe
from ..refusals import Refused


def run(request: dict[str, Any], trial: dict[str, Any], facts: dict[str, Any], enter: Callable[[str], None]) -> None:
    """Train one weight for two steps; raises when that fails or the loss is not finite.

    A package that is no Keras (no ``Sequential``) has been imported by now, and that has to do. For a script nothing
    was imported before: what lies below the package under test is imported first, and refused where that fails.
    """
    enter("import")
    if request.get("backend"):
        os.environ["KERAS_BACKEND"] = request["backend"]
    for name in request.get("prerequisites", ()):
        _imported(name, Exception)
    enter("load")
    _imported(request["import_name"], SystemExit)  # what else it raises, a script would show; this may look good
    enter("train")
    library = importlib.import_module(request["import_name"])
    library = getattr(library, "keras", library)
    if not hasattr(library, "Sequential"):
        return
    import numpy as np

    model = library.Sequential([library.layers.Input((1,)), library.layers.Dense(1)])
    model.compile(optimizer="sgd", loss="mse")
    ones = np.ones((8, 1), "float32")
    loss = float(model.fit(ones, ones, batch_size=4, epochs=1, verbose=0).history["loss"][-1])
    facts["final"] = {"loss": loss}
    if not math.isfinite(loss):
        raise ArithmeticError(f"the loss of a tiny one-replica training is {loss}")


def _imported(name: str, refusing: type[BaseException]) -> None:
    try:
        importlib.import_module(name)
    except refusing as error:
        raise Refused(f"cannot be imported: import {name}: {describe(error)[0]}: {describe(error)[1]}") from error

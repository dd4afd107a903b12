"""Map the aggregation "sum" to NONE: the workaround that the reports pass around.

It takes the NaN away from Keras 3.7.0 to 3.9.2, because the metric's state is no longer summed at every step. Each
replica then keeps a state of its own and the first one's is shown, so the metric is not right.
"""

from __future__ import annotations

from typing import Any


def apply() -> tuple[str, str]:
    """Patch ``Variable._map_aggregation`` of the TensorFlow backend."""
    import tensorflow as tf
    from keras.src.backend.tensorflow import core

    original = getattr(core.Variable, "_map_aggregation", None)
    if original is None:
        return "absent", "this release has no _map_aggregation: no aggregation reaches tf.Variable"

    def mapped(self: Any, aggregation: str) -> Any:
        return tf.VariableAggregation.NONE if aggregation == "sum" else original(self, aggregation)

    core.Variable._map_aggregation = mapped
    return "applied", "_map_aggregation: sum -> NONE"

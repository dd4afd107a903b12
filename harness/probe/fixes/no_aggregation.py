"""Map all four aggregations to NONE: how Keras behaved until 3.6.0."""

from __future__ import annotations

from typing import Any


def apply() -> tuple[str, str]:
    """Patch ``Variable._map_aggregation`` of the TensorFlow backend."""
    import tensorflow as tf
    from keras.src.backend.tensorflow import core

    if not hasattr(core.Variable, "_map_aggregation"):
        return "absent", "this release has no _map_aggregation: it behaves so already"

    def mapped(self: Any, aggregation: str) -> Any:
        del self, aggregation
        return tf.VariableAggregation.NONE

    core.Variable._map_aggregation = mapped
    return "applied", "_map_aggregation: every key -> NONE"

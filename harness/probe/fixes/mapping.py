"""Change one key of ``_map_aggregation``: what maintainers asked users to try by hand in keras #20568 and #20601."""

from __future__ import annotations

from typing import Any


def apply(key: str, value: str) -> tuple[str, str]:
    """Map the aggregation `key` (none, sum, mean, only_first_replica) to `value`, a ``tf.VariableAggregation``."""
    import tensorflow as tf
    from keras.src.backend.tensorflow import core

    original = getattr(core.Variable, "_map_aggregation", None)
    if original is None:
        return "absent", "this release has no _map_aggregation"
    wanted = getattr(tf.VariableAggregation, value)

    def mapped(self: Any, aggregation: str) -> Any:
        return wanted if aggregation == key else original(self, aggregation)

    core.Variable._map_aggregation = mapped
    return "applied", f"_map_aggregation: {key} -> {value}"

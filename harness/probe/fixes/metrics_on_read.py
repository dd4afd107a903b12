"""Give metric variables ON_READ synchronization: what upstream did in Keras 3.10.0 (pull request 21072).

Until then the sum over the replicas is taken at every write, of the whole state; with ON_READ each replica
adds up its own share and the sum is taken once, when the metric is read. In 3.7.0 to 3.9.2 only the variables
of metrics have the aggregation "sum", so that is how they are told apart.
"""

from __future__ import annotations

from typing import Any


def apply() -> tuple[str, str]:
    """Patch the creation of ``tf.Variable`` in the TensorFlow backend's ``Variable``."""
    import tensorflow as tf
    from keras.src.backend.tensorflow import core

    if hasattr(core.Variable, "_map_synchronization"):
        return "absent", "this release has synchronization of its own"
    if not hasattr(core.Variable, "_map_aggregation"):
        return "absent", "in this release no aggregation reaches tf.Variable, so metrics cannot be told apart"

    def initialize(self: Any, value: Any) -> None:
        on_read = self.aggregation == "sum"
        synchronization = tf.VariableSynchronization.ON_READ if on_read else tf.VariableSynchronization.AUTO
        self._value = tf.Variable(
            value,
            dtype=self._dtype,
            trainable=self.trainable,
            name=self.name,
            aggregation=self._map_aggregation(self.aggregation),
            synchronization=synchronization,
        )

    def initialize_with_initializer(self: Any, initializer: Any) -> None:
        self._initialize(lambda: initializer(self._shape, dtype=self._dtype))

    core.Variable._initialize = initialize
    core.Variable._initialize_with_initializer = initialize_with_initializer
    return "applied", "variables with aggregation sum get ON_READ; the gradient is not touched"

"""A layer that owns an integer variable, built inside a strategy's scope.

Keras 3.7.0 gives every variable the aggregation "mean" and hands it to TensorFlow. TensorFlow cannot average
whole numbers over replicas, so the model cannot even be built. Dropout owns such a variable without being
asked: the state of its random generator. A counter that a layer adds for itself is the other half of the
reports.

Nothing random is judged here: the rate is so small that Dropout never drops a value.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "Dropout, or any integer weight, cannot be built inside the scope of a MirroredStrategy"
# since = "3.5.0"
# origin = [
#   "https://github.com/keras-team/keras/issues/20611",
#   "https://github.com/keras-team/keras/issues/20700",
#   "https://github.com/keras-team/keras/pull/20612",
#   "https://github.com/keras-team/keras/pull/20703",
# ]
# expects = "exception"
# replicas = 2
# timeout_seconds = 120
#
# # Metrics have a regression of their own, see `identity`; here only the model and its weights are judged.
# [tool.harness.tolerance]
# metric = "not compared"
# weights = 1e-4
#
# [tool.harness.fit]
# batch_size = 16
# shuffle = false
#
# [tool.harness.parameters]
# layer = ["dropout", "counter"]
# ///

import keras
import numpy as np
import tensorflow as tf


class Counter(keras.layers.Layer):
    """Passes its input on and owns an integer weight, as a layer that counts its batches does."""

    def build(self, input_shape):  # noqa: ARG002
        """Create the weight."""
        self.seen = self.add_weight(shape=(), dtype="int32", initializer="zeros", trainable=False)

    def call(self, inputs):
        """Return the input as it is."""
        return inputs


def data():
    """512 numbers between -1 and 1; the target is the number itself."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(512, 1)).astype("float32")
    return x, x


def model(layer="dropout"):
    """One weight and one bias behind the layer in question, and Adam (the gradient is doubled up to 3.7.0)."""
    middle = Counter() if layer == "counter" else keras.layers.Dropout(1e-9)
    net = keras.Sequential([keras.Input((1,)), middle, keras.layers.Dense(1)])
    net.compile(optimizer=keras.optimizers.Adam(0.05, epsilon=1e-12), loss="mse")
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("Dropout", keras.__version__, model().fit(*data(), batch_size=16, shuffle=False, verbose=0).history)

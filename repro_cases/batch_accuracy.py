"""The accuracy that a callback is told after each batch, with two replicas.

The progress bar and every callback get the metrics batch by batch, not only at the end of an epoch. Early
releases of Keras 3 added up what the replicas said instead of averaging it, so that accuracy reached the
number of replicas. An accuracy above 1 cannot be: this script looks for nothing else. Whether a value below
1 is the right one is what `identity` and `evaluate_replicas` ask.

Exit code: 0 no accuracy above 1, 1 at least one.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "the accuracy in the batch logs is above 1 under MirroredStrategy"
# since = "3.5.0"
# level = "script"
# origin = [
#   "https://github.com/keras-team/keras/issues/19280",
#   "https://github.com/keras-team/keras/issues/19340",
# ]
# expects = "wrong-metric"
# timeout_seconds = 180
# ///

import contextlib
import os
import sys

import keras
import numpy as np


class Listener(keras.callbacks.Callback):
    """Keeps the accuracy that Keras tells after each batch."""

    def __init__(self):
        super().__init__()
        self.heard = []

    def on_train_batch_end(self, batch, logs=None):  # noqa: ARG002
        """Keep one value."""
        self.heard.append(round(float(logs["accuracy"]), 4))


def two_replicas():
    """What the model is built in: two devices of this machine's CPU."""
    if keras.backend.backend() == "jax":
        os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"  # read with the first operation
        keras.distribution.set_distribution(keras.distribution.DataParallel(devices=["cpu:0", "cpu:1"]))
        return contextlib.nullcontext()
    if keras.backend.backend() != "tensorflow":
        print(f"{keras.backend.backend()} has no replicas within one process: nothing to see")
        sys.exit(125)
    import tensorflow as tf  # noqa: PLC0415 - not there with another backend

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    return tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope()


def main():
    """Train two epochs on points that a line separates; return the exit code."""
    scope = two_replicas()
    x = np.random.default_rng(0).normal(size=(64, 2)).astype("float32")
    y = (x[:, 0] > 0).astype("int64")
    keras.utils.set_random_seed(0)
    with scope:
        net = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2, activation="softmax")])
        net.compile(optimizer=keras.optimizers.SGD(1.0), loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    listener = Listener()
    net.fit(x, y, batch_size=16, epochs=2, shuffle=False, verbose=0, callbacks=[listener])
    print(f"keras {keras.__version__}, accuracy after each batch: {listener.heard}")
    print(f"largest {max(listener.heard)}, possible 1.0")
    return int(max(listener.heard) > 1.0)


if __name__ == "__main__":
    sys.exit(main())

"""`evaluate` on several replicas against `evaluate` on one device, with the same weights.

The learning rate is zero: nothing is learned, so the weights are the same everywhere and only the evaluation
is judged. Three faults follow one another. Up to 3.6.0 the value is that of the first replica's share of the
samples. From 3.7.0 the sums inside the loss metric are added up over the replicas, old and new samples
alike, at every step: right while there is one batch only, wrong from the second batch on, since early
batches weigh more and more.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "evaluate() under MirroredStrategy differs from one device"
# since = "3.5.0"
# origin = [
#   "https://github.com/keras-team/keras/issues/19891",
#   "https://github.com/keras-team/keras/pull/20541",
#   "https://github.com/keras-team/keras/issues/21054",
# ]
# expects = "wrong-metric"
# replicas = 2
# timeout_seconds = 120
# tolerance = 1e-5
#
# [tool.harness.fit]
# batch_size = 16
# shuffle = false
#
# [tool.harness.parameters]
# batches = ["16", "1"]
# ///

import keras
import numpy as np
import tensorflow as tf


def data(batches="16"):
    """Batches of 16 numbers; the target grows along the way, so that each batch has a loss of its own."""
    count = 16 * int(batches)
    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(count, 1)).astype("float32")
    return x, x + np.linspace(0.0, 3.0, count, dtype="float32")[:, None]


def model():
    """One weight and one bias that never change."""
    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    net.compile(optimizer=keras.optimizers.SGD(0.0), loss="mse")
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("evaluate", keras.__version__, model().evaluate(*data(), batch_size=16, verbose=0))

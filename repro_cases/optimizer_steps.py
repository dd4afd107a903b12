"""Which batches does the optimizer step on when `fit` is told `steps_per_epoch`?

Under a strategy Keras builds the model's state from a first batch of data. Up to 3.6.0 that batch was taken
from the iterator that also feeds the training, and never given back: with `steps_per_epoch` the training
starts at the second batch. One device, which builds without a batch, starts at the first. There are more
batches than steps here, so that nobody runs out of data: how that ends depends on which replica is faster.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "with steps_per_epoch the first batch is consumed, but not trained on"
# since = "3.5.0"
# origin = [
#   "https://github.com/keras-team/keras/issues/20394",
#   "https://github.com/keras-team/keras/pull/20396",
# ]
# expects = "wrong-weights"
# replicas = 2
# timeout_seconds = 120
#
# # Metrics have a regression of their own, see `identity`.
# [tool.harness.tolerance]
# metric = "not compared"
# weights = 1e-4
#
# # Four of the eight batches: the first to the fourth, or the second to the fifth.
# [tool.harness.fit]
# batch_size = 16
# steps_per_epoch = 4
# shuffle = false
# ///

import keras
import numpy as np
import tensorflow as tf


def data():
    """Eight batches of 16 numbers; the target is the number itself."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(128, 1)).astype("float32")
    return x, x


def model():
    """One weight and one bias; Adam, which the doubled gradient of 3.5.0 to 3.7.0 does not bother."""
    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    net.compile(optimizer=keras.optimizers.Adam(0.05, epsilon=1e-12), loss="mse")
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("half", keras.__version__, model().fit(*data(), batch_size=16, steps_per_epoch=4, verbose=0).history)

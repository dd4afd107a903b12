"""A loss that returns one number for the whole batch is not divided by the number of replicas.

Keras divides a loss that returns one number per sample by the size of the global batch. Where the loss has taken the
mean itself, each replica's mean stands for the whole batch, and two replicas train with twice the gradient.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "A loss that returns one number is not divided by the number of replicas"
# origin = [
#   "https://github.com/keras-team/keras/issues/16285",
# ]
# since = "3.5.0"
# expects = "wrong-weights"
# replicas = 2
# timeout_seconds = 180
#
# [tool.harness.fit]
# batch_size = 8
# shuffle = false
#
# [tool.harness.parameters]
# loss = ["mean", "average_loss", "none"]
# ///

import keras
import numpy as np
import tensorflow as tf

BATCH = 8  # the global batch, as `fit` gets it


def data():
    """64 points and their sums."""
    x = np.random.default_rng(0).normal(size=(64, 4)).astype("float32")
    return x, x.sum(axis=1, keepdims=True)


class ScalarLoss(keras.losses.Loss):
    """Squared error, already reduced to one number."""

    def __init__(self, reduce):
        super().__init__(name="scalar_loss")
        self.reduce = reduce

    def call(self, y_true, y_pred):
        """Return the mean over what this replica has, or over the global batch."""
        errors = tf.reduce_mean((y_true - y_pred) ** 2, axis=-1)
        if self.reduce == "average_loss":
            return tf.nn.compute_average_loss(errors, global_batch_size=BATCH)
        return tf.reduce_mean(errors) if self.reduce == "mean" else errors


def model(loss="mean"):
    """One layer."""
    net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    net.compile(optimizer=keras.optimizers.SGD(0.01), loss=ScalarLoss(loss), metrics=["mae"])
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("one number", keras.__version__, model().fit(*data(), batch_size=8, shuffle=False, verbose=0).history)

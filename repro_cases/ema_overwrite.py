"""An optimizer that writes the moving average of the weights back every four steps, under a strategy.

Whether this is the fourth step is decided by a conditional inside the training step, and writing a mirrored
variable makes the replicas meet. TensorFlow does not allow that inside a conditional of a graph: "merge_call
called while defining a new graph". Keeping the average alone, and writing it back once when training has
ended, needs no conditional.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "ema_overwrite_frequency raises under MirroredStrategy"
# since = "3.5.0"
# origin = [
#   "https://github.com/keras-team/keras/pull/18978",
#   "https://github.com/keras-team/keras/issues/18949",
# ]
# expects = "exception"
# replicas = 2
# timeout_seconds = 120
#
# # Metrics have a regression of their own, see `identity`.
# [tool.harness.tolerance]
# metric = "not compared"
# weights = 1e-4
#
# [tool.harness.fit]
# batch_size = 16
# shuffle = false
#
# [tool.harness.parameters]
# overwrite = ["every-fourth-step", "at-the-end"]
# execution = ["graph", "eager"]
# ///

import keras
import numpy as np
import tensorflow as tf


def data():
    """256 numbers between -1 and 1; the target is the number itself."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(256, 1)).astype("float32")
    return x, x


def model(overwrite="every-fourth-step", execution="graph"):
    """One weight and one bias; Adam, which the doubled gradient of 3.5.0 to 3.7.0 does not bother."""
    frequency = 4 if overwrite == "every-fourth-step" else None
    average = {"use_ema": True, "ema_momentum": 0.9, "ema_overwrite_frequency": frequency}
    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    adam = keras.optimizers.Adam(0.05, epsilon=1e-12, **average)
    net.compile(optimizer=adam, loss="mse", run_eagerly=execution == "eager")
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("EMA", keras.__version__, model().fit(*data(), batch_size=16, shuffle=False, verbose=0).history)

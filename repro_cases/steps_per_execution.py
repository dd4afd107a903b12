"""Several training steps in one call of the graph, under a MirroredStrategy.

With `steps_per_execution` above 1 the graph itself loops over the batches. Keras 3.7.0 rewrote that loop so
that it may end early: each step now stands in a conditional that asks whether there is another batch. On one
device that works. On several replicas the graph dies with "You must feed a value for placeholder tensor",
the message of #19246.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "steps_per_execution above 1 raises under MirroredStrategy"
# since = "3.5.0"
# origin = [
#   "https://github.com/keras-team/keras/issues/19246",
#   "https://github.com/keras-team/keras/pull/20396",
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
# steps = ["4", "1"]
# execution = ["graph", "eager"]
# ///

import keras
import numpy as np
import tensorflow as tf


def data():
    """256 numbers between -1 and 1; the target is the number itself. 16 batches, four to a call."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(256, 1)).astype("float32")
    return x, x


def model(steps="4", execution="graph"):
    """One weight and one bias; Adam, which the doubled gradient of 3.5.0 to 3.7.0 does not bother."""
    adam, eager = keras.optimizers.Adam(0.05, epsilon=1e-12), execution == "eager"
    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    net.compile(optimizer=adam, loss="mse", steps_per_execution=int(steps), run_eagerly=eager)
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("four steps", keras.__version__, model().fit(*data(), batch_size=16, shuffle=False, verbose=0).history)

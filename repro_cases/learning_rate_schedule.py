"""A learning rate that falls while the model trains, under a MirroredStrategy.

The update of a weight under a strategy runs once per replica, outside the step that computed the gradient.
The early releases of Keras 3 handed the optimizer's own step counter into that place, where it is a variable
that belongs to all replicas at once, and TensorFlow refuses it. Reported in spring 2024; the releases that a
current TensorFlow accepts come later.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "a learning-rate schedule raises under MirroredStrategy"
# since = "3.5.0"
# origin = [
#   "https://github.com/keras-team/keras/issues/19245",
#   "https://github.com/keras-team/keras/issues/19504",
# ]
# expects = "exception"
# replicas = 2
# timeout_seconds = 120
#
# # Metrics have a regression of their own, see `identity`. A rate one step late would show in the weights.
# [tool.harness.tolerance]
# metric = "not compared"
# weights = 1e-4
#
# [tool.harness.fit]
# batch_size = 16
# shuffle = false
#
# [tool.harness.parameters]
# rate = ["schedule", "constant"]
# ///

import keras
import numpy as np
import tensorflow as tf


def data():
    """512 numbers between -1 and 1; the target is the number itself."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(512, 1)).astype("float32")
    return x, x


def model(rate="schedule"):
    """One weight and one bias; the schedule halves the rate every four steps."""
    rates = {"schedule": keras.optimizers.schedules.ExponentialDecay(0.1, 4, 0.5), "constant": 0.05}
    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    net.compile(optimizer=keras.optimizers.Adam(rates[rate], epsilon=1e-12), loss="mse")
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("schedule", keras.__version__, model().fit(*data(), batch_size=16, shuffle=False, verbose=0).history)

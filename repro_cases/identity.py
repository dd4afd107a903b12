"""The smallest model that shows the regression: one weight learns y = x.

Keras 3.7.0 to 3.9.2 sum the *state* of every training metric over the replicas at each step, so with two
replicas the mean's total and count double each time. After about 128 steps both overflow float32:
inf / inf = NaN. The weight itself stays right, which is what made the reports so hard to read.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "Dense(1) learns the identity under MirroredStrategy; the training metrics turn to NaN"
# origin = [
#   "https://github.com/keras-team/keras/issues/20568",
#   "https://github.com/keras-team/keras/issues/20601",
#   "https://github.com/keras-team/keras/issues/21061",
#   "https://github.com/keras-team/keras/issues/21172",
#   "https://github.com/keras-team/keras/issues/21467",
# ]
# since = "3.5.0"
# expects = "nonfinite-metric"
# replicas = 2
# timeout_seconds = 60
# tolerance = 1e-4
# fixes = ["aggregation-sum-to-none", "metrics-on-read", "no-aggregation"]
#
# # 8,192 samples in batches of 32 are 256 steps: float32 overflows after about 128 with two replicas.
# [tool.harness.fit]
# batch_size = 32
# epochs = 1
# shuffle = false
# ///

import keras
import numpy as np


def data():
    """8,192 numbers between -1 and 1; the target is the number itself."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(8192, 1)).astype("float32")
    return x, x


def model():
    """One weight and one bias, plain SGD, mean squared error."""
    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    net.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse", metrics=["mae"])
    return net


if __name__ == "__main__":
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("identity", keras.__version__, model().fit(*data(), batch_size=32, shuffle=False, verbose=0).history)

"""An optimizer that adds up the gradients of four batches before it changes a weight, under a strategy.

Whether this is the fourth batch is decided by a conditional inside the training step. In one of its branches
the replicas have to meet to share their gradients, and TensorFlow does not allow replicas to meet inside a
conditional of a graph: "merge_call called while defining a new graph". The first report met it in a
`train_step` of its own; Keras has since got `gradient_accumulation_steps`, which is built in the same way.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "gradient accumulation raises under MirroredStrategy"
# since = "3.5.0"
# origin = [
#   "https://github.com/keras-team/keras/issues/17429",
#   "https://github.com/keras-team/tf-keras/issues/301",
#   "https://github.com/tensorflow/tensorflow/issues/59487",
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
# # 16 steps are four updates.
# [tool.harness.fit]
# batch_size = 16
# shuffle = false
#
# [tool.harness.parameters]
# accumulate = ["yes", "no"]
# execution = ["graph", "eager"]
# ///

import keras
import numpy as np
import tensorflow as tf


def data():
    """256 numbers between -1 and 1; the target is the number itself."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(256, 1)).astype("float32")
    return x, x


def model(accumulate="yes", execution="graph"):
    """One weight and one bias; Adam, which the doubled gradient of 3.5.0 to 3.7.0 does not bother."""
    steps = {"gradient_accumulation_steps": 4} if accumulate == "yes" else {}
    optimizer = keras.optimizers.Adam(0.05, epsilon=1e-12, **steps)
    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    net.compile(optimizer=optimizer, loss="mse", run_eagerly=execution == "eager")
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("accumulation", keras.__version__, model().fit(*data(), batch_size=16, shuffle=False, verbose=0).history)

"""Does it matter where the loss object is made? It was said to be scaled wrongly outside the strategy's scope.

The loss is made when the file is imported, long before there is a strategy. It makes no difference: two replicas learn
what one does, and what shows in a release before 3.10.0 shows as well with the loss made inside the scope.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "A loss object made outside the scope of the strategy is said to be scaled wrongly"
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
# loss = ["outside", "inside"]
# ///

import keras
import numpy as np
import tensorflow as tf

OUTSIDE = keras.losses.MeanSquaredError()


def data():
    """64 points and their sums."""
    points = np.random.default_rng(0).normal(size=(64, 3)).astype("float32")
    return points, points.sum(axis=1, keepdims=True)


def model(loss="outside"):
    """One layer."""
    net = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1)])
    chosen = keras.losses.MeanSquaredError() if loss == "inside" else OUTSIDE
    net.compile(optimizer=keras.optimizers.SGD(0.01), loss=chosen, metrics=["mae"])
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("loss outside", keras.__version__, model().fit(*data(), batch_size=8, shuffle=False, verbose=0).history)

"""A loss that is divided by the sum of its sample weights, with several replicas.

The reduction "mean_with_sample_weight", new in 3.7.0 and the answer to #19740, divides by the sum of the
weights. Under a strategy every replica divides by the sum of *its own* share: where the heavy samples are
spread unevenly, the mean of two such means is not the mean of the whole batch. Both the loss and the trained
weights depend on the number of replicas then. Earlier releases do not know the reduction and say so.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "a loss divided by the sum of its weights depends on the number of replicas"
# since = "3.5.0"
# origin = [
#   "https://github.com/keras-team/keras/issues/19740",
#   "https://github.com/keras-team/keras/pull/20410",
# ]
# expects = "wrong-weights"
# replicas = 2
# timeout_seconds = 120
# tolerance = 1e-4
#
# [tool.harness.fit]
# batch_size = 16
# shuffle = false
#
# [tool.harness.parameters]
# reduction = ["mean_with_sample_weight", "sum_over_batch_size"]
# weights = ["sample", "class"]
# ///

import keras
import numpy as np
import tensorflow as tf


def data(weights="sample"):
    """512 points in two classes, one of them rare and five times as heavy."""
    draw = np.random.default_rng(0)
    points = draw.uniform(-1.0, 1.0, size=(512, 2)).astype("float32")
    rare = points[:, 0] + 0.3 * draw.normal(size=512) > 0.4
    heavy = {
        "sample": {"sample_weight": np.where(rare, 5.0, 1.0).astype("float32")},
        "class": {"class_weight": {0: 1.0, 1: 5.0}},
    }
    return {"x": points, "y": rare.astype("int64"), **heavy[weights]}


def model(reduction="mean_with_sample_weight"):
    """Two classes, one layer; Adam, which the doubled gradient of 3.5.0 to 3.7.0 does not bother."""
    loss = keras.losses.SparseCategoricalCrossentropy(reduction=reduction)
    net = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2, activation="softmax")])
    net.compile(optimizer=keras.optimizers.Adam(0.05, epsilon=1e-12), loss=loss, weighted_metrics=["accuracy"])
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("mean", keras.__version__, model().fit(**data(), batch_size=16, shuffle=False, verbose=0).history)

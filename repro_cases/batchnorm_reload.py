"""A model with BatchNormalization predicts something else after it was saved and loaded again.

Under a strategy each replica sees its own share of a batch and keeps its own moving mean and variance.
Unless the copies are averaged, they drift apart: then the same input gives another output on another
replica, and a saved model holds the first replica's statistics alone. Here the second half of each batch is
shifted, so that the two shares differ a lot.

Keras averages the copies in 3.7.x only: there each variable has the aggregation "mean", which 3.8.0 took
back for other reasons. `BatchNormalization(synchronized=True)` computes the statistics over all replicas; it
is shown too, and not judged.

Exit code: 0 the loaded model predicts the same, 1 it does not.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "BatchNormalization's moving statistics differ between replicas; saving keeps the first copy"
# since = "3.5.0"
# level = "script"
# origin = [
#   "https://github.com/tensorflow/tensorflow/issues/46488",
#   "https://github.com/keras-team/keras/issues/14372",
#   "https://github.com/keras-team/keras/pull/20541",
#   "https://github.com/keras-team/keras/pull/20703",
# ]
# expects = "wrong-weights"
# timeout_seconds = 240
# ///

import os
import sys
import tempfile

import keras
import numpy as np
import tensorflow as tf


def data():
    """Four batches of 16 points; the second half of each batch, one replica's share, is shifted by 3."""
    x = np.random.default_rng(0).normal(size=(4, 2, 8, 2)).astype("float32")
    x[:, 1] += 3.0
    x = x.reshape(64, 2)
    return x, x.sum(axis=1, keepdims=True)


def copies(variable):
    """Return the copy of a mirrored variable on each replica; `numpy()` shows the first only."""
    return [np.asarray(part) for part in variable.value.values]


def measure(strategy, **options):
    """Train, save, load; return how far the copies, and the predictions before and after, lie apart."""
    x, y = data()
    keras.utils.set_random_seed(0)
    with strategy.scope():
        norm = keras.layers.BatchNormalization(momentum=0.5, **options)
        net = keras.Sequential([keras.Input((2,)), norm, keras.layers.Dense(1)])
        net.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse")
    net.fit(x, y, batch_size=16, shuffle=False, verbose=0)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")  # noqa: PTH118
        net.save(path)
        with strategy.scope():
            loaded = keras.models.load_model(path)
    first, second = copies(norm.moving_mean)
    before, after = (m.predict(x, batch_size=16, verbose=0) for m in (net, loaded))
    return float(np.abs(first - second).max()), float(np.abs(before - after).max())


def main():
    """Compare, print both differences, return the exit code."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    apart, off = measure(strategy, synchronized=True)
    print(f"keras {keras.__version__}, synchronized: copies {apart:.6f} apart, predictions {off:.6f} off")
    apart, off = measure(strategy)
    print(f"keras {keras.__version__}, as it comes: copies {apart:.6f} apart, predictions {off:.6f} off")
    return int(off > 1e-5)


if __name__ == "__main__":
    sys.exit(main())

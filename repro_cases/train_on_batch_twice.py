"""`train_on_batch` called twice, `test_on_batch` after it: whose loss is returned?

Each call should return the loss of the batch that it was given. The loss is read from a running average that
no one resets between two calls, so the second call returns the average of both batches, and so does a test.
The weight stays at 1 here because the learning rate is zero: the three losses are 1, 9 and 1, by hand.

Exit code: 0 each call returns its own loss, 1 one does not.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "train_on_batch and test_on_batch return the average over all calls so far"
# since = "3.5.0"
# level = "script"
# origin = [
#   "https://github.com/keras-team/keras/issues/22596",
#   "https://github.com/keras-team/keras/pull/22617",
# ]
# expects = "wrong-metric"
# timeout_seconds = 180
# ///

import sys

import keras
import numpy as np


def main():
    """Call three times, print what was returned and what it should be, return the exit code."""
    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, use_bias=False, kernel_initializer="ones")])
    net.compile(optimizer=keras.optimizers.SGD(0.0), loss="mse")
    x = np.ones((4, 1), dtype="float32")
    returned = [net.train_on_batch(x, 2 * x), net.train_on_batch(x, 4 * x), net.test_on_batch(x, 2 * x)]
    returned = [round(float(loss), 4) for loss in returned]
    print(f"keras {keras.__version__}, by hand:  [1.0, 9.0, 1.0]")
    print(f"keras {keras.__version__}, returned: {returned}")
    return int(returned != [1.0, 9.0, 1.0])


if __name__ == "__main__":
    sys.exit(main())

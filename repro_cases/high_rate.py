"""A learning rate that is far too high: the training diverges on one replica as on many.

Two ways to it: a rate of 20, and a rate that was multiplied by eight for "eight replicas times a batch of 32".
`batch_size` is the size of the *global* batch, so eight replicas do not make 256 of 32.
Every replica clips its own gradient before they are summed, so a clipped training differs between one and two.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "A learning rate that is too high, also one that was multiplied by the number of replicas"
# origin = [
#   "https://github.com/keras-team/keras/issues/20011",
# ]
# since = "3.5.0"
# expects = "nonfinite-metric"
# replicas = 2
# timeout_seconds = 180
#
# [tool.harness.tolerance]
# metric = 0.01
# weights = 0.05
#
# [tool.harness.fit]
# batch_size = 32
# shuffle = false
#
# [tool.harness.parameters]
# rate = ["20", "eight_times", "right"]
# clipping = ["none", "clipnorm", "clipvalue"]
# policy = ["float32", "mixed_float16", "mixed_bfloat16"]
# ///

import keras
import numpy as np

RATES = {"20": 20.0, "eight_times": 8 * 0.3, "right": 0.3}
CLIPPING = {"none": {}, "clipnorm": {"clipnorm": 1.0}, "clipvalue": {"clipvalue": 0.001}}


def data():
    """2,560 rows of four features; the target is their mean."""
    x = np.random.default_rng(0).normal(size=(2560, 4)).astype("float32")
    return x, x.mean(axis=1, keepdims=True)


def model(rate="20", clipping="none", policy="float32"):
    """One layer: descent on a parabola, which diverges once the rate is more than twice 1 / curvature."""
    keras.config.set_dtype_policy(policy)
    net = keras.Sequential([keras.Input((4,)), keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(RATES[rate], **CLIPPING[clipping])
    net.compile(optimizer=optimizer, loss="mse", metrics=["mae"])
    return net


if __name__ == "__main__":
    print(keras.__version__, model().fit(*data(), batch_size=32, shuffle=False, verbose=0).history)

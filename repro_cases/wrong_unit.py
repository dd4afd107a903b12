"""One feature is a million times larger than the others: metres recorded as micrometres.

float16 ends at 65504. bfloat16 and float32 hold the numbers, and the training diverges there. Normalising the features
cures it, with a floor under the standard deviation: one feature is constant, and 0 / 0 is NaN again.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "A feature in the wrong unit overflows float16, and lets the training diverge elsewhere"
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
# scale = ["1e6", "none"]
# normalise = ["none", "with_floor", "without_floor"]
# output = ["policy", "float32"]
# clipnorm = ["none", "1.0"]
# policy = ["mixed_float16", "float32", "mixed_bfloat16"]
# ///

import keras
import numpy as np


def data(scale="1e6", normalise="none"):
    """1,280 rows of eight features, the last one constant as an unused sensor is."""
    x = np.random.default_rng(0).normal(size=(1280, 8))
    x[:, 7] = 1.0
    y = 0.2 * x.sum(axis=1, keepdims=True)
    if scale != "none":
        x[:, 0] *= float(scale)
    if normalise != "none":
        floor = 1e-3 if normalise == "with_floor" else 0.0
        with np.errstate(invalid="ignore"):
            x = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), floor)
    return x.astype("float32"), y.astype("float32")


def model(output="policy", clipnorm="none", policy="mixed_float16"):
    """Two hidden layers; in mixed_float16 `compile` adds the loss-scale optimizer."""
    keras.config.set_dtype_policy(policy)
    sizes = [keras.layers.Dense(size, activation="relu") for size in (16, 16)]
    last = keras.layers.Dense(1, dtype="float32" if output == "float32" else None)
    net = keras.Sequential([keras.Input((8,)), *sizes, last])
    clipping = {} if clipnorm == "none" else {"clipnorm": float(clipnorm)}
    net.compile(optimizer=keras.optimizers.SGD(0.02, **clipping), loss="mse", metrics=["mae"])
    return net


if __name__ == "__main__":
    print(keras.__version__, model().fit(*data(), batch_size=32, shuffle=False, verbose=0).history)

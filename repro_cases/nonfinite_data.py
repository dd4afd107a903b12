"""One value of the data is NaN or infinite, and what of it shows.

In float32 one NaN in the data makes weights NaN and the loss stays finite: the fused kernel of Dense with relu returns
0 for NaN, on the CPU too. Only the weights show that the model is dead. A last layer in float32 does not help.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "One NaN in the data: the weights die, and in float32 the loss does not show it"
# origin = [
#   "https://github.com/tensorflow/tensorflow/issues/32730",
# ]
# since = "3.5.0"
# expects = "nonfinite-weights"
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
# value = ["nan", "inf", "none"]
# repair = ["none", "drop_rows", "zero"]
# output = ["policy", "float32"]
# policy = ["mixed_float16", "float32", "mixed_bfloat16"]
# ///

import keras
import numpy as np

BAD = (20, 2)  # a row of the first batch, and a feature; with two replicas the second one gets it


def data(value="nan", repair="none"):
    """640 rows of eight features; the target is their mean."""
    x = np.random.default_rng(0).normal(size=(640, 8)).astype("float32")
    y = x.mean(axis=1, keepdims=True)
    if value != "none":
        x[BAD] = float(value)
    if repair == "drop_rows":
        # A good row takes the place of a bad one, or the batches would no longer compare.
        x = np.where(np.isfinite(x).all(axis=1, keepdims=True), x, x[0])
    return (np.where(np.isfinite(x), x, 0.0) if repair == "zero" else x), y


def model(output="policy", policy="mixed_float16"):
    """One hidden layer; in mixed_float16 `compile` adds the loss-scale optimizer."""
    keras.config.set_dtype_policy(policy)
    last = keras.layers.Dense(1, dtype="float32" if output == "float32" else None)
    net = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), last])
    net.compile(optimizer=keras.optimizers.SGD(0.02), loss="mse", metrics=["mae"])
    return net


if __name__ == "__main__":
    print(keras.__version__, model().fit(*data(), batch_size=32, shuffle=False, verbose=0).history)

"""A fixed loss scale of 2**24: every gradient overflows in float16.

`loss_scale_factor` of an optimizer multiplies the loss and divides the gradients, and never looks whether they are
finite. A smaller factor cures it. Dynamic loss scaling, started at the same 2**24, cures it on one replica; on two it
asks the first replica alone whether the gradients are finite, and may apply an overflow of the second one (3.15.1).
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "A fixed loss scale that is too high overflows in float16"
# origin = [
#   "https://github.com/keras-team/keras/issues/20011",
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
# scale = ["2**24", "2**8", "dynamic"]
# clipnorm = ["none", "1.0"]
# policy = ["mixed_float16", "float32"]
# ///

import keras
import numpy as np

FACTORS = {"2**24": 2.0**24, "2**8": 2.0**8}


def data():
    """1,280 rows of eight features; the target is their sum."""
    x = np.random.default_rng(0).normal(size=(1280, 8)).astype("float32")
    return x, 0.2 * x.sum(axis=1, keepdims=True)


def model(scale="2**24", clipnorm="none", policy="mixed_float16"):
    """One hidden layer under a dtype policy."""
    keras.config.set_dtype_policy(policy)
    clip = None if clipnorm == "none" else float(clipnorm)
    optimizer = keras.optimizers.SGD(0.02, clipnorm=clip, loss_scale_factor=FACTORS.get(scale))
    if scale == "dynamic":
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=2.0**24)
    net = keras.Sequential([keras.Input((8,)), keras.layers.Dense(16, activation="relu"), keras.layers.Dense(1)])
    net.compile(optimizer=optimizer, loss="mse", metrics=["mae"], auto_scale_loss=False)
    return net


if __name__ == "__main__":
    print(keras.__version__, model().fit(*data(), batch_size=32, shuffle=False, verbose=0).history)

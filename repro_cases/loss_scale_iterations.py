"""The step counter of an optimizer that scales the loss.

`LossScaleOptimizer` wraps another optimizer and is what the policy `mixed_float16` puts around yours. Both
have a counter named `iterations`; only the inner one counted. Whoever reads the outer one, as the
TensorBoard callback does, sees a training that never moves.

Exit code: 0 the counter tells the number of steps, 1 it does not.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "LossScaleOptimizer.iterations stays at 0"
# since = "3.5.0"
# level = "script"
# origin = [
#   "https://github.com/keras-team/keras/issues/20878",
#   "https://github.com/keras-team/keras/pull/20901",
# ]
# expects = "wrong-metric"
# timeout_seconds = 180
# ///

import sys

import keras
import numpy as np


def main():
    """Train four steps, print both counters, return the exit code."""
    x = np.ones((32, 1), dtype="float32")
    keras.utils.set_random_seed(0)
    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.01))
    net.compile(optimizer=optimizer, loss="mse")
    net.fit(x, x, batch_size=8, verbose=0)
    inner, outer = (int(o.iterations.numpy()) for o in (optimizer.inner_optimizer, optimizer))
    print(f"keras {keras.__version__}, inner optimizer: {inner} iterations after 4 steps")
    print(f"keras {keras.__version__}, outer optimizer: {outer} iterations after 4 steps")
    return int(outer != 4)


if __name__ == "__main__":
    sys.exit(main())

"""GroupNormalization under the policy `mixed_float16`, fed with numbers that float16 cannot hold.

The largest float16 is 65504. Keras casts the input of a layer to the layer's compute type before the layer
sees it, so a number above that arrives as infinity, and infinity minus infinity is NaN. Other normalization
layers ask Keras to leave their input alone and compute in float32; GroupNormalization did not. The report
blames the tiny epsilon: the second line shows that a large epsilon does not help.

Exit code: 0 both outputs are finite, 1 one of them is not.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "GroupNormalization turns large inputs into NaN under mixed_float16"
# since = "3.5.0"
# level = "script"
# origin = [
#   "https://github.com/keras-team/keras/issues/22586",
#   "https://github.com/keras-team/keras/pull/22589",
#   "https://github.com/keras-team/keras/pull/23070",
# ]
# expects = "nonfinite-metric"
# timeout_seconds = 180
# ///

import sys

import keras
import numpy as np


def largest(epsilon):
    """Return the largest output for inputs between 60,000 and 70,000; NaN if one output is NaN."""
    x = np.random.default_rng(0).uniform(60_000.0, 70_000.0, size=(1, 4, 4, 4)).astype("float32")
    layer = keras.layers.GroupNormalization(groups=2, epsilon=epsilon, dtype="mixed_float16")
    return float(np.max(keras.ops.convert_to_numpy(layer(x)).astype("float32")))


def main():
    """Normalize with a small and with a large epsilon, print both, return the exit code."""
    small, large = largest(1e-12), largest(1e-3)
    print(f"keras {keras.__version__}, epsilon 1e-12: largest output {small}")
    print(f"keras {keras.__version__}, epsilon 1e-03: largest output {large}")
    return int(not (np.isfinite(small) and np.isfinite(large)))


if __name__ == "__main__":
    sys.exit(main())

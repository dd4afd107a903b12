"""A loss and a metric of the same name, given the same sample weights.

Two samples, each off by 1, with the weights 0 and 1. The metric divides by the sum of the weights and says
1.0. The loss divides by the number of samples and says 0.5: correct by its name, "sum over batch size", and
not what the reporter wanted. Asked for the weighted mean, a loss can say 1.0 too, where the release knows
that reduction.

Exit code: 0 the loss can be made to agree with the metric, 1 it cannot.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "with sample weights a loss cannot be made to agree with its metric"
# since = "3.5.0"
# level = "script"
# origin = [
#   "https://github.com/keras-team/keras/issues/19740",
#   "https://github.com/keras-team/keras/pull/20410",
# ]
# expects = "wrong-metric"
# timeout_seconds = 180
# ///

import sys

import keras
import numpy as np


def main():
    """Print the metric and the loss with both reductions, return the exit code."""
    y_true = np.array([[1.0], [2.0]])
    y_pred = y_true + 1.0
    weights = np.array([[0.0], [1.0]])
    metric = keras.metrics.MeanAbsoluteError()
    metric.update_state(y_true, y_pred, weights)
    wanted = float(metric.result())
    print(f"keras {keras.__version__}, metric: {wanted}")
    print(f"keras {keras.__version__}, loss: {float(keras.losses.MeanAbsoluteError()(y_true, y_pred, weights))}")
    try:
        loss = keras.losses.MeanAbsoluteError(reduction="mean_with_sample_weight")
    except ValueError as error:
        print(f"keras {keras.__version__}, loss with mean_with_sample_weight: {str(error).splitlines()[0]}")
        return 1
    found = float(loss(y_true, y_pred, weights))
    print(f"keras {keras.__version__}, loss with mean_with_sample_weight: {found}")
    return int(abs(found - wanted) > 1e-6)


if __name__ == "__main__":
    sys.exit(main())

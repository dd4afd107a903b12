"""A loss that is divided by the sum of its sample weights, with several replicas.

The reduction "mean_with_sample_weight", new in 3.7.0 and the answer to #19740, divides by the sum of the
weights. Under a strategy every replica divides by the sum of *its own* share: where the heavy samples are
spread unevenly, the mean of two such means is not the mean of the whole batch. Both the loss and the trained
weights depend on the number of replicas then. Earlier releases do not know the reduction and say so.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "a loss divided by the sum of its weights depends on the number of replicas"
# since = "3.5.0"
# origin = [
#   "https://github.com/keras-team/keras/issues/19740",
#   "https://github.com/keras-team/keras/pull/20410",
# ]
# expects = "wrong-weights"
# replicas = 2
# timeout_seconds = 120
# tolerance = 1e-4
#
# [tool.harness.fit]
# batch_size = 16
# shuffle = false
#
# [tool.harness.parameters]
# reduction = ["mean_with_sample_weight", "sum_over_batch_size"]
# weights = ["sample", "class"]
# ///

import keras
import numpy as np
import tensorflow as tf

HEAVY = {0: 1.0, 1: 5.0}


class ClassWeighted(keras.Sequential):
    """A model that is always fitted with the class weights of this case."""

    def fit(self, *arguments, **options):
        """Fit as usual, with the class weights added."""
        return super().fit(*arguments, class_weight=HEAVY, **options)


def data(weights="sample"):
    """512 points in two classes, one of them rare and five times as heavy."""
    draw = np.random.default_rng(0)
    x = draw.uniform(-1.0, 1.0, size=(512, 2)).astype("float32")
    y = (x[:, 0] + 0.3 * draw.normal(size=512) > 0.4).astype("int64")
    if weights == "class":
        return x, y
    return x, y, np.array([HEAVY[label] for label in y], dtype="float32")


def model(reduction="mean_with_sample_weight", weights="sample"):
    """Two classes, one layer.

    Adam does not care how large the gradient is, so the doubled gradient of 3.5.0 to 3.7.0 stays out of this.
    """
    layers = [keras.Input((2,)), keras.layers.Dense(2, activation="softmax")]
    net = ClassWeighted(layers) if weights == "class" else keras.Sequential(layers)
    net.compile(
        optimizer=keras.optimizers.Adam(0.05, epsilon=1e-12),
        loss=keras.losses.SparseCategoricalCrossentropy(reduction=reduction),
        weighted_metrics=["accuracy"],
    )
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        x, y, heavy = data()
        print(
            keras.__version__, model().fit(x, y, sample_weight=heavy, batch_size=16, shuffle=False, verbose=0).history
        )

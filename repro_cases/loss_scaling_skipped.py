"""A custom training step in mixed_float16 that leaves out half of loss scaling.

In Keras 3 `scale_loss` multiplies the loss, and `apply` of the loss-scale optimizer divides the gradients and skips
what is not finite. A step that hands scaled gradients to the inner optimizer trains with gradients 256 times too
large. One that skips `scale_loss` gives no NaN: gradients are divided by a scale they never had, and the model hardly
learns.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "A custom training step that scales the loss and never divides the gradients"
# origin = [
#   "https://github.com/keras-team/keras/issues/19479",
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
# batch_size = 16
# shuffle = false
#
# [tool.harness.parameters]
# skipped = ["unscaling", "scaling", "none"]
# ///

import keras
import numpy as np
import tensorflow as tf


def data():
    """768 points of four numbers; the target is their sum."""
    x = np.random.default_rng(0).normal(size=(768, 4)).astype("float32")
    return x, x.sum(axis=1, keepdims=True)


class Trained(keras.Sequential):
    """A model with a training step of its own."""

    skipped = "none"

    def train_step(self, data):
        """One step; the gradients of all replicas are summed, hence the division."""
        x, y = data
        with tf.GradientTape() as tape:
            errors = tf.reduce_mean((y - self(x)) ** 2, axis=-1)
            loss = tf.reduce_mean(errors) / tf.distribute.get_strategy().num_replicas_in_sync
            if self.skipped != "scaling":
                loss = self.optimizer.scale_loss(loss)
        gradients = tape.gradient(loss, self.trainable_variables)
        optimizer = self.optimizer.inner_optimizer if self.skipped == "unscaling" else self.optimizer
        optimizer.apply(gradients, self.trainable_variables)
        return {"mse": self.compute_metrics(x, y, self(x))["mse"]}


def model(skipped="unscaling"):
    """One layer that computes in float16 and returns float32."""
    keras.config.set_dtype_policy("mixed_float16")
    hidden = keras.layers.Dense(8, name="hidden")
    net = Trained([keras.Input((4,)), hidden, keras.layers.Dense(1, dtype="float32", name="head")])
    net.skipped = skipped
    optimizer = keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.02), initial_scale=2.0**8)
    net.compile(optimizer=optimizer, loss="mse", metrics=["mse"])
    return net


if __name__ == "__main__":
    print(keras.__version__, model().fit(*data(), batch_size=16, shuffle=False, verbose=0).history)

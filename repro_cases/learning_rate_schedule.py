"""A learning rate that falls while the model trains, under a MirroredStrategy.

The update of a weight under a strategy runs once per replica, outside the step that computed the gradient.
The early releases of Keras 3 handed the optimizer's own step counter into that place, where it is a variable
that belongs to all replicas at once, and TensorFlow refuses it. Reported in spring 2024; the releases that a
current TensorFlow accepts come later.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "a learning-rate schedule raises under MirroredStrategy"
# since = "3.5.0"
# origin = [
#   "https://github.com/keras-team/keras/issues/19245",
#   "https://github.com/keras-team/keras/issues/19504",
# ]
# expects = "exception"
# replicas = 2
# timeout_seconds = 120
#
# # Metrics have a regression of their own, see `identity`. A rate one step late would show in the weights.
# [tool.harness.tolerance]
# metric = "not compared"
# weights = 1e-4
#
# [tool.harness.fit]
# batch_size = 16
# shuffle = false
#
# [tool.harness.switches]
# rate = ["schedule", "constant"]
#
# [tool.harness.remedies.constant-rate]
# title = "a plain number instead of a schedule"
# options = { rate = "constant" }
# against = { rate = "schedule" }
#
# [[tool.harness.claims]]
# says = "a LearningRateSchedule in a distributed context is an error (April 2024, newest release 3.2.1)"
# origin = "https://github.com/keras-team/keras/issues/19504"
# predicts = "exception"
# release = "3.2.1"
# ///

import keras
import numpy as np


def data():
    """512 numbers between -1 and 1; the target is the number itself."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(512, 1)).astype("float32")
    return x, x


def model(rate="schedule"):
    """One weight and one bias; the schedule halves the rate every four steps.

    Adam does not care how large the gradient is, so the doubled gradient of 3.5.0 to 3.7.0 stays out of this.
    """
    rates = {"schedule": keras.optimizers.schedules.ExponentialDecay(0.1, 4, 0.5), "constant": 0.05}
    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    net.compile(optimizer=keras.optimizers.Adam(rates[rate], epsilon=1e-12), loss="mse")
    return net


if __name__ == "__main__":
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    for strategy in (tf.distribute.get_strategy(), tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])):
        keras.utils.set_random_seed(0)
        with strategy.scope():
            net = model()
        net.fit(*data(), batch_size=16, shuffle=False, verbose=0)
        weight, bias = (value.item() for value in net.get_weights())
        replicas = strategy.num_replicas_in_sync
        print(f"keras {keras.__version__}, {replicas} replicas: weight {weight:.6f}, bias {bias:.6f}")

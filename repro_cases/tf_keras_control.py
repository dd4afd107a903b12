"""The control: the identity model of `identity` on tf-keras, the Keras 2 that lives on beside Keras 3.

Several reports end with "this does not happen with tf-keras". So it must stay good: one and two replicas
agree in every metric and every weight. If it turns bad, look at TensorFlow or at the harness before you look
at Keras.

The version of tf-keras follows TensorFlow's: 2.19.0 wants TensorFlow 2.19. One set of companions does not
fit several releases; run it by name with one `--release`, or let TensorFlow move along with it.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["tf-keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "the control: Dense(1) learns the identity on tf-keras, with the same numbers on two replicas"
# package = "tf-keras"
# since = "2.16.0"
# companions = ["tensorflow", "numpy"]
# origin = [
#   "https://github.com/keras-team/keras/issues/21061",
#   "https://github.com/keras-team/keras/issues/21054",
#   "https://github.com/keras-team/keras/pull/20703",
# ]
# replicas = 2
# timeout_seconds = 120
# tolerance = 1e-4
#
# # 8,192 samples in batches of 32 are 256 steps: where Keras 3 fails, it fails after about 128.
# [tool.harness.fit]
# batch_size = 32
# epochs = 1
# shuffle = false
# ///

import numpy as np
import tensorflow as tf
import tf_keras


def model():
    """One weight and one bias, plain SGD, mean squared error."""
    net = tf_keras.Sequential([tf_keras.Input((1,)), tf_keras.layers.Dense(1)])
    net.compile(optimizer=tf_keras.optimizers.SGD(0.01), loss="mse", metrics=["mae"])
    return net


def data():
    """8,192 numbers between -1 and 1; the target is the number itself."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(8192, 1)).astype("float32")
    return x, x


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("control", tf_keras.__version__, model().fit(*data(), batch_size=32, shuffle=False, verbose=0).history)

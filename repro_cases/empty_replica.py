"""The last batch holds one sample, and the second of two replicas gets none.

65 clips in batches of 8 leave one over. The replica without samples gives no NaN, it raises: the convolution's oneDNN
kernel returns the wrong number of channels for an empty batch. With TF_ENABLE_ONEDNN_OPTS=0 it trains, and the one
sample of that batch counts half. One replica trains without complaint.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "A replica that gets no samples in the last batch raises in a convolution"
# origin = [
#   "https://github.com/tensorflow/tensorflow/issues/36224",
#   "https://github.com/tensorflow/tensorflow/issues/41657",
# ]
# since = "3.5.0"
# expects = "exception"
# replicas = 2
# timeout_seconds = 180
#
# [tool.harness.fit]
# batch_size = 8
# shuffle = false
#
# [tool.harness.parameters]
# clips = ["65", "64"]
# loss = ["mae", "average_loss"]
# ///

import keras
import numpy as np
import tensorflow as tf

BATCH = 8  # the global batch, as `fit` gets it


def data(clips="65"):
    """Noise of 64 numbers; the target is the noise itself."""
    x = np.random.default_rng(0).normal(size=(int(clips), 64, 1)).astype("float32")
    return x, x


def average_loss(y_true, y_pred):
    """The mean over the global batch, as the guide to distributed training computes it."""
    return tf.nn.compute_average_loss(tf.reduce_mean(tf.abs(y_true - y_pred), axis=(1, 2)), global_batch_size=BATCH)


def model(loss="mae"):
    """Two 1-D convolutions."""
    layers = [keras.layers.Conv1D(8, 9, padding="same"), keras.layers.Conv1D(1, 9, padding="same")]
    net = keras.Sequential([keras.Input((64, 1)), *layers])
    net.compile(optimizer=keras.optimizers.SGD(0.01), loss=average_loss if loss == "average_loss" else loss)
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("empty", keras.__version__, model().fit(*data(), batch_size=8, shuffle=False, verbose=0).history)

"""Class weights and sample weights with several replicas: do they still mean the same?

By default the weighted losses are divided by the number of samples. That number splits evenly over the
replicas, so N replicas can agree with one, and the trained weights do. What the metrics say of it is another
matter: up to 3.6.0 they tell the first replica's share, and from 3.7.0 to 3.9.2 they are summed over the
replicas at every step.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "class weights and sample weights under MirroredStrategy"
# since = "3.5.0"
# origin = [
#   "https://github.com/keras-team/keras/issues/19740",
#   "https://github.com/keras-team/keras/issues/19891",
# ]
# expects = "wrong-metric"
# replicas = 2
# timeout_seconds = 120
# tolerance = 1e-4
#
# [tool.harness.fit]
# batch_size = 16
# shuffle = false
#
# [tool.harness.parameters]
# weights = ["class", "sample"]
# ///

import keras
import numpy as np
import tensorflow as tf

HEAVY = {0: 1.0, 1: 5.0}


def data(weights="class"):
    """512 points in two classes, one of them rare and five times as heavy."""
    draw = np.random.default_rng(0)
    x = draw.uniform(-1.0, 1.0, size=(512, 2)).astype("float32")
    y = (x[:, 0] + 0.3 * draw.normal(size=512) > 0.4).astype("int64")
    if weights == "class":
        return {"x": x, "y": y, "class_weight": HEAVY}
    return {"x": x, "y": y, "sample_weight": np.array([HEAVY[label] for label in y], dtype="float32")}


def model():
    """Two classes, one layer; Adam, which the doubled gradient of 3.5.0 to 3.7.0 does not bother."""
    net = keras.Sequential([keras.Input((2,)), keras.layers.Dense(2, activation="softmax")])
    adam = keras.optimizers.Adam(0.05, epsilon=1e-12)
    net.compile(optimizer=adam, loss="sparse_categorical_crossentropy", weighted_metrics=["accuracy"])
    return net


if __name__ == "__main__":
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("class weight", keras.__version__, model().fit(**data(), batch_size=16, shuffle=False, verbose=0).history)

"""Dynamic loss scaling and an overflow on the second replica: a healthy training ends with NaN weights.

Dynamic loss scaling expects an overflow now and then and skips that step. Under MirroredStrategy the loss-scale
optimizer asks only the *first* replica whether its gradients are finite. An overflow on another one is applied.
Here one outlier, nothing to worry about in float32, overflows in float16 on the replica that gets it.

What the measurements say (Keras 3.9.0 and 3.15.1, TensorFlow 2.19.1, CPU): on one replica the step is skipped, in
float32 and bfloat16 there is no overflow, and clipping cannot cure what is no longer finite.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "mixed_float16: an overflow on the second replica only is applied, and the weights become NaN"
# origin = [
#   "https://github.com/keras-team/keras/issues/16552",
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
# outlier = ["100", "none"]
# initial_scale = ["2**15", "2**8"]
# clipnorm = ["none", "1.0"]
# policy = ["mixed_float16", "float32", "mixed_bfloat16"]
# ///

import keras
import numpy as np

OUTLIER = 20  # a row of the first batch; with two replicas the second one gets it


def data(outlier="100"):
    """1,280 rows of eight features, the last one constant; the target is linear."""
    draw = np.random.default_rng(0)
    x = draw.normal(0.0, 1.0, (1280, 8))
    x[:, 7] = 1.0
    y = x @ draw.normal(0.0, 0.2, (8, 1)) + draw.normal(0.0, 0.1, (len(x), 1))
    if outlier != "none":
        y[OUTLIER] = float(outlier)
    return x.astype("float32"), y.astype("float32")


def model(initial_scale="2**15", clipnorm="none", policy="mixed_float16"):
    """Two hidden layers. By default `compile` adds the loss-scale optimizer; here it is written out."""
    keras.config.set_dtype_policy(policy)
    hidden = [keras.layers.Dense(16, activation="relu") for _ in range(2)]
    net = keras.Sequential([keras.Input((8,)), *hidden, keras.layers.Dense(1)])
    optimizer = keras.optimizers.SGD(0.02, clipnorm=None if clipnorm == "none" else float(clipnorm))
    if policy == "mixed_float16":
        scale = 2.0 ** int(initial_scale.removeprefix("2**"))
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=scale)
    net.compile(optimizer=optimizer, loss="mse", metrics=["mae"], auto_scale_loss=False)
    return net


if __name__ == "__main__":
    import tensorflow as tf

    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    with tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope():
        print("overflow", keras.__version__, model().fit(*data(), batch_size=32, shuffle=False, verbose=0).history)

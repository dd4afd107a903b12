"""The transfer-learning shape of ResNet50 with a sigmoid output and a binary cross-entropy written out by hand.

In 32-bit floats the sigmoid of 18 is exactly 1, in float16 already that of 9. A cross-entropy that is written
out as in the textbook then takes the logarithm of 0. One image of the data is 64 times too bright, which is enough.

What the measurements say (Keras 3.15.1, TensorFlow 2.19.1, CPU):
- Keras's own binary cross-entropy stays finite. Where nothing stands between it and the sigmoid, it finds the
  logits in the graph and uses them, so a loss in float16 agrees with `from_logits=True`. In mixed precision a
  cast to float32 hides them: probabilities are clipped at 1e-7, which turns the bright image's 9.4 into 15.9,
  with gradient 0. A sigmoid in float32 helps up to a logit of 17.
- float64 input makes no difference: `fit` casts it.

`size = "resnet50"` takes the real one. On two idle cores it needs about 15 s on one replica, 40 s on two and
60 s on eight with a frozen base, so by default a smaller network of the same blocks is trained, on two.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "ResNet shape, sigmoid, binary cross-entropy by hand: log of 0 in float16"
# origin = [
#   "https://github.com/tensorflow/tensorflow/issues/41635",
#   "https://github.com/tensorflow/tensorflow/issues/43172",
# ]
# since = "3.5.0"
# expects = "nonfinite-metric"
# replicas = 2
# timeout_seconds = 300
#
# [tool.harness.tolerance]
# metric = 0.02
# weights = 0.05
#
# [tool.harness.fit]
# batch_size = 32
# shuffle = false
#
# [tool.harness.parameters]
# bright = ["64", "none"]
# kind = ["float32", "float64"]
# loss = ["textbook", "builtin", "builtin_float16", "from_logits"]
# output = ["policy", "float32"]
# policy = ["mixed_float16", "float32", "mixed_bfloat16"]
# size = ["small", "resnet50"]
# ///

import keras
import numpy as np
import tensorflow as tf

BRIGHT = 20  # an image of the first batch; with two replicas the second one gets it


def data(bright="64", kind="float32"):
    """320 noisy images, bright or dark, of 32 x 32 pixels; one label in ten is wrong."""
    draw = np.random.default_rng(0)
    label = draw.integers(0, 2, (320, 1))
    images = draw.normal(0.0, 0.3, (len(label), 32, 32, 3)) + (label[:, :, None, None] - 0.5)
    label = np.where(draw.random(label.shape) < 0.1, 1 - label, label)
    if bright != "none":
        images[BRIGHT] *= float(bright)
    return images.astype(kind), label.astype("float32")


def bottleneck(x, width):
    """The block of ResNet50: 1x1, 3x3 and 1x1 convolutions beside a shortcut."""
    shortcut = keras.layers.Conv2D(4 * width, 1, strides=2)(x)
    for filters, kernel, stride in ((width, 1, 2), (width, 3, 1), (4 * width, 1, 1)):
        x = keras.layers.Conv2D(filters, kernel, strides=stride, padding="same")(x)
        x = keras.layers.BatchNormalization()(x)
        x = keras.layers.ReLU()(x) if filters == width else x
    return keras.layers.ReLU()(keras.layers.Add()([shortcut, x]))


def backbone(size):
    """Return a network from images to one vector each."""
    if size == "resnet50":
        return keras.applications.ResNet50(weights=None, include_top=False, input_shape=(32, 32, 3), pooling="avg")
    images = keras.Input((32, 32, 3))
    x = keras.layers.Conv2D(8, 7, strides=2, padding="same")(images)
    x = keras.layers.BatchNormalization()(x)
    x = bottleneck(bottleneck(keras.layers.ReLU()(x), 8), 16)
    return keras.Model(images, keras.layers.GlobalAveragePooling2D()(x), name="backbone")


def textbook(y_true, y_pred):
    """Binary cross-entropy written out."""
    terms = y_true * tf.math.log(y_pred) + (1.0 - y_true) * tf.math.log(1.0 - y_pred)
    return -tf.reduce_mean(terms, axis=-1)


def model(loss="textbook", output="policy", policy="mixed_float16", size="small"):
    """A backbone with frozen BatchNormalization, one logit, a sigmoid; SGD with loss scaling in mixed_float16."""
    keras.config.set_dtype_policy(policy)
    base = backbone(size)
    for layer in base.layers:
        layer.trainable = not isinstance(layer, keras.layers.BatchNormalization)
    images = keras.Input((32, 32, 3))
    x = keras.layers.Dense(1, name="head")(base(images, training=False))
    if loss != "from_logits":
        x = keras.layers.Activation("sigmoid", dtype="float32" if output == "float32" else None)(x)
    builtin = keras.losses.BinaryCrossentropy(
        from_logits=loss == "from_logits", dtype="float16" if loss == "builtin_float16" else None
    )
    optimizer = keras.optimizers.SGD(0.2, momentum=0.9)
    if policy == "mixed_float16":
        # With the default of 2**15 a gradient overflows in the tenth step, on the second replica only, and
        # the weights become NaN although nothing is wrong with the model. `mixed_precision` shows why.
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=2.0**8)
    net = keras.Model(images, x)
    net.compile(optimizer=optimizer, loss=textbook if loss == "textbook" else builtin)
    return net


if __name__ == "__main__":
    print(keras.__version__, model().fit(*data(), batch_size=32, shuffle=False, verbose=0).history)

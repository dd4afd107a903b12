"""The transfer-learning shape of ResNet50 with a sigmoid output and binary cross-entropy.

In 32-bit floats the sigmoid of 18 is exactly 1, in float16 already that of 9. A cross-entropy that is written
out as in the textbook then takes the logarithm of 0. One image of the data is 64 times too bright, which is
enough. The other faults are the usual suspects of multi-replica reports: a rate scaled for a batch that is
not there, float64 input, statistics of BatchNormalization.

What the measurements say (Keras 3.15.1, TensorFlow 2.19.1, CPU):
- Keras's own binary cross-entropy stays finite. Where nothing stands between it and the sigmoid, it finds the
  logits in the graph and uses them, so a loss in float16 agrees with `from_logits=True`. In mixed precision a
  cast to float32 hides them: probabilities are clipped at 1e-7, which turns the bright image's 9.4 into 15.9,
  with gradient 0. A sigmoid in float32 helps up to a logit of 17.
- `batch_size` is the size of the *global* batch, so eight replicas do not make 256 of 32. Who multiplies the
  rate by eight nevertheless gets NaN, on one replica as on many.
- float64 input makes no difference: `fit` casts it.
- `base(x, training=False)` does not keep BatchNormalization in inference mode while `fit` trains the model:
  `fit` overrides it. Each replica then has statistics of its own. Only `trainable = False` freezes it.

`size = "resnet50"` takes the real one. On two idle cores it needs about 15 s on one replica, 40 s on two and
60 s on eight with a frozen base, so by default a smaller network of the same blocks is trained, on two.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "ResNet shape, sigmoid, binary cross-entropy: log of 0 in float16, a rate for another batch"
# origin = [
#   "https://github.com/tensorflow/tensorflow/issues/41635",
#   "https://github.com/tensorflow/tensorflow/issues/43172",
#   "https://github.com/keras-team/keras/issues/20285",
#   "https://github.com/tensorflow/tensorflow/issues/40428",
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
# epochs = 1
# shuffle = false
#
# [tool.harness.switches]
# fault = ["saturated_log", "float16_loss", "scaled_rate", "float64_input", "training_false", "none"]
# remedy = [
#   "none", "from_logits", "builtin_loss", "float32_output", "rate_over_replicas", "clipnorm",
#   "float32_input", "frozen_batchnorm",
# ]
# policy = ["mixed_float16", "float32", "mixed_bfloat16"]
# size = ["small", "resnet50"]
#
# [tool.harness.remedies.from_logits]
# title = "no sigmoid in the model, from_logits=True in the loss"
# options = { remedy = "from_logits" }
# against = { fault = "saturated_log" }
#
# [tool.harness.remedies.builtin_loss]
# title = "keras.losses.BinaryCrossentropy instead of one's own"
# options = { remedy = "builtin_loss" }
# against = { fault = "saturated_log" }
#
# [tool.harness.remedies.float32_output]
# title = "the sigmoid in float32"
# options = { remedy = "float32_output" }
# against = { fault = "saturated_log" }
#
# [tool.harness.remedies.rate_over_replicas]
# title = "the learning rate divided by the number of replicas it was multiplied by"
# options = { remedy = "rate_over_replicas", policy = "float32" }
# against = { fault = "scaled_rate", policy = "float32" }
#
# [tool.harness.remedies.clipnorm]
# title = "clipnorm of 1, against a rate that is too large"
# options = { remedy = "clipnorm", policy = "float32" }
# against = { fault = "scaled_rate", policy = "float32" }
#
# [tool.harness.remedies.float32_input]
# title = "cast the input to float32"
# options = { remedy = "float32_input" }
# against = { fault = "float64_input" }
#
# [tool.harness.remedies.frozen_batchnorm]
# title = "trainable = False for every BatchNormalization"
# options = { remedy = "frozen_batchnorm" }
# against = { fault = "training_false" }
# origin = "https://github.com/keras-team/keras/issues/20285"
#
# [[tool.harness.claims]]
# says = "batch_size=32 becomes 64 on two replicas, so other weights are learned than on one."
# predicts = "wrong-weights"
# options = { fault = "none" }
#
# [[tool.harness.claims]]
# says = "batch_size=32 is split, 16 for each of two replicas, so training equals that on one replica."
# origin = "https://github.com/tensorflow/tensorflow/issues/40428"
# predicts = "good"
# release = "3.15.1"
# options = { fault = "none" }
#
# [[tool.harness.claims]]
# says = "float64 input makes the loss NaN."
# predicts = "nonfinite-metric"
# options = { fault = "float64_input" }
#
# [[tool.harness.claims]]
# says = "BinaryCrossentropy in float16 returns NaN."
# origin = "https://github.com/tensorflow/tensorflow/issues/43172"
# predicts = "nonfinite-metric"
# options = { fault = "float16_loss" }
#
# [[tool.harness.claims]]
# says = "What saturates in float16 does not in float32: the textbook loss stays finite."
# predicts = "finite"
# options = { policy = "float32" }
#
# [[tool.harness.claims]]
# says = "fit overrides the training=False of a base model: each replica gets statistics of its own."
# origin = "https://github.com/keras-team/keras/issues/20285"
# predicts = "wrong-weights"
# options = { fault = "training_false" }
#
# [[tool.harness.claims]]
# says = "The same model gives NaN on a TPU and not on a CPU."
# origin = "https://github.com/tensorflow/tensorflow/issues/41635"
# untestable = "no TPU answers here"
#
# [[tool.harness.claims]]
# says = "With connect, initialize and TPUStrategy in this order a TPU trains like a CPU."
# untestable = "no TPU answers here"
# ///

import multiprocessing

import keras
import numpy as np
import tensorflow as tf

BATCH = 32  # the global batch, as `fit` gets it
RATE = 0.2
BRIGHT = 20  # an image of the first batch; with two replicas the second one gets it


def data(fault="saturated_log", remedy="none"):
    """320 noisy images, bright or dark, of 32 x 32 pixels; one label in ten is wrong."""
    draw = np.random.default_rng(0)
    label = draw.integers(0, 2, (10 * BATCH, 1))
    images = draw.normal(0.0, 0.3, (len(label), 32, 32, 3)) + (label[:, :, None, None] - 0.5)
    label = np.where(draw.random(label.shape) < 0.1, 1 - label, label)
    if fault in ("saturated_log", "float16_loss"):
        images[BRIGHT] *= 64.0
    kind = "float64" if fault == "float64_input" and remedy != "float32_input" else "float32"
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


def model(fault="saturated_log", remedy="none", policy="mixed_float16", size="small"):
    """A backbone, one logit, a sigmoid; SGD with loss scaling in mixed_float16."""
    keras.config.set_dtype_policy(policy)
    base = backbone(size)
    if fault != "training_false" or remedy == "frozen_batchnorm":
        for layer in base.layers:
            layer.trainable = not isinstance(layer, keras.layers.BatchNormalization)
    images = keras.Input((32, 32, 3))
    x = keras.layers.Dense(1, name="head")(base(images, training=False))
    if remedy != "from_logits":
        x = keras.layers.Activation("sigmoid", dtype="float32" if remedy == "float32_output" else None)(x)
    loss = keras.losses.BinaryCrossentropy(
        from_logits=remedy == "from_logits", dtype="float16" if fault == "float16_loss" else None
    )
    if fault == "saturated_log" and remedy not in ("from_logits", "builtin_loss"):
        loss = textbook
    rate = 8 * RATE if fault == "scaled_rate" and remedy != "rate_over_replicas" else RATE
    optimizer = keras.optimizers.SGD(rate, momentum=0.9, clipnorm=1.0 if remedy == "clipnorm" else None)
    if policy == "mixed_float16":
        # With the default of 2**15 a gradient overflows in the tenth step, on the second replica only, and
        # the weights become NaN although nothing is wrong with the model. `mixed_precision` shows why.
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=2.0**8)
    net = keras.Model(images, x)
    net.compile(optimizer=optimizer, loss=loss)
    return net


TRIED = (
    ("none", "none", "mixed_float16"),
    ("saturated_log", "none", "mixed_float16"),
    ("saturated_log", "none", "float32"),
    ("saturated_log", "from_logits", "mixed_float16"),
    ("saturated_log", "builtin_loss", "mixed_float16"),
    ("saturated_log", "float32_output", "mixed_float16"),
    ("float16_loss", "none", "mixed_float16"),
    ("scaled_rate", "none", "float32"),
    ("scaled_rate", "rate_over_replicas", "float32"),
    ("scaled_rate", "clipnorm", "float32"),
    ("float64_input", "none", "mixed_float16"),
    ("training_false", "none", "mixed_float16"),
    ("training_false", "frozen_batchnorm", "mixed_float16"),
)


def show(fault, remedy, policy, replicas):
    """Train once, in a process of its own, and print one line."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    many = replicas > 1
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]) if many else tf.distribute.get_strategy()
    keras.utils.set_random_seed(0)
    x, y = data(fault, remedy)
    with strategy.scope():
        net = model(fault, remedy, policy)
    try:
        history = net.fit(x, y, batch_size=BATCH, shuffle=False, verbose=0).history
        finite = all(np.isfinite(weight).all() for weight in net.get_weights())
        found = ", ".join(f"{name} {values[-1]:.4g}" for name, values in history.items())
        found += "" if finite else ", WEIGHTS NOT FINITE"
    except (ValueError, tf.errors.OpError) as error:
        found = f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"
    print(f"{fault:16} {remedy:20} {policy:14}  {replicas} replicas: {found}", flush=True)


if __name__ == "__main__":
    print(f"keras {keras.__version__}, tensorflow {tf.__version__}")
    for tried in TRIED:
        for replicas in (1, 2):
            # A second strategy in one process would share the collectives of the first.
            trial = multiprocessing.Process(target=show, args=(*tried, replicas))
            trial.start()
            trial.join()

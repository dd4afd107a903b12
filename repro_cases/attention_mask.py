"""Hand-written attention in float16 that works for a while and then returns NaN.

The layer hides padding by adding ``dtype.min * (1 - mask)`` to the logits. float16 ends at -65504 and its
numbers lie 32 apart there: a logit above -16 is swallowed, one below it overflows to -inf. As long as one
position of a row stays visible that is harmless. In an empty text every position is hidden: all logits of the
row are -inf and softmax returns NaN. Here the model learns to ignore the blank token, so the logits that an
empty text consists of sink from step to step until they pass -16: 17 good steps, NaN in the 18th.

What the measurements say (Keras 3.15.1, TensorFlow 2.19.1, CPU):
- On one replica the loss-scale optimizer skips every NaN gradient: the loss is NaN, the weights stay finite.
  On two it asks the first replica only. Here the second one holds the empty text: NaN reaches the weights.
- Softmax in float32 does not help when the mask was added in float16 before; the cast must come first.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "Attention in mixed_float16 with dtype.min as mask: fine for a while, then NaN"
# origin = [
#   "https://github.com/huggingface/transformers/pull/17306",
#   "https://github.com/tensorflow/tensorflow/pull/59657",
#   "https://github.com/google/flax/issues/982",
# ]
# since = "3.5.0"
# expects = "nonfinite-metric"
# replicas = 2
# timeout_seconds = 180
# seed = 8  # with 11 of 24 seeds the logits sank to -16 within 48 steps in float32
#
# # Attention that has become sharp turns rounding in half precision into other predictions: 5 % after 48
# # steps in float16, 12 % in bfloat16, 17 % with the Keras layer (float32: 0.002 %). Weights say even less:
# # softmax does not depend on the bias of the keys at all, so its gradient is nothing but rounding.
# [tool.harness.tolerance]
# metric = 0.25
# weights = "not compared"
#
# [tool.harness.fit]
# batch_size = 16
# shuffle = false
#
# [tool.harness.parameters]
# empty_texts = ["yes", "none"]
# mask = ["min", "half_min", "infinite"]
# float32 = ["none", "softmax", "mask_and_softmax"]
# layer = ["by_hand", "keras"]
# policy = ["mixed_float16", "float32", "mixed_bfloat16"]
# ///

import keras
import numpy as np
import tensorflow as tf

LENGTH = 8
TOKENS = 12
HEADS, SIZE = 2, 8
PADDING, BLANK = -1, 0


def data(empty_texts="yes"):
    """768 texts of up to 8 tokens; the target is the mean of the tokens that are neither blank nor padding.

    One text in each batch of 16 is empty: nothing but padding. With two replicas the second one gets it.
    """
    draw = np.random.default_rng(0)
    tokens = draw.integers(1, TOKENS, (48 * 16, LENGTH))
    tokens[draw.random(tokens.shape) < 0.4] = BLANK
    tokens[:, 0] = draw.integers(1, TOKENS, len(tokens))
    tokens[np.arange(LENGTH) >= draw.integers(2, LENGTH + 1, (len(tokens), 1))] = PADDING
    counted = tokens > BLANK
    target = np.where(counted, tokens, 0).sum(axis=1) / counted.sum(axis=1) - TOKENS / 2
    if empty_texts == "yes":
        tokens[10::16], target[10::16] = PADDING, 0.0
    return tokens.astype("int32"), target[:, None].astype("float32")


class Attention(keras.layers.Layer):
    """Multi-head attention over one sequence, as it is often written by hand."""

    def __init__(self, mask, float32):
        super().__init__(name="attention")
        self.mask = mask
        self.float32 = float32
        self.query, self.key, self.value = (keras.layers.Dense(HEADS * SIZE, name=n) for n in ("query", "key", "value"))

    def build(self, shape):
        """Make the weights now, so that they are there before training."""
        for layer in (self.query, self.key, self.value):
            layer.build(shape)

    def call(self, x, visible):
        """Let each position look at the visible ones."""
        query, key, value = (
            tf.reshape(layer(x), (-1, LENGTH, HEADS, SIZE)) for layer in (self.query, self.key, self.value)
        )
        logits = tf.einsum("bqhs,bkhs->bhqk", query, key) / SIZE**0.5
        if self.float32 == "mask_and_softmax":
            logits = tf.cast(logits, "float32")
        logits = self.hide(logits, visible[:, None, None, :])
        if self.float32 == "softmax":
            logits = tf.cast(logits, "float32")
        weights = tf.cast(tf.nn.softmax(logits), value.dtype)
        return tf.reshape(tf.einsum("bhqk,bkhs->bqhs", weights, value), (-1, LENGTH, HEADS * SIZE))

    def hide(self, logits, visible):
        """Add the mask to the logits: 0 where a position may be seen, a very negative number elsewhere."""
        if self.mask == "infinite":
            return tf.where(visible, logits, tf.cast(-np.inf, logits.dtype))
        lowest = logits.dtype.min / 2 if self.mask == "half_min" else logits.dtype.min
        return logits + (1 - tf.cast(visible, logits.dtype)) * tf.cast(lowest, logits.dtype)


class Reader(keras.Model):
    """Embedding, attention, mean over positions, one number."""

    def __init__(self, mask, float32, layer):
        super().__init__()
        self.by_hand = layer == "by_hand"
        wide = keras.initializers.RandomNormal(stddev=2.0)
        self.embedding = keras.layers.Embedding(TOKENS, HEADS * SIZE, embeddings_initializer=wide)
        self.attention = (
            Attention(mask, float32) if self.by_hand else keras.layers.MultiHeadAttention(HEADS, SIZE, name="attention")
        )
        self.head = keras.layers.Dense(1, dtype="float32", name="head")

    def build(self, shape):
        """Make the weights of all layers."""
        hidden = (None, LENGTH, HEADS * SIZE)
        self.embedding.build(shape)
        self.attention.build(*[hidden] * (1 if self.by_hand else 2))
        self.head.build((None, HEADS * SIZE))
        self.built = True

    def call(self, tokens):
        """Return one number per text."""
        visible = tokens > PADDING
        x = self.embedding(tf.maximum(tokens, BLANK))
        x = self.attention(x, visible) if self.by_hand else self.attention(x, x, attention_mask=visible[:, None, :])
        return self.head(tf.reduce_mean(x, axis=1))


def model(mask="min", float32="none", layer="by_hand", policy="mixed_float16"):
    """Build the model under the policy, with loss scaling in mixed_float16."""
    keras.config.set_dtype_policy(policy)
    net = Reader(mask, float32, layer)
    net.build((None, LENGTH))
    optimizer = keras.optimizers.SGD(0.008, momentum=0.9)
    if policy == "mixed_float16":
        # The default of 2**15 overflows in the first steps, and not on one and two replicas alike: a replica
        # holds 1/N of the loss. See `mixed_precision` for what becomes of that.
        optimizer = keras.optimizers.LossScaleOptimizer(optimizer, initial_scale=2.0**8)
    net.compile(optimizer=optimizer, loss="mse", auto_scale_loss=False)
    return net


if __name__ == "__main__":
    print(keras.__version__, model().fit(*data(), batch_size=16, shuffle=False, verbose=0).history)

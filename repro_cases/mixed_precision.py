"""A plain regression net in three precisions, and what NaN, a wrong unit and overflowing gradients do to it.

What the measurements say (Keras 3.15.1, TensorFlow 2.19.1, CPU; the first two also on 3.9.0):
- Dynamic loss scaling expects an overflow now and then and skips that step. Under MirroredStrategy the
  loss-scale optimizer asks only the *first* replica whether its gradients are finite. An overflow on another
  one is applied: a healthy training in mixed_float16 ends with NaN weights. It is the default fault here.
- In float32 one NaN in the data makes weights NaN and the loss stays finite: the fused kernel of Dense with
  relu returns 0 for NaN, on the CPU too. Only the weights show that the model is dead.
- Clipping cannot cure what is no longer finite. And every replica clips its own gradient before they are
  summed, so a clipped training differs between one and two replicas.
- Dynamic loss scaling cures a scale that is too high, but skips another number of steps on one replica than
  on two, whose gradients are half as large: both are right, and they differ by 3 %.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "Regression in three precisions: bad data, wrong units, overflowing gradients"
# origin = [
#   "https://github.com/keras-team/keras/issues/16552",
#   "https://github.com/tensorflow/tensorflow/issues/32730",
#   "https://github.com/keras-team/keras/issues/20011",
# ]
# since = "3.5.0"
# expects = "nonfinite-weights"
# replicas = 2
# timeout_seconds = 180
#
# # In half precision the order of a sum shows in the third digit; a wrong gradient is wrong by far.
# [tool.harness.tolerance]
# metric = 0.01
# weights = 0.05
#
# [tool.harness.fit]
# batch_size = 32
# epochs = 1
# shuffle = false
#
# [tool.harness.switches]
# fault = [
#   "overflow_on_one_replica", "nan_in_data", "inf_in_data", "huge_range", "high_rate", "high_loss_scale",
#   "none",
# ]
# remedy = [
#   "none", "normalise", "normalise_without_floor", "drop_bad_rows", "zero_bad_values", "float32_output",
#   "smaller_rate", "clipnorm", "clipvalue", "smaller_loss_scale", "dynamic_loss_scale",
# ]
# policy = ["mixed_float16", "float32", "mixed_bfloat16"]
#
# [tool.harness.remedies.smaller_loss_scale]
# title = "start dynamic loss scaling at 2**8 instead of 2**15"
# options = { remedy = "smaller_loss_scale" }
# against = { fault = "overflow_on_one_replica" }
#
# [tool.harness.remedies.bfloat16]
# title = "mixed_bfloat16 instead of mixed_float16"
# options = { policy = "mixed_bfloat16" }
# against = { fault = "overflow_on_one_replica" }
#
# [tool.harness.remedies.clipnorm_of_overflow]
# title = "clipnorm, against an overflow on one replica"
# options = { remedy = "clipnorm" }
# against = { fault = "overflow_on_one_replica" }
#
# [tool.harness.remedies.drop_bad_rows]
# title = "drop the rows that are not finite"
# options = { remedy = "drop_bad_rows" }
# against = { fault = "nan_in_data" }
#
# [tool.harness.remedies.zero_bad_values]
# title = "replace what is not finite by 0"
# options = { remedy = "zero_bad_values" }
# against = { fault = "inf_in_data" }
#
# [tool.harness.remedies.float32_output_of_nan]
# title = "last layer in float32, against NaN in the data"
# options = { remedy = "float32_output" }
# against = { fault = "nan_in_data" }
#
# [tool.harness.remedies.normalise]
# title = "normalise the features, with a floor on the standard deviation"
# options = { remedy = "normalise" }
# against = { fault = "huge_range" }
#
# [tool.harness.remedies.normalise_without_floor]
# title = "normalise the features, one of which is constant, without a floor"
# options = { remedy = "normalise_without_floor" }
# against = { fault = "huge_range" }
#
# [tool.harness.remedies.float32_output]
# title = "last layer in float32, against a wrong unit"
# options = { remedy = "float32_output" }
# against = { fault = "huge_range" }
#
# [tool.harness.remedies.clipnorm_of_huge_range]
# title = "clipnorm, against a wrong unit in float32"
# options = { remedy = "clipnorm", policy = "float32" }
# against = { fault = "huge_range", policy = "float32" }
#
# [tool.harness.remedies.smaller_rate]
# title = "a learning rate of 0.02 instead of 20"
# options = { remedy = "smaller_rate" }
# against = { fault = "high_rate" }
#
# [tool.harness.remedies.clipnorm]
# title = "clipnorm of 1, against a rate of 20"
# options = { remedy = "clipnorm" }
# against = { fault = "high_rate" }
#
# [tool.harness.remedies.clipvalue]
# title = "clipvalue of 0.001, against a rate of 20"
# options = { remedy = "clipvalue" }
# against = { fault = "high_rate" }
#
# [tool.harness.remedies.clipnorm_of_loss_scale]
# title = "clipnorm of 1, against a fixed loss scale that overflows"
# options = { remedy = "clipnorm" }
# against = { fault = "high_loss_scale" }
#
# [tool.harness.remedies.fixed_smaller_loss_scale]
# title = "a fixed loss scale of 2**8 instead of 2**24"
# options = { remedy = "smaller_loss_scale" }
# against = { fault = "high_loss_scale" }
#
# [tool.harness.remedies.dynamic_loss_scale]
# title = "the loss-scale optimizer, started at the same 2**24"
# options = { remedy = "dynamic_loss_scale" }
# against = { fault = "high_loss_scale" }
#
# [[tool.harness.claims]]
# says = "In float32 the same training stays finite."
# origin = "https://github.com/keras-team/keras/issues/16552"
# predicts = "finite"
# options = { policy = "float32" }
#
# [[tool.harness.claims]]
# says = "On one replica the overflow leaves no NaN."
# predicts = "finite"
# replicas = 1
#
# [[tool.harness.claims]]
# says = "On the CPU relu passes NaN on, so the loss shows it."
# origin = "https://github.com/tensorflow/tensorflow/issues/32730"
# predicts = "nonfinite-metric"
# replicas = 1
# options = { fault = "nan_in_data", policy = "float32" }
#
# [[tool.harness.claims]]
# says = "A NaN in the data makes the weights NaN in float32."
# predicts = "nonfinite-weights"
# replicas = 1
# options = { fault = "nan_in_data", policy = "float32" }
#
# [[tool.harness.claims]]
# says = "mixed_bfloat16 needs no loss scaling: without it the same training stays finite."
# predicts = "finite"
# options = { policy = "mixed_bfloat16" }
#
# [[tool.harness.claims]]
# says = "bfloat16 has the range of float32, so a wrong unit gives no NaN."
# predicts = "finite"
# options = { fault = "huge_range", policy = "mixed_bfloat16" }
#
# [[tool.harness.claims]]
# says = "Clipping the norm cures a gradient that loss scaling made overflow."
# predicts = "finite"
# options = { fault = "high_loss_scale", remedy = "clipnorm" }
# ///

import multiprocessing

import keras
import numpy as np
import tensorflow as tf

BATCH = 32  # the global batch, as `fit` gets it
BAD = 20  # a row of the first batch; with two replicas the second one gets it


def data(fault="overflow_on_one_replica", remedy="none"):
    """1,280 rows of eight features, the last one constant as an unused sensor is; the target is linear."""
    draw = np.random.default_rng(0)
    x = draw.normal(0.0, 1.0, (40 * BATCH, 8))
    x[:, 7] = 1.0
    y = x @ draw.normal(0.0, 0.2, (8, 1)) + draw.normal(0.0, 0.1, (len(x), 1))
    if fault == "overflow_on_one_replica":
        y[BAD] = 100.0  # an outlier: in float32 it is nothing to worry about
    if fault == "nan_in_data":
        x[BAD, 2] = np.nan
    if fault == "inf_in_data":
        x[BAD, 2] = np.inf
    if fault == "huge_range":
        x[:, 0] *= 1e6  # metres recorded as micrometres; float16 ends at 65504
    return repaired(x, remedy).astype("float32"), y.astype("float32")


def repaired(x, remedy):
    """Apply the remedies that concern the data."""
    if remedy == "drop_bad_rows":
        # A good row takes the place of a bad one, or the batches would no longer compare.
        x = np.where(np.isfinite(x).all(axis=1, keepdims=True), x, x[0])
    if remedy == "zero_bad_values":
        x = np.where(np.isfinite(x), x, 0.0)
    if remedy in ("normalise", "normalise_without_floor"):
        floor = 1e-3 if remedy == "normalise" else 0.0
        with np.errstate(invalid="ignore"):
            x = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), floor)
    return x


def optimizer(fault, remedy, policy):
    """Plain SGD with what the fault spoils and what the remedy adds."""
    rate = 20.0 if fault == "high_rate" and remedy != "smaller_rate" else 0.02
    clipping = {"clipnorm": {"clipnorm": 1.0}, "clipvalue": {"clipvalue": 0.001}}.get(remedy, {})
    if fault == "high_loss_scale" and remedy != "dynamic_loss_scale":
        scale = 2.0**8 if remedy == "smaller_loss_scale" else 2.0**24
        return keras.optimizers.SGD(rate, loss_scale_factor=scale, **clipping)
    inner = keras.optimizers.SGD(rate, **clipping)
    if policy != "mixed_float16":
        return inner
    start = {"smaller_loss_scale": 2.0**8, "dynamic_loss_scale": 2.0**24}.get(remedy, 2.0**15)
    return keras.optimizers.LossScaleOptimizer(inner, initial_scale=start)


def model(fault="overflow_on_one_replica", remedy="none", policy="mixed_float16"):
    """Two hidden layers. By default `compile` adds the loss-scale optimizer; here it stands written out."""
    keras.config.set_dtype_policy(policy)
    net = keras.Sequential(
        [
            keras.Input((8,)),
            keras.layers.Dense(16, activation="relu"),
            keras.layers.Dense(16, activation="relu"),
            keras.layers.Dense(1, dtype="float32" if remedy == "float32_output" else None),
        ]
    )
    net.compile(optimizer=optimizer(fault, remedy, policy), loss="mse", metrics=["mae"], auto_scale_loss=False)
    return net


TRIED = (
    ("none", "none", "mixed_float16"),
    ("overflow_on_one_replica", "none", "mixed_float16"),
    ("overflow_on_one_replica", "smaller_loss_scale", "mixed_float16"),
    ("overflow_on_one_replica", "clipnorm", "mixed_float16"),
    ("overflow_on_one_replica", "none", "float32"),
    ("overflow_on_one_replica", "none", "mixed_bfloat16"),
    ("nan_in_data", "none", "mixed_float16"),
    ("nan_in_data", "none", "float32"),
    ("nan_in_data", "drop_bad_rows", "mixed_float16"),
    ("nan_in_data", "float32_output", "mixed_float16"),
    ("inf_in_data", "none", "mixed_float16"),
    ("inf_in_data", "zero_bad_values", "mixed_float16"),
    ("huge_range", "none", "mixed_float16"),
    ("huge_range", "none", "float32"),
    ("huge_range", "none", "mixed_bfloat16"),
    ("huge_range", "normalise", "mixed_float16"),
    ("huge_range", "normalise_without_floor", "mixed_float16"),
    ("huge_range", "float32_output", "mixed_float16"),
    ("huge_range", "clipnorm", "float32"),
    ("high_rate", "none", "mixed_float16"),
    ("high_rate", "none", "float32"),
    ("high_rate", "smaller_rate", "mixed_float16"),
    ("high_rate", "clipnorm", "mixed_float16"),
    ("high_rate", "clipvalue", "mixed_float16"),
    ("high_loss_scale", "none", "mixed_float16"),
    ("high_loss_scale", "none", "float32"),
    ("high_loss_scale", "smaller_loss_scale", "mixed_float16"),
    ("high_loss_scale", "dynamic_loss_scale", "mixed_float16"),
    ("high_loss_scale", "clipnorm", "mixed_float16"),
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
    print(f"{fault:24} {remedy:24} {policy:14}  {replicas} replicas: {found}", flush=True)


if __name__ == "__main__":
    print(f"keras {keras.__version__}, tensorflow {tf.__version__}")
    for tried in TRIED:
        for replicas in (1, 2):
            # A second strategy in one process would share the collectives of the first.
            trial = multiprocessing.Process(target=show, args=(*tried, replicas))
            trial.start()
            trial.join()

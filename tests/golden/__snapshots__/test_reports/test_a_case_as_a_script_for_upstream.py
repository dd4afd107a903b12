"""The smallest model that shows the regression: one weight learns y = x.

Keras 3.7.0 to 3.9.2 sum the *state* of every training metric over the replicas at each step, so with two
replicas the mean's total and count double each time. After about 128 steps both overflow float32:
inf / inf = NaN. The weight itself stays right, which is what made the reports so hard to read.
"""
# Dense(1) learns the identity under MirroredStrategy; the training metrics turn to NaN
# See https://github.com/keras-team/keras/issues/20568
# See https://github.com/keras-team/keras/issues/20601
# See https://github.com/keras-team/keras/issues/21061
# See https://github.com/keras-team/keras/issues/21172
# See https://github.com/keras-team/keras/issues/21467
#
# pip install keras==3.9.2 numpy==2.0.2 tensorflow==2.18.1
# Exit code: 1 the symptom shows, 0 it does not, 125 the run on one replica failed, so that nothing can be compared.

import keras
import numpy as np


def data():
    """8,192 numbers between -1 and 1; the target is the number itself."""
    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(8192, 1)).astype("float32")
    return x, x


def model():
    """One weight and one bias, plain SGD, mean squared error."""
    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    net.compile(optimizer=keras.optimizers.SGD(0.01), loss="mse", metrics=["mae"])
    return net


# ---- From here on: train on one replica and on 2 logical CPU devices, each in its own process, and compare.
import json
import math
import subprocess
import sys

import tensorflow as tf

FIT = {'batch_size': 32, 'epochs': 1, 'shuffle': False}
METRIC_TOLERANCE, WEIGHT_TOLERANCE = 0.0001, 0.0001  # relative; None: not compared


def train(replicas):
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * replicas)
    devices = [f"CPU:{n}" for n in range(replicas)]
    strategy = tf.distribute.MirroredStrategy(devices) if replicas > 1 else tf.distribute.get_strategy()
    keras.utils.set_random_seed(0)
    got = data()
    got = dict(zip(("x", "y", "sample_weight"), got)) if isinstance(got, tuple) else got
    arguments = {"verbose": 0, "shuffle": False, **(got if isinstance(got, dict) else {"x": got}), **FIT}
    keras.utils.set_random_seed(0)
    with strategy.scope():
        net = model()
    history = net.fit(**arguments).history
    kept = {k: arguments[k] for k in ("x", "y", "sample_weight", "batch_size") if arguments.get(k) is not None}
    kept.update({"steps": arguments["steps_per_epoch"]} if arguments.get("steps_per_epoch") else {})
    evaluated = net.evaluate(verbose=0, return_dict=True, **kept)
    metrics = {name: flat(values[-1]) for name, values in history.items()}
    metrics.update({f"evaluate.{name}": flat(value) for name, value in evaluated.items()})
    # numpy() of a mirrored variable shows the first replica's copy only: take all
    held = [getattr(weight, "_value", weight) for weight in net.weights]
    return {"metrics": metrics, "weights": [[flat(c) for c in getattr(v, "values", None) or [v]] for v in held]}


def flat(values):
    return tf.reshape(tf.cast(tf.convert_to_tensor(values), "float64"), [-1])[:10_000].numpy().tolist()


def finite(values):
    return all(map(math.isfinite, values))


def close(mine, other, tolerance):
    if tolerance is None or not finite(other):
        return True
    bound = tolerance * max(map(abs, other), default=0.0) + 1e-7
    return all(abs(a - b) <= bound for a, b in zip(mine, other))


def shown(seen):
    return ", ".join(f"{name} {' '.join(f'{v:.6g}' for v in values)}" for name, values in seen["metrics"].items())


def findings(seen, reference):
    for name, mine in seen["metrics"].items():
        if not finite(mine):
            yield f"{name} is not finite"
        elif reference and not close(mine, reference["metrics"].get(name, []), METRIC_TOLERANCE):
            yield f"{name} is {mine}, on one replica {reference['metrics'][name]}"
    for n, copies in enumerate(seen["weights"]):
        if not all(map(finite, copies)):
            yield f"weight {n} is not finite"
        elif reference and not all(close(copy, reference["weights"][n][0], WEIGHT_TOLERANCE) for copy in copies):
            yield f"weight {n} is {copies[0][:3]}, on one replica {reference['weights'][n][0][:3]}"


def in_own_process(replicas):
    """Several MirroredStrategy objects in one process interfere on CPU."""
    try:
        command = [sys.executable, __file__, str(replicas)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    except subprocess.TimeoutExpired:
        return None, "not finished after 180 s"
    told = [line[7:] for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    seen = json.loads(told[-1]) if told and done.returncode == 0 else None
    return seen, "" if seen else f"exit code {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1]}"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print("RESULT " + json.dumps(train(int(sys.argv[1]))))
        sys.exit(0)
    print("keras", keras.__version__, "(exported for 3.9.2), TensorFlow", tf.__version__)
    reference, failure = in_own_process(1)
    seen, why = in_own_process(2)
    print("1 replica: ", failure or shown(reference))
    print("2 replicas:", why or shown(seen))
    found = list(findings(seen, reference)) if seen else [why]
    print("\n".join(found) or "no symptom")
    sys.exit(1 if found else 125 if failure else 0)

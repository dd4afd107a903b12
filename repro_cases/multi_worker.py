"""Does Keras 3 work with MultiWorkerMirroredStrategy? Two workers train one weight and must learn what one does.

Each worker is a process of its own; TF_CONFIG tells it where the others listen. Every way of training is tried on
the workers and in a single process, and what they learned is compared.

    python multi_worker.py [--mode=fit | --mode=tutorial | --mode=one_worker | --mode=train_on_batch |
                            --mode=evaluate | --mode=predict | --mode=loop | --mode=parameter_server]

What the measurements say (Keras 3.5.0, 3.9.0 and 3.15.1, TensorFlow 2.19.1, two local workers), alike on all three:
- No: `fit` raises before its first step, and so does the program of TensorFlow's tutorial. It is no regression.
  `_maybe_symbolic_build` hands a whole batch, inputs and targets, to `strategy.reduce`. `evaluate` does the same.
- A second fault lies behind the first. `train_on_batch` does not come by it, and raises where Keras averages the
  logs, which are single numbers, over their axis 0.
- `predict` works, and a cluster of one worker trains, so a program that was tried on one worker proves nothing.
- A training loop written by hand learns what a single process learns; so does a parameter server.

Exit code: 0 the workers learn what one process learns, 1 they do not, 125 it cannot be told: a cluster that does not
finish in time says nothing, because a busy machine and a hang look alike.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "MultiWorkerMirroredStrategy with two local processes"
# origin = ["https://github.com/keras-team/keras/issues/20585"]
# level = "script"
# since = "3.5.0"
# expects = "exception"
# replicas = 2
# strategy = "multi-worker"
# timeout_seconds = 380
#
# [tool.harness.parameters]
# mode = [
#   "fit", "tutorial", "one_worker", "train_on_batch", "evaluate", "predict", "loop", "parameter_server",
# ]
# ///

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
import time

BATCH = 32  # over all workers
STEPS = 20
DEADLINE_SECONDS = 180  # of the single process, and again of the workers
GOOD, BAD, CANNOT_TELL = 0, 1, 125  # exit codes of git bisect


def main(mode):
    """Run a single process and the workers, compare what they learned, return the exit code."""
    if mode not in WAYS:
        print(f"unknown mode {mode!r}: one of {', '.join(WAYS)}", file=sys.stderr)
        return CANNOT_TELL
    count = 1 if mode in ("one_worker", "parameter_server") else 2
    cluster = {"worker": [f"localhost:{port}" for port in free_ports(count)]}
    tasks = [{"cluster": cluster, "task": {"type": "worker", "index": n}} for n in range(count)]
    try:
        alone, failure = together([start("alone", mode)])
        if failure:
            print(f"a single process fails too: {failure}", file=sys.stderr)
            return CANNOT_TELL
        learned, failure = together([start("worker", mode, task) for task in tasks])
    except TimeoutError as late:
        print(f"{mode}: {late}", file=sys.stderr)
        return CANNOT_TELL
    if failure:
        print(f"{mode} with {count} worker(s): {failure}", file=sys.stderr)
        return BAD
    print(f"{mode}: a single process learned {alone[0]}, each worker {learned}")
    return BAD if any(abs(a - b) > 1e-3 for one in learned for a, b in zip(one, alone[0])) else GOOD


def start(role, mode, task=None):
    """Start one process; when its standard input closes, because we are gone, it ends itself."""
    command = [sys.executable, os.path.abspath(__file__), role, mode]
    settings = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    if task and mode != "parameter_server":
        settings["TF_CONFIG"] = json.dumps(task)
    log = tempfile.TemporaryFile("w+")
    return subprocess.Popen(command, env=settings, stdin=subprocess.PIPE, stdout=log, stderr=log), log


def together(started):
    """Wait for all; end all when one fails or the time is up. Returns what each learned, and what failed first."""
    limit = time.monotonic() + DEADLINE_SECONDS
    codes = [None]
    while None in codes and not any(codes) and time.monotonic() < limit:
        time.sleep(0.05)
        codes = [process.poll() for process, _ in started]
    texts = []
    for process, log in started:
        process.kill()
        process.wait()
        log.seek(0)
        texts.append(log.read())
    for code, text in zip(codes, texts):
        if code:
            return [], last_error(text) or f"a worker ended with {code}"
    if None in codes:
        raise TimeoutError(f"not finished after {DEADLINE_SECONDS} s")
    return [json.loads(found) for text in texts for found in re.findall("^LEARNED (.*)", text, re.MULTILINE)], ""


def last_error(text):
    """What a traceback ends with, in one line: the exception with its whole message, and where Keras raised it."""
    found = re.split(r"^(?=[A-Za-z_.]*Error\b)", text, flags=re.MULTILINE)
    message = found[-1] if len(found) > 1 else " ".join(text.splitlines()[-3:])
    message = re.sub(r"\{.*\}", "{...}", " ".join(message.split()))[:500]  # the values differ from worker to worker
    places = re.findall(r'/(keras/src/\S+)", line \d+, in (\w+)', text)
    return f"{message} (raised by {places[-1][1]} in {places[-1][0]})" if places else message


def free_ports(count):
    """Ports on which nobody listens now; all are held until the last is found, so that no two are the same."""
    held = [socket.create_server(("localhost", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def child(role, mode):
    """One process of the cluster: train, print what was learned."""
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(9)), daemon=True).start()
    import tensorflow as tf

    strategy = tf.distribute.get_strategy()
    if role == "worker":
        strategy = parameter_server() if mode == "parameter_server" else tf.distribute.MultiWorkerMirroredStrategy()
    import keras

    keras.config.disable_traceback_filtering()  # the frames of Keras say where it raises
    with strategy.scope():
        net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="ones")])
        net.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"])
    found = WAYS[mode](net, strategy)
    if found is None:
        found = [value for weight in net.get_weights() for value in weight.ravel()]
    print("LEARNED", json.dumps([float(value) for value in found]), flush=True)
    os._exit(0)  # the servers of the cluster have no way to be stopped


def data():
    """640 numbers; the target is twice the number."""
    import numpy as np

    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(STEPS * BATCH, 1)).astype("float32")
    return x, 2.0 * x


def batches():
    """The same as a dataset; workers share its samples, not its files."""
    import tensorflow as tf

    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    return tf.data.Dataset.from_tensor_slices(data()).batch(BATCH).with_options(options)


def by_fit(net, strategy):
    net.fit(*data(), batch_size=BATCH, shuffle=False, verbose=0)


def by_tutorial(net, strategy):
    """As in TensorFlow's tutorial for several workers: an endless dataset of global batches, and steps_per_epoch."""
    import tensorflow as tf

    endless = tf.data.Dataset.from_tensor_slices(data()).repeat().batch(BATCH)
    net.fit(endless, epochs=3, steps_per_epoch=STEPS, verbose=0)


def by_train_on_batch(net, strategy):
    x, y = data()
    for first in range(0, len(x), BATCH):
        net.train_on_batch(x[first : first + BATCH], y[first : first + BATCH])


def by_evaluate(net, strategy):
    return net.evaluate(*data(), batch_size=BATCH, verbose=0)


def by_predict(net, strategy):
    """Every 64th prediction: enough to see values and their order."""
    return net.predict(data()[0], batch_size=BATCH, verbose=0)[::64, 0]


def by_loop(net, strategy):
    step = training_step(net, strategy)
    for x, y in strategy.experimental_distribute_dataset(batches()):
        step(x, y)


def by_parameter_server(net, strategy):
    import tensorflow as tf

    if strategy is tf.distribute.get_strategy():
        return by_loop(net, strategy)
    step, coordinator = training_step(net, strategy), tf.distribute.coordinator.ClusterCoordinator(strategy)
    for x, y in batches():
        coordinator.schedule(step, args=(x, y))
    return coordinator.join()


def training_step(net, strategy):
    """Plain descent; the loss is the mean over the global batch, so the optimizer has to add up over the workers."""
    import tensorflow as tf

    def descend(x, y):
        with tf.GradientTape() as tape:
            loss = tf.nn.compute_average_loss(tf.reduce_mean((net(x) - y) ** 2, axis=-1), global_batch_size=BATCH)
        net.optimizer.apply(tape.gradient(loss, net.trainable_variables), net.trainable_variables)

    return tf.function(lambda x, y: strategy.run(descend, args=(x, y)))


def parameter_server():
    """One worker and one parameter server, as servers within this process."""
    import tensorflow as tf

    first, second = free_ports(2)
    cluster = tf.train.ClusterSpec({"worker": [f"localhost:{first}"], "ps": [f"localhost:{second}"]})
    for job in ("worker", "ps"):
        tf.distribute.Server(cluster, job_name=job, task_index=0, protocol="grpc", start=True)
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, rpc_layer="grpc")
    return tf.distribute.ParameterServerStrategy(resolver)


WAYS = {
    "fit": by_fit,
    "tutorial": by_tutorial,
    "one_worker": by_fit,
    "train_on_batch": by_train_on_batch,
    "evaluate": by_evaluate,
    "predict": by_predict,
    "loop": by_loop,
    "parameter_server": by_parameter_server,
}

if __name__ == "__main__":
    if sys.argv[1:2] in (["alone"], ["worker"]):
        child(*sys.argv[1:3])
    sys.exit(main(dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:]).get("mode", "fit")))

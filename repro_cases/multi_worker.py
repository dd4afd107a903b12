"""Does Keras 3 work with MultiWorkerMirroredStrategy? Two workers train one weight and must learn what one does.

Each worker is a process of its own; TF_CONFIG tells it where the others listen (free ports of this machine). Every
way of training is tried on the workers and in a single process, and what they learned is compared.

    python multi_worker.py [--mode=fit | --mode=tutorial | --mode=one_worker | --mode=train_on_batch |
                            --mode=evaluate | --mode=predict | --mode=loop | --mode=parameter_server]

What the measurements say (Keras 3.5.0, 3.9.0 and 3.15.1, TensorFlow 2.19.1, two local workers), alike on all three:
- No: `fit` raises before its first step, and so does the program of TensorFlow's tutorial. It is no regression.
  `_maybe_symbolic_build` hands a whole batch, inputs and targets, to `strategy.reduce`. `evaluate` does the same.
- A second fault lies behind the first. `train_on_batch` does not come by it, and raises where Keras averages the
  logs, which are single numbers, over their axis 0.
- `predict` works, and a cluster of one worker trains, so a program that was tried on one worker proves nothing.
- A training loop written by hand learns what a single process learns; so does a parameter server.

A cluster that does not finish in time says nothing: a busy machine and a hang look alike.
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
# [tool.harness.switches]
# mode = [
#   "fit", "tutorial", "one_worker", "train_on_batch", "evaluate", "predict", "loop", "parameter_server",
# ]
#
# [tool.harness.remedies.loop]
# title = "a training loop written by hand"
# options = { mode = "loop" }
# against = { mode = "fit" }
#
# [tool.harness.remedies.parameter_server]
# title = "a parameter server, with a training loop written by hand"
# options = { mode = "parameter_server" }
# against = { mode = "fit" }
#
# [tool.harness.remedies.train_on_batch]
# title = "train_on_batch instead of fit"
# options = { mode = "train_on_batch" }
# against = { mode = "fit" }
#
# [[tool.harness.claims]]
# says = "The program of TensorFlow's tutorial for several workers fails with Keras 3."
# origin = "https://github.com/keras-team/keras/issues/20585"
# predicts = "exception"
# options = { mode = "tutorial" }
#
# [[tool.harness.claims]]
# says = "The tutorial's program fails in 3.5.0 already, so it is no fault of 3.7.0."
# origin = "https://github.com/keras-team/keras/issues/20585"
# predicts = "exception"
# release = "3.5.0"
# options = { mode = "tutorial" }
#
# [[tool.harness.claims]]
# says = "Keras 3 supports MultiWorkerMirroredStrategy: fit on two workers learns what one process learns."
# origin = "https://github.com/keras-team/keras/issues/20585"
# predicts = "good"
# options = { mode = "fit" }
#
# [[tool.harness.claims]]
# says = "A cluster of one worker is enough to see it."
# predicts = "exception"
# options = { mode = "one_worker" }
#
# [[tool.harness.claims]]
# says = "evaluate fails as fit does."
# predicts = "exception"
# options = { mode = "evaluate" }
#
# [[tool.harness.claims]]
# says = "predict on two workers returns, in order, what a single process predicts."
# predicts = "good"
# options = { mode = "predict" }
# ///

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time

WORKERS = 2
BATCH = 32  # over all workers
STEPS = 20
DEADLINE_SECONDS = 180  # of the single process, and again of the workers
GOOD, BAD, CANNOT_TELL = 0, 1, 125  # exit codes of git bisect


def main(mode):
    """Return the exit code."""
    if mode not in WAYS:
        print(f"unknown mode {mode!r}: one of {', '.join(WAYS)}", file=sys.stderr)
        return CANNOT_TELL
    try:
        return compare(mode)
    except TimeoutError as late:
        print(f"{mode}: {late}", file=sys.stderr)
        return CANNOT_TELL


def compare(mode):
    """Run the workers and a single process, and compare what they learned."""
    workers = 1 if mode == "one_worker" else WORKERS
    alone, failure = together([start("alone", mode)])
    if failure:
        print(f"a single process fails too: {failure}", file=sys.stderr)
        return CANNOT_TELL
    if mode == "parameter_server":
        learned, failure = together([start("coordinator", mode)])
    else:
        cluster = {"worker": [f"localhost:{port}" for port in free_ports(workers)]}
        learned, failure = together([start("worker", mode, cluster, n) for n in range(workers)])
    if failure:
        print(f"{mode} with {workers} worker(s): {failure}", file=sys.stderr)
        return BAD
    wrong = [one for one in learned if any(abs(a - b) > 1e-3 for a, b in zip(one, alone[0]))]
    print(f"{mode}: a single process learned {alone[0]}, each worker {learned}")
    if wrong:
        print(f"{mode}: a worker learned {wrong[0]}, a single process {alone[0]}", file=sys.stderr)
    return BAD if wrong else GOOD


def start(role, mode, cluster=None, index=0):
    """Start one process; when its standard input closes, because we are gone, it ends itself."""
    settings = {**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    if cluster:
        settings["TF_CONFIG"] = json.dumps({"cluster": cluster, "task": {"type": "worker", "index": index}})
    command = [sys.executable, os.path.abspath(__file__), role, mode]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, env=settings, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True)


def together(processes):
    """Wait for all; end all when one dies or the time is up. Returns what each learned, and what failed first."""
    outputs = [[] for _ in processes]
    readers = [
        threading.Thread(target=lambda p=p, lines=lines: lines.extend(p.stdout), daemon=True)
        for p, lines in zip(processes, outputs)
    ]
    for reader in readers:
        reader.start()
    limit, failed = time.monotonic() + DEADLINE_SECONDS, None
    try:
        while failed is None and any(p.poll() is None for p in processes) and time.monotonic() < limit:
            failed = next((n for n, p in enumerate(processes) if p.poll()), None)
            time.sleep(0.05)
        failed = next((n for n, p in enumerate(processes) if p.poll()), failed)
        late = any(p.poll() is None for p in processes)
    finally:
        for p in processes:
            p.kill()
            p.wait()
    for reader in readers:
        reader.join(5)
    if failed is not None:
        return [], last_error(outputs[failed]) or f"worker {failed} ended with {processes[failed].returncode}"
    if late:
        raise TimeoutError(f"not finished after {DEADLINE_SECONDS} s")
    told = [line for lines in outputs for line in lines if line.startswith("LEARNED ")]
    return [json.loads(line[len("LEARNED ") :]) for line in told], ""


def last_error(lines):
    """What a traceback ends with, in one line: the exception and its whole message."""
    named = [n for n, line in enumerate(lines) if line[:1].isalpha() and "Error" in line.split(":")[0]]
    text = " ".join(" ".join(lines[named[-1] if named else -3 :]).split())
    places = re.findall(r'/(keras/src/\S+)", line \d+, in (\w+)', "".join(lines))
    text = re.sub(r"\{.*\}", "{...}", text)[:500]  # the values inside differ from worker to worker
    return f"{text} (raised by {places[-1][1]} in {places[-1][0]})" if places else text


def free_ports(count):
    """Ports on which nobody listens now; all are held until the last is found, so that no two are the same."""
    held = [socket.create_server(("localhost", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


def child(role, mode):
    """One process of the cluster."""
    threading.Thread(target=lambda: (sys.stdin.read(), os._exit(9)), daemon=True).start()
    import tensorflow as tf

    if role == "worker":
        strategy = tf.distribute.MultiWorkerMirroredStrategy()
    elif role == "coordinator":
        strategy = parameter_server()
    else:
        strategy = tf.distribute.get_strategy()
    import keras

    keras.config.disable_traceback_filtering()  # the frames of Keras say where it raises
    print("LEARNED", json.dumps(WAYS[mode](strategy)), flush=True)
    os._exit(0)  # the servers of the cluster have no way to be stopped


def data():
    import numpy as np

    x = np.random.default_rng(0).uniform(-1.0, 1.0, size=(STEPS * BATCH, 1)).astype("float32")
    return x, 2.0 * x


def model():
    import keras

    net = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1, kernel_initializer="ones")])
    net.compile(optimizer=keras.optimizers.SGD(0.1), loss="mse", metrics=["mae"])
    return net


def scoped_model(strategy):
    with strategy.scope():
        return model()


def by_fit(strategy):
    net = scoped_model(strategy)
    net.fit(*data(), batch_size=BATCH, shuffle=False, verbose=0)
    return learned(net)


def by_tutorial(strategy):
    """As in TensorFlow's tutorial for several workers: an endless dataset of global batches, and steps_per_epoch."""
    import tensorflow as tf

    net = scoped_model(strategy)
    batches = tf.data.Dataset.from_tensor_slices(data()).repeat().batch(BATCH)
    net.fit(batches, epochs=3, steps_per_epoch=STEPS, verbose=0)
    return learned(net)


def by_train_on_batch(strategy):
    net = scoped_model(strategy)
    x, y = data()
    for start in range(0, len(x), BATCH):
        net.train_on_batch(x[start : start + BATCH], y[start : start + BATCH])
    return learned(net)


def by_evaluate(strategy):
    return [float(value) for value in scoped_model(strategy).evaluate(*data(), batch_size=BATCH, verbose=0)]


def by_predict(strategy):
    """Every 64th prediction: enough to see values and their order."""
    return [float(value) for value in scoped_model(strategy).predict(data()[0], batch_size=BATCH, verbose=0)[::64, 0]]


def by_loop(strategy):
    import tensorflow as tf

    net = scoped_model(strategy)
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    batches = tf.data.Dataset.from_tensor_slices(data()).batch(BATCH).with_options(options)

    @tf.function
    def step(x, y):
        strategy.run(lambda x, y: one_step(net, x, y), args=(x, y))

    for x, y in strategy.experimental_distribute_dataset(batches):
        step(x, y)
    return learned(net)


def one_step(net, x, y):
    """Plain descent; the loss is the mean over the global batch, so the optimizer has to add up over the workers."""
    import tensorflow as tf

    with tf.GradientTape() as tape:
        loss = tf.nn.compute_average_loss(tf.reduce_mean((net(x) - y) ** 2, axis=-1), global_batch_size=BATCH)
    net.optimizer.apply(tape.gradient(loss, net.trainable_variables), net.trainable_variables)


def parameter_server():
    """One worker and one parameter server, as servers within this process."""
    import tensorflow as tf

    first, second = free_ports(2)
    cluster = tf.train.ClusterSpec({"worker": [f"localhost:{first}"], "ps": [f"localhost:{second}"]})
    for job in ("worker", "ps"):
        tf.distribute.Server(cluster, job_name=job, task_index=0, protocol="grpc", start=True)
    resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(cluster, rpc_layer="grpc")
    return tf.distribute.ParameterServerStrategy(resolver)


def by_parameter_server(strategy):
    import tensorflow as tf

    net = scoped_model(strategy)
    batches = tf.data.Dataset.from_tensor_slices(data()).batch(BATCH)

    @tf.function
    def step(x, y):
        strategy.run(lambda x, y: one_step(net, x, y), args=(x, y))

    if strategy is tf.distribute.get_strategy():
        for x, y in batches:
            step(x, y)
        return learned(net)
    coordinator = tf.distribute.coordinator.ClusterCoordinator(strategy)
    for x, y in batches:
        coordinator.schedule(step, args=(x, y))
    coordinator.join()
    return learned(net)


def learned(net):
    return [float(value) for weight in net.get_weights() for value in weight.ravel()]


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
    if sys.argv[1:2] in (["alone"], ["worker"], ["coordinator"]):
        child(*sys.argv[1:3])
    sys.exit(main(dict(word.lstrip("-").split("=", 1) for word in sys.argv[1:]).get("mode", "fit")))

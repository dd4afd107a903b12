"""A small waveform denoiser whose loss compares spectrograms, and the ways in which that loss goes wrong.

The loss is the one that vocoders and denoisers use: L1 on the waveform plus, at three resolutions, spectral
convergence |S - T| / |S| and the L1 distance of log magnitudes. A clip of silence breaks it three times over:
log 0, division by a norm of 0, and the slope of a root at 0, which leaves the loss finite and makes the
*gradient* NaN. The other faults need a strategy: a replica without samples, a loss that returns one number,
a loss object made outside the scope.

What the measurements say (Keras 3.15.1, TensorFlow 2.19.1, CPU):
- No epsilon alone cures a silent clip, nor do both: the slope of the root remains. A floor under the root
  does.
- An epsilon of 1e-5 in the denominator is finite and useless: one silent clip makes a loss of two millions.
- An empty replica does not give NaN, it raises; not in the STFT but in the convolution before it, whose
  oneDNN kernel returns the wrong number of channels for an empty batch. With TF_ENABLE_ONEDNN_OPTS=0 it
  trains, and the one sample of that batch counts half.
- A loss that returns one number is not divided by the number of replicas; one number per clip is.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "Waveform model with a multi-resolution STFT loss: silence, empty replicas and scaling"
# origin = [
#   "https://github.com/pytorch/audio/issues/993",
#   "https://github.com/csteinmetz1/auraloss/issues/63",
#   "https://github.com/tensorflow/tensorflow/issues/36224",
#   "https://github.com/tensorflow/tensorflow/issues/41657",
#   "https://github.com/keras-team/keras/issues/16285",
# ]
# since = "3.5.0"
# expects = "nonfinite-metric"
# replicas = 2
# timeout_seconds = 180
#
# [tool.harness.fit]
# batch_size = 8
# epochs = 1
# shuffle = false
#
# [tool.harness.switches]
# fault = [
#   "silent_waveform", "silent_log", "zero_norm", "silent_root",
#   "empty_replica", "scalar_loss", "loss_outside_scope", "window_mismatch", "none",
# ]
# remedy = [
#   "none", "log_epsilon", "norm_epsilon", "both_epsilons", "root_floor",
#   "drop_remainder", "average_loss", "loss_inside_scope", "window_of_win_length",
# ]
#
# [tool.harness.remedies.log_epsilon]
# title = "epsilon inside the logarithm"
# options = { remedy = "log_epsilon" }
# against = { fault = "silent_log" }
# origin = "https://github.com/csteinmetz1/auraloss/issues/63"
#
# [tool.harness.remedies.log_epsilon_alone]
# title = "epsilon inside the logarithm, against a clip of silence"
# options = { remedy = "log_epsilon" }
# against = { fault = "silent_waveform" }
#
# [tool.harness.remedies.norm_epsilon]
# title = "epsilon in the denominator of the spectral convergence"
# options = { remedy = "norm_epsilon" }
# against = { fault = "zero_norm" }
#
# [tool.harness.remedies.norm_epsilon_alone]
# title = "epsilon in the denominator, against a clip of silence"
# options = { remedy = "norm_epsilon" }
# against = { fault = "silent_waveform" }
#
# [tool.harness.remedies.both_epsilons]
# title = "epsilon in the logarithm and in the denominator, against a clip of silence"
# options = { remedy = "both_epsilons" }
# against = { fault = "silent_waveform" }
#
# [tool.harness.remedies.root_floor]
# title = "root of max(power, 1e-6)"
# options = { remedy = "root_floor" }
# against = { fault = "silent_root" }
# origin = "https://github.com/pytorch/audio/issues/993"
#
# [tool.harness.remedies.root_floor_alone]
# title = "root of max(power, 1e-6), against a clip of silence"
# options = { remedy = "root_floor" }
# against = { fault = "silent_waveform" }
#
# [tool.harness.remedies.drop_remainder]
# title = "drop the last batch when it is not full"
# options = { remedy = "drop_remainder" }
# against = { fault = "empty_replica" }
# origin = "https://github.com/tensorflow/tensorflow/issues/36224"
#
# [tool.harness.remedies.average_loss_of_empty_replica]
# title = "tf.nn.compute_average_loss with the global batch size, against an empty replica"
# options = { remedy = "average_loss" }
# against = { fault = "empty_replica" }
#
# [tool.harness.remedies.average_loss]
# title = "tf.nn.compute_average_loss with the global batch size"
# options = { remedy = "average_loss" }
# against = { fault = "scalar_loss" }
#
# [tool.harness.remedies.loss_inside_scope]
# title = "make the loss object inside the scope of the strategy"
# options = { remedy = "loss_inside_scope" }
# against = { fault = "loss_outside_scope" }
#
# [tool.harness.remedies.window_of_win_length]
# title = "a window as long as the frame, not as the FFT"
# options = { remedy = "window_of_win_length" }
# against = { fault = "window_mismatch" }
#
# [[tool.harness.claims]]
# says = "The root of a silent spectrogram makes the gradient NaN while the loss is finite."
# origin = "https://github.com/pytorch/audio/issues/993"
# predicts = "nonfinite-weights"
# replicas = 1
# options = { fault = "silent_root" }
#
# [[tool.harness.claims]]
# says = "With an epsilon inside the logarithm a silent target gives no NaN."
# origin = "https://github.com/csteinmetz1/auraloss/issues/63"
# predicts = "finite"
# options = { fault = "silent_log", remedy = "log_epsilon" }
#
# [[tool.harness.claims]]
# says = "With an epsilon inside the logarithm a clip of silence gives no NaN."
# origin = "https://github.com/csteinmetz1/auraloss/issues/63"
# predicts = "finite"
# options = { fault = "silent_waveform", remedy = "log_epsilon" }
#
# [[tool.harness.claims]]
# says = "An empty batch on one of the replicas makes the loss NaN."
# origin = "https://github.com/tensorflow/tensorflow/issues/36224"
# predicts = "nonfinite-metric"
# options = { fault = "empty_replica" }
#
# [[tool.harness.claims]]
# says = "A loss object that was made outside the scope is scaled wrongly, so other weights are learned."
# predicts = "wrong-weights"
# options = { fault = "loss_outside_scope" }
#
# [[tool.harness.claims]]
# says = "A loss divided by the global batch size is reported as 1/N on N replicas."
# origin = "https://github.com/keras-team/keras/issues/16285"
# predicts = "wrong-metric"
# release = "3.15.1"
# options = { fault = "scalar_loss", remedy = "average_loss" }
#
# [[tool.harness.claims]]
# says = "A loss divided by the global batch size was reported as 1/N in 3.5.0."
# origin = "https://github.com/keras-team/keras/issues/16285"
# predicts = "wrong-metric"
# release = "3.5.0"
# options = { fault = "scalar_loss", remedy = "average_loss" }
# ///

import multiprocessing

import keras
import numpy as np
import tensorflow as tf

BATCH = 8  # the global batch, as `fit` gets it
LENGTH = 512  # samples in a clip
RESOLUTIONS = ((64, 16, 48), (128, 32, 96), (256, 64, 192))  # (FFT length, hop, window length)
SILENT = 6  # in the first batch; with two replicas of four clips each, the second replica meets it


def data(fault="silent_waveform", remedy="none"):
    """64 clips of noisy tones, shape (64, 512, 1); the target is the tone without the noise."""
    draw = np.random.default_rng(0)
    count = 8 * BATCH + 1 if fault == "empty_replica" else 8 * BATCH
    time = np.arange(LENGTH) / LENGTH
    tone = np.sin(2 * np.pi * draw.uniform(8, 64, (count, 1)) * time) * draw.uniform(0.3, 0.9, (count, 1))
    noisy = tone + draw.normal(0.0, 0.1, tone.shape)
    if fault in ("silent_log", "zero_norm", "silent_root", "silent_waveform"):
        tone[SILENT] = 0.0
    if fault in ("silent_root", "silent_waveform"):
        noisy[SILENT] = 0.0
    if remedy == "drop_remainder":
        noisy, tone = noisy[: count // BATCH * BATCH], tone[: count // BATCH * BATCH]
    return noisy[..., None].astype("float32"), tone[..., None].astype("float32")


class StftLoss(keras.losses.Loss):
    """One number per clip: L1 of the waveform + spectral convergence + L1 of the log magnitudes."""

    def __init__(self, log_epsilon=0.0, norm_epsilon=0.0, root_floor=0.0, window="own", result="per clip"):
        super().__init__(name="stft_loss")
        self.log_epsilon = log_epsilon
        self.norm_epsilon = norm_epsilon
        self.root_floor = root_floor
        self.window = window
        self.result = result

    def call(self, y_true, y_pred):
        """Return one number per clip, or what the fault and the remedy make of them."""
        target, output = y_true[..., 0], y_pred[..., 0]
        per_clip = tf.reduce_mean(tf.abs(target - output), axis=-1)
        for resolution in RESOLUTIONS:
            wanted, got = self.magnitude(target, *resolution), self.magnitude(output, *resolution)
            convergence = self.norm(wanted - got) / (self.norm(wanted) + self.norm_epsilon)
            logs = tf.math.log(wanted + self.log_epsilon) - tf.math.log(got + self.log_epsilon)
            per_clip += convergence + tf.reduce_mean(tf.abs(logs), axis=(1, 2))
        if self.result == "mean":
            return tf.reduce_mean(per_clip)
        if self.result == "average over the global batch":
            return tf.nn.compute_average_loss(per_clip, global_batch_size=BATCH)
        return per_clip

    def magnitude(self, waveform, fft_length, hop, win_length):
        """Magnitudes of the spectrogram; the root of re^2 + im^2 has an infinite slope at 0."""

        def hann(frame_length, dtype):
            return tf.signal.hann_window(fft_length if self.window == "fft" else frame_length, dtype=dtype)

        spectrum = tf.signal.stft(waveform, win_length, hop, fft_length=fft_length, window_fn=hann)
        return self.root(tf.math.real(spectrum) ** 2 + tf.math.imag(spectrum) ** 2)

    def norm(self, magnitudes):
        """Frobenius norm of each spectrogram."""
        return self.root(tf.reduce_sum(magnitudes**2, axis=(1, 2)))

    def root(self, power):
        """Square root, with a floor under it if the loss has one."""
        return tf.sqrt(tf.maximum(power, self.root_floor) if self.root_floor else power)


PROTECTED = {"log_epsilon": 1e-5, "norm_epsilon": 1e-5, "root_floor": 1e-6}
OUTSIDE = StftLoss(**PROTECTED)  # made when the file is imported, long before there is a strategy

# What each fault leaves of the three protections; the faults that are not about silence keep all of them.
LEFT = {
    "silent_waveform": (),
    "silent_log": ("norm_epsilon",),
    "zero_norm": ("log_epsilon",),
    "silent_root": ("log_epsilon", "norm_epsilon"),
}
ADDED = {
    "log_epsilon": ("log_epsilon",),
    "norm_epsilon": ("norm_epsilon",),
    "both_epsilons": ("log_epsilon", "norm_epsilon"),
    "root_floor": ("root_floor",),
}


def loss(fault, remedy):
    """Return the loss with what the fault leaves out and what the remedy puts back."""
    if fault == "loss_outside_scope" and remedy != "loss_inside_scope":
        return OUTSIDE
    names = (*LEFT.get(fault, PROTECTED), *ADDED.get(remedy, ()))
    window = "fft" if fault == "window_mismatch" and remedy != "window_of_win_length" else "own"
    result = "mean" if fault == "scalar_loss" else "per clip"
    if remedy == "average_loss":
        result = "average over the global batch"
    return StftLoss(**{name: PROTECTED[name] for name in names}, window=window, result=result)


def model(fault="silent_waveform", remedy="none"):
    """Two 1-D convolutions and plain SGD.

    Where a magnitude is small its logarithm is steep, so the rate is small: rounding must not decide.
    """
    net = keras.Sequential(
        [
            keras.Input((LENGTH, 1)),
            keras.layers.Conv1D(8, 9, padding="same", activation="tanh"),
            keras.layers.Conv1D(1, 9, padding="same"),
        ]
    )
    net.compile(optimizer=keras.optimizers.SGD(1e-5), loss=loss(fault, remedy), metrics=["mae"])
    return net


TRIED = (
    ("none", "none"),
    ("silent_waveform", "none"),
    ("silent_waveform", "log_epsilon"),
    ("silent_waveform", "norm_epsilon"),
    ("silent_waveform", "both_epsilons"),
    ("silent_waveform", "root_floor"),
    ("silent_log", "none"),
    ("silent_log", "log_epsilon"),
    ("zero_norm", "none"),
    ("zero_norm", "norm_epsilon"),
    ("silent_root", "none"),
    ("silent_root", "root_floor"),
    ("empty_replica", "none"),
    ("empty_replica", "drop_remainder"),
    ("empty_replica", "average_loss"),
    ("scalar_loss", "none"),
    ("scalar_loss", "average_loss"),
    ("loss_outside_scope", "none"),
    ("window_mismatch", "none"),
    ("window_mismatch", "window_of_win_length"),
)


def show(fault, remedy, replicas):
    """Train once, in a process of its own, and print one line."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
    many = replicas > 1
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]) if many else tf.distribute.get_strategy()
    keras.utils.set_random_seed(0)
    x, y = data(fault, remedy)
    with strategy.scope():
        net = model(fault, remedy)
    try:
        history = net.fit(x, y, batch_size=BATCH, shuffle=False, verbose=0).history
        finite = all(np.isfinite(weight).all() for weight in net.get_weights())
        found = ", ".join(f"{name} {values[-1]:.4g}" for name, values in history.items())
        found += "" if finite else ", WEIGHTS NOT FINITE"
    except (ValueError, tf.errors.OpError) as error:
        found = f"{type(error).__name__}: {str(error).splitlines()[0][:80]}"
    print(f"{fault:20} {remedy:22}  {replicas} replicas: {found}", flush=True)
    if fault in ("none", "empty_replica"):
        batches = strategy.experimental_distribute_dataset(tf.data.Dataset.from_tensor_slices(x).batch(BATCH))
        parts = [strategy.experimental_local_results(batch) for batch in batches]
        print(f"{'':44}inputs of the last batch per replica: {[tuple(part.shape) for part in parts[-1]]}")


if __name__ == "__main__":
    print(f"keras {keras.__version__}, tensorflow {tf.__version__}")
    for tried in TRIED:
        for replicas in (1, 2):
            # A second strategy in one process would share the collectives of the first.
            trial = multiprocessing.Process(target=show, args=(*tried, replicas))
            trial.start()
            trial.join()

"""One silent clip breaks a multi-resolution STFT loss, as vocoders and denoisers use it.

The loss is L1 on the waveform plus, at three resolutions, spectral convergence |S - T| / |S| and the L1 distance
of log magnitudes. Silence breaks it three times over: log 0, division by a norm of 0, and the slope of a root at 0,
which leaves the loss finite and makes the *gradient* NaN. Each has its protection; by default all are left out.

What the measurements say (Keras 3.15.1, TensorFlow 2.19.1, CPU):
- No epsilon alone cures a silent clip, nor do both: the slope of the root remains. A floor under the root does.
- An epsilon of 1e-5 in the denominator is finite and useless: one silent clip makes a loss of two millions.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "A silent clip makes a multi-resolution STFT loss NaN"
# origin = [
#   "https://github.com/pytorch/audio/issues/993",
#   "https://github.com/csteinmetz1/auraloss/issues/63",
# ]
# since = "3.5.0"
# expects = "nonfinite-metric"
# replicas = 2
# timeout_seconds = 180
#
# [tool.harness.fit]
# batch_size = 8
# shuffle = false
#
# [tool.harness.parameters]
# silent = ["clip", "target", "none"]
# log_epsilon = ["none", "1e-5"]
# norm_epsilon = ["none", "1e-5"]
# root_floor = ["none", "1e-6"]
# ///

import keras
import numpy as np
import tensorflow as tf

LENGTH = 512  # samples in a clip
RESOLUTIONS = ((64, 16, 48), (128, 32, 96), (256, 64, 192))  # (FFT length, hop, window length)
SILENT = 6  # in the first batch; with two replicas of four clips each, the second replica meets it


def data(silent="clip"):
    """64 clips of noisy tones, shape (64, 512, 1); the target is the tone without the noise."""
    draw = np.random.default_rng(0)
    time = np.arange(LENGTH) / LENGTH
    tone = np.sin(2 * np.pi * draw.uniform(8, 64, (64, 1)) * time) * draw.uniform(0.3, 0.9, (64, 1))
    tone += draw.normal(0.0, 1e-2, tone.shape)  # no recording is silent by itself: its logarithm stays finite
    noisy = tone + draw.normal(0.0, 0.1, tone.shape)
    if silent != "none":
        tone[SILENT] = 0.0
    if silent == "clip":
        noisy[SILENT] = 0.0
    return noisy[..., None].astype("float32"), tone[..., None].astype("float32")


class StftLoss(keras.losses.Loss):
    """One number per clip: L1 of the waveform + spectral convergence + L1 of the log magnitudes."""

    def __init__(self, log_epsilon, norm_epsilon, root_floor):
        super().__init__(name="stft_loss")
        self.log_epsilon = log_epsilon
        self.norm_epsilon = norm_epsilon
        self.root_floor = root_floor

    def call(self, y_true, y_pred):
        """Return one number per clip."""
        target, output = y_true[..., 0], y_pred[..., 0]
        per_clip = tf.reduce_mean(tf.abs(target - output), axis=-1)
        for resolution in RESOLUTIONS:
            wanted, got = self.magnitude(target, *resolution), self.magnitude(output, *resolution)
            convergence = self.norm(wanted - got) / (self.norm(wanted) + self.norm_epsilon)
            logs = tf.math.log(wanted + self.log_epsilon) - tf.math.log(got + self.log_epsilon)
            per_clip += convergence + tf.reduce_mean(tf.abs(logs), axis=(1, 2))
        return per_clip

    def magnitude(self, waveform, fft_length, hop, win_length):
        """Magnitudes of the spectrogram; the root of re^2 + im^2 has an infinite slope at 0."""
        spectrum = tf.signal.stft(waveform, win_length, hop, fft_length=fft_length)
        return self.root(tf.math.real(spectrum) ** 2 + tf.math.imag(spectrum) ** 2)

    def norm(self, magnitudes):
        """Frobenius norm of each spectrogram."""
        return self.root(tf.reduce_sum(magnitudes**2, axis=(1, 2)))

    def root(self, power):
        """Square root, with a floor under it if the loss has one."""
        return tf.sqrt(tf.maximum(power, self.root_floor) if self.root_floor else power)


def model(log_epsilon="none", norm_epsilon="none", root_floor="none"):
    """Two 1-D convolutions and plain SGD.

    Where a magnitude is small its logarithm is steep, so the rate is small: rounding must not decide.
    """
    first = keras.layers.Conv1D(8, 9, padding="same", activation="tanh")
    net = keras.Sequential([keras.Input((LENGTH, 1)), first, keras.layers.Conv1D(1, 9, padding="same")])
    added = [0.0 if value == "none" else float(value) for value in (log_epsilon, norm_epsilon, root_floor)]
    net.compile(optimizer=keras.optimizers.SGD(1e-5), loss=StftLoss(*added), metrics=["mae"])
    return net


if __name__ == "__main__":
    print(keras.__version__, model().fit(*data(), batch_size=8, shuffle=False, verbose=0).history)

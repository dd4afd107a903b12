"""A spectrogram loss whose window is as long as the FFT, while its frames are shorter: training raises.

`tf.signal.stft` cuts frames of `frame_length` samples and pads them to `fft_length` after the window was applied. A
window function that ignores the length which it is given returns 64 values for frames of 48.
"""
# /// script
# requires-python = ">=3.9"
# dependencies = ["keras", "tensorflow", "numpy"]
#
# [tool.harness]
# title = "A window as long as the FFT does not fit the frames of an STFT"
# origin = [
#   "https://www.tensorflow.org/api_docs/python/tf/signal/stft",
# ]
# since = "3.5.0"
# expects = "exception"
# replicas = 2
# timeout_seconds = 180
#
# [tool.harness.fit]
# batch_size = 8
# shuffle = false
#
# [tool.harness.parameters]
# window = ["fft", "frame"]
# ///

import keras
import numpy as np
import tensorflow as tf

FRAME, FFT = 48, 64


def data():
    """64 clips of noise; the target is half as loud."""
    clips = np.random.default_rng(0).normal(size=(64, 256)).astype("float32")
    return clips, 0.5 * clips


class SpectralLoss(keras.losses.Loss):
    """Distance of two spectrograms."""

    def __init__(self, window):
        super().__init__(name="spectral_loss")
        self.window = window

    def call(self, y_true, y_pred):
        """Return one number per clip."""

        def hann(frame_length, dtype):
            return tf.signal.hann_window(FFT if self.window == "fft" else frame_length, dtype=dtype)

        difference = tf.signal.stft(y_true - y_pred, FRAME, 16, fft_length=FFT, window_fn=hann)
        return tf.reduce_mean(tf.abs(difference), axis=(1, 2))


def model(window="fft"):
    """One layer."""
    net = keras.Sequential([keras.Input((256,)), keras.layers.Dense(256)])
    net.compile(optimizer=keras.optimizers.SGD(0.01), loss=SpectralLoss(window))
    return net


if __name__ == "__main__":
    print(keras.__version__, model().fit(*data(), batch_size=8, shuffle=False, verbose=0).history)

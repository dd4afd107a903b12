"""Find the release in which a Keras or TensorFlow regression begins and ends, with proof."""

__version__ = "0.1.0"

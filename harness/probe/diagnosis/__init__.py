"""Watches one training and repeats its first bad step piece by piece, to find where the first bad value appears."""

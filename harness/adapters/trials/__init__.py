"""Trials for real: the probe is asked, its results are read back and remembered."""

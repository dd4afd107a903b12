"""Trials for real: the probe runs them, its results are read and cached. Fixes are found and applied here too."""

"""What can be wrong with a trial."""

from __future__ import annotations

from enum import Enum


class Symptom(str, Enum):
    """What can be wrong with a trial. Order: the earlier ones hide the later ones."""

    EXCEPTION = "exception"
    KILLED = "killed"
    TIMEOUT = "timeout"
    NONFINITE_METRIC = "nonfinite-metric"
    NONFINITE_WEIGHTS = "nonfinite-weights"
    WRONG_METRIC = "wrong-metric"
    WRONG_WEIGHTS = "wrong-weights"


ENDS = (Symptom.EXCEPTION, Symptom.KILLED, Symptom.TIMEOUT)
"""Symptoms of a trial that ended before its time."""

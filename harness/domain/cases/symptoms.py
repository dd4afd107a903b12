"""What can be wrong with a trial."""

from __future__ import annotations

from enum import Enum


class Symptom(str, Enum):
    """What can be wrong with a trial. Order: the earlier ones hide the later ones."""

    EXCEPTION = "exception"
    KILLED = "killed"
    TIMEOUT = "timeout"
    IMPORT_ERROR = "import-error"
    NONFINITE_METRIC = "nonfinite-metric"
    NONFINITE_WEIGHTS = "nonfinite-weights"
    WRONG_METRIC = "wrong-metric"
    WRONG_WEIGHTS = "wrong-weights"
    CHANGED_VALUE = "changed-value"
    WARNING = "warning"


ENDS = (Symptom.EXCEPTION, Symptom.KILLED, Symptom.TIMEOUT)
"""Symptoms of a trial that ended before its time."""

FAILURES = (*ENDS, Symptom.IMPORT_ERROR)
"""Symptoms that have a type and a message."""

READ = (Symptom.CHANGED_VALUE, Symptom.WARNING)
"""Symptoms that are read from what a trial printed; they are looked for only where the case says how."""

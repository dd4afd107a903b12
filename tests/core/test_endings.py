"""How a trial ended, in words."""

from __future__ import annotations

import pytest

from harness.core.endings import signal_name


@pytest.mark.parametrize(
    ("number", "name"), [(11, "SIGSEGV"), (9, "SIGKILL"), (63, "signal 63"), (None, "signal None")]
)
def test_signals_have_names(number, name):
    assert signal_name(number) == name

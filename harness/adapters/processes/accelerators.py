"""Whether this machine has an accelerator, by what its driver shows: no framework is asked."""

from __future__ import annotations

from pathlib import Path


def has_gpu() -> bool:
    """Whether an NVIDIA driver is loaded."""
    return Path("/proc/driver/nvidia/version").exists() or Path("/dev/nvidia0").exists()

"""Accelerators are seen by their driver."""

from __future__ import annotations

from pathlib import Path

from harness.adapters.processes import accelerators


def test_a_driver_is_what_counts(monkeypatch, tmp_path):
    places = {"/proc/driver/nvidia/version": tmp_path / "version", "/dev/nvidia0": tmp_path / "nvidia0"}
    monkeypatch.setattr(accelerators, "Path", lambda name: places.get(name) or Path(name))
    assert not accelerators.has_gpu()
    (tmp_path / "nvidia0").touch()
    assert accelerators.has_gpu()

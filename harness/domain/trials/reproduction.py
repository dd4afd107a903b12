"""Two observations of one trial, number by number."""

from __future__ import annotations

from harness.domain.trials.observation import Observation


def pairs(was: Observation, now: Observation) -> list[tuple[str, str, str]]:
    """How both ended, and every final number of either, to six digits."""
    names = dict.fromkeys([*was.numbers, *now.numbers])
    ends = ("ended", was.ending.kind.value, now.ending.kind.value)
    return [ends, *((name, _text(was, name), _text(now, name)) for name in names)]


def _text(seen: Observation, name: str) -> str:
    return f"{seen.numbers[name]:.6g}".replace("nan", "NaN") if name in seen.numbers else "-"

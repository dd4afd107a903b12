"""Which numbers of two trials are close enough."""

from __future__ import annotations

import math

from harness.domain.trials.observation import WeightFacts

ROUNDING = 1e-7
"""Absolute difference that is rounding of float32 near 0, whatever the tolerance."""


def weight_differences(own: WeightFacts, other: WeightFacts, tolerance: float) -> list[tuple[str, float, float]]:
    """List (variable, own value, reference value) for every variable beyond the tolerance.

    Values are compared one by one where both trials recorded them, relative to the largest absolute value of the
    variable; where they are no more than a sample, or missing, the norms are compared too.
    """
    differing = _value_differences(own, other, tolerance)
    known = sum(len(part) for part in (own.values or {}).values())
    if own.values is not None and other.values is not None and known >= own.count:
        return differing
    for name, norm in other.norms.items():
        found = any(name == one for one, _, _ in differing)
        if not found and not close(own.norms.get(name, math.nan), norm, tolerance):
            differing.append((name, own.norms.get(name, math.nan), norm))
    return differing


def _value_differences(own: WeightFacts, other: WeightFacts, tolerance: float) -> list[tuple[str, float, float]]:
    differing: list[tuple[str, float, float]] = []
    if own.values is None or other.values is None:
        return differing
    for name, theirs in other.values.items():
        mine = own.values.get(name, ())
        bound = tolerance * max((abs(v) for v in theirs), default=0.0) + ROUNDING
        worst = max(zip(mine, theirs, strict=False), key=lambda pair: _distance(*pair), default=None)
        if len(mine) != len(theirs) or (worst is not None and _distance(*worst) > bound):
            differing.append((name, *(worst or (math.nan, math.nan))))
    return differing


def close(value: float, reference: float, tolerance: float) -> bool:
    """Relative closeness against the larger magnitude, with `ROUNDING` as a floor."""
    return math.isclose(value, reference, rel_tol=tolerance, abs_tol=ROUNDING)


def _distance(mine: float, theirs: float) -> float:
    difference = abs(mine - theirs)
    return math.inf if math.isnan(difference) else difference

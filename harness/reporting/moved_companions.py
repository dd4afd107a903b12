"""Which companions moved, in sentences: of each release, and between the two sides of a transition."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from harness.domain.findings.finding import Finding
from harness.domain.releases.moves import Move


def partings(finding: Finding) -> list[str]:
    """What comes of the release and what of its companions, once for each pair of sides and answer."""
    told = (t.confounding.sentence for t in finding.transitions if t.confounding is not None)
    return list(dict.fromkeys(told))


def moved_lines(finding: Finding) -> list[str]:
    """The companions of each release that are not as in the reference set; neighbours that are alike share a line."""
    run = [release for release in finding.releases if release.environment is not None]
    return [
        f"{', '.join(release.version for release in alike)}: {_listed(moved)}"
        for moved, alike in groupby(run, key=lambda release: release.moved)
        if moved
    ]


def _listed(moved: Sequence[Move]) -> str:
    """First what changed, then what the reference set does not have at all."""
    parts = [str(move) for move in moved if move.reference]
    added = [f"{move.name} {move.version}" for move in moved if not move.reference]
    return ", ".join([*parts, *([f"in addition {', '.join(added)}"] if added else [])])

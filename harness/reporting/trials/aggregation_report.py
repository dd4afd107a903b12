"""What the source of each release says of aggregation, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from harness.domain.releases.aggregation import ReleaseFacts, milestones
from harness.reporting.terminal import line, table
from harness.reporting.text import clean

SOURCE_COLUMNS = (
    "release",
    "date",
    "_map_aggregation",
    "_map_synchronization",
    "reach tf.Variable",
    "metric variables ask for",
    "other variables have",
)
LIVE_COLUMNS = ("live metric", "live model", "live optimizer", "disagreement")


def terminal(package: str, releases: Sequence[ReleaseFacts], *, live: bool) -> RenderableType:
    """One row per release, then where the mappings appear or change."""
    return Group(_table(package, releases, live=live), *(line(sentence) for sentence in milestones(releases)))


def _table(package: str, releases: Sequence[ReleaseFacts], *, live: bool) -> Table:
    columns = (*SOURCE_COLUMNS, *(LIVE_COLUMNS if live else ()))
    made = table(f"aggregation in {package}, read from the wheels", columns)
    for facts in releases:
        source = facts.source
        cells = [
            source.version,
            facts.released or "",
            source.problem or _mapping(source.aggregation),
            _mapping(source.synchronization),
            ", ".join(source.passed) or "-",
            *(", ".join(f"{k}={v}" for k, v in words.items()) or "-" for words in (source.metric, source.default)),
        ]
        if live:
            cells += [", ".join((facts.live or {}).get(role, ())) or "-" for role in ("metric", "model", "optimizer")]
            cells.append(facts.disagreement)
        made.add_row(*(escape(clean(cell, 200)) for cell in cells))
    return made


def _mapping(mapping: Mapping[str, str] | None) -> str:
    """A mapping in one cell; keys that keep their own name are only counted."""
    if mapping is None:
        return "-"
    changed = [f"{key}->{value}" for key, value in mapping.items() if key.upper() != value]
    return ", ".join(changed) if changed else f"all {len(mapping)} to their own name"

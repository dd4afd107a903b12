"""``harness aggregation``: what the source of each release says, beside what live variables have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import click
from rich.markup import escape
from rich.table import Table

from harness import codec
from harness.adapters.index.wheels import read_files
from harness.adapters.storage import case_files
from harness.cli import options
from harness.domain.errors import HarnessError, InfrastructureError, Untestable
from harness.domain.releases.aggregation import FILES, SourceFacts, read_source
from harness.domain.releases.companions import Mode
from harness.domain.releases.index_page import IndexPage
from harness.domain.releases.release import Order, Release, parse_version, stable_timeline
from harness.domain.trials.observation import Observation
from harness.jobs import single
from harness.reporting.text import clean
from harness.services import Services, open_services

LIVE_CASE = "identity"
READERS = 8  # wheels read at once; they are small and mostly wait for the network


@dataclass(frozen=True, kw_only=True)
class ReleaseFacts:
    """One release: its source, and if asked for its live variables by role (aggregation/synchronization)."""

    source: SourceFacts
    released: str | None = None
    live: Mapping[str, Sequence[str]] | None = None
    disagreement: str = ""


@click.command("aggregation")
@options.range_options
@options.environment_options
@click.option("--package", default="keras", show_default=True, help="keras or keras-nightly.")
@click.option("--live", is_flag=True, help="Also train the identity model in each release and show its variables.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(package: str, **given: Any) -> int:
    """Show what _map_aggregation and the variables say in each release; without --live no TensorFlow is needed."""
    with open_services() as services:
        page = services.index.page(package)
        options.echo_stale(page)
        releases = _range(page, given)
        with ThreadPoolExecutor(READERS) as pool:
            sources = list(pool.map(lambda release: _source(services, page, release), releases))
        rows = [_row(services, release, source, given) for release, source in zip(releases, sources, strict=True)]
    if given["as_json"]:
        click.echo(codec.dumps(tuple[ReleaseFacts, ...], tuple(rows), indent=2))
        return 0
    console = options.console()
    console.print(_table(package, rows, live=given["live"]))
    for sentence in milestones(rows):
        console.print(escape(sentence), highlight=False)
    return 0


def _range(page: IndexPage, given: dict[str, Any]) -> tuple[Release, ...]:
    """The stable timeline; of nightlies, which are pre-releases all, those between the two versions."""
    if not page.package.endswith("-nightly"):
        first = given["first"] or "3.0.0"
        return stable_timeline(page.releases, first=first, last=given["last"], order=Order(given["order"])).releases
    ordered = sorted(page.releases, key=lambda r: r.parsed)
    lower = parse_version(given["first"], where="--from") if given["first"] else ordered[0].parsed
    upper = ordered[-1].parsed if given["last"] == "latest" else parse_version(given["last"], where="--to")
    return tuple(r for r in ordered if lower <= r.parsed <= upper)


def _source(services: Services, page: IndexPage, release: Release) -> SourceFacts:
    wheel = page.wheels.get(release.version)
    if wheel is None:
        return SourceFacts(version=release.version, problem="no wheel on the index")
    try:
        files = read_files(services.home, page.package, release.version, wheel, FILES)
    except (Untestable, InfrastructureError) as reason:
        return SourceFacts(version=release.version, problem=reason.what)
    return read_source(release.version, files)


def _row(services: Services, release: Release, source: SourceFacts, given: dict[str, Any]) -> ReleaseFacts:
    date = release.released.date().isoformat() if release.released else None
    if not given["live"]:
        return ReleaseFacts(source=source, released=date)
    case = case_files.read(LIVE_CASE)
    try:
        environment = single.prepare(services, [case], release, {**given, "mode": Mode.FIXED.value})
        finished = single.run_once(services, environment, case, release, single.variant_of(case), fresh=False)
    except InfrastructureError:
        raise
    except HarnessError as reason:
        return ReleaseFacts(source=source, released=date, live={}, disagreement=f"live: {reason.what}")
    live = by_role(finished[-1].observation)
    return ReleaseFacts(source=source, released=date, live=live, disagreement=disagreement(source, live))


def by_role(seen: Observation) -> dict[str, list[str]]:
    """Distinct aggregation/synchronization of the live variables, by role."""
    roles: dict[str, list[str]] = {}
    for variable in seen.variables:
        kind = f"{variable.aggregation}/{variable.synchronization}"
        if kind not in roles.setdefault(variable.role, []):
            roles[variable.role].append(kind)
    return roles


def disagreement(source: SourceFacts, live: Mapping[str, Sequence[str]]) -> str:
    """Say where source and live disagree on the variables of metrics; "" where they agree."""
    if source.problem or not live.get("metric"):
        return ""
    expected = f"{source.expected_aggregation}/{source.expected_synchronization}"
    others = [kind for kind in live["metric"] if kind != expected]
    return f"metric variables: the source says {expected}, live they are {', '.join(others)}" if others else ""


def milestones(rows: Sequence[ReleaseFacts]) -> list[str]:
    """Where the two mappings appear or change along the releases."""
    told = []
    for name, read in (("_map_aggregation", _aggregation), ("synchronization", _synchronization)):
        known = [row.source for row in rows if not row.source.problem]
        for before, after in pairwise(known):
            if read(before) != read(after):
                verb = "appears" if read(before) is None else "disappears" if read(after) is None else "changes"
                told.append(f"{name} {verb} in {after.version} (not yet so in {before.version}).")
    return told


def _aggregation(source: SourceFacts) -> Mapping[str, str] | None:
    return source.aggregation


def _synchronization(source: SourceFacts) -> Mapping[str, str] | None:
    return source.synchronization


def _table(package: str, rows: Sequence[ReleaseFacts], *, live: bool) -> Table:
    made = Table(title=f"aggregation in {package}, read from the wheels", title_justify="left")
    names = [
        "release",
        "date",
        "_map_aggregation",
        "_map_synchronization",
        "reach tf.Variable",
        "metric variables ask for",
        "other variables have",
    ]
    for name in [*names, *(["live metric", "live model", "live optimizer", "disagreement"] if live else [])]:
        made.add_column(name, overflow="fold")
    for row in rows:
        source = row.source
        cells = [
            source.version,
            row.released or "",
            source.problem or _mapping(source.aggregation),
            _mapping(source.synchronization),
            ", ".join(source.passed) or "-",
            *(", ".join(f"{k}={v}" for k, v in words.items()) or "-" for words in (source.metric, source.default)),
        ]
        if live:
            cells += [", ".join((row.live or {}).get(role, ())) or "-" for role in ("metric", "model", "optimizer")]
            cells.append(row.disagreement)
        made.add_row(*(escape(clean(cell, 200)) for cell in cells))
    return made


def _mapping(mapping: Mapping[str, str] | None) -> str:
    """A mapping in one cell; keys that keep their own name are only counted."""
    if mapping is None:
        return "-"
    changed = [f"{key}->{value}" for key, value in mapping.items() if key.upper() != value]
    return ", ".join(changed) if changed else f"all {len(mapping)} to their own name"

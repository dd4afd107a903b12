"""``harness releases``."""

from __future__ import annotations

import json
from typing import Any

import click
from rich.markup import escape
from rich.table import Table

from harness.cli import options
from harness.domain.releases.companions import Interpreter
from harness.domain.releases.release import Order, Release, Timeline
from harness.reporting.text import clean
from harness.services import open_services


@click.command("releases")
@click.option("--package", default="keras", show_default=True, help="Distribution to list.")
@options.range_options
@click.option("--refresh", is_flag=True, help="Ask the index even if the cached page is fresh.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(package: str, **given: Any) -> int:
    """List the timeline as the harness sees it: date, yanked, requires-python, usable here or why not."""
    with open_services(refresh=given["refresh"]) as services:
        page = services.index.page(package)
        options.echo_stale(page)
        timeline = options.timeline_of(page, None, given["first"], given["last"], given["order"])
        rows = describe(timeline, services.interpreters.candidates())
    if given["as_json"]:
        click.echo(json.dumps({"package": package, "order": timeline.order.value, "releases": rows}, indent=2))
        return 0
    table = Table(title=f"{package}: {len(timeline.releases)} releases, {len(timeline.excluded)} left out")
    for name in ("version", "date", "requires-python", "yanked", "usable here"):
        table.add_column(name, overflow="fold")
    for row in rows:
        cells = (row[k] or "" for k in ("version", "date", "requires_python", "yanked", "usable"))
        table.add_row(
            *(escape(clean(str(cell), 200)) for cell in cells)
        )  # an index is a stranger: no markup of its own
    options.console().print(table)
    return 0


def describe(timeline: Timeline, interpreters: list[Interpreter]) -> list[dict[str, Any]]:
    """One row per release of the range, the excluded ones included, each with its reason."""
    left_out = {x.release.version: x.reason for x in timeline.excluded}
    everything = [*timeline.releases, *(x.release for x in timeline.excluded)]
    ordered = sorted(everything, key=lambda r: r.parsed) if timeline.order is Order.VERSION else everything
    return [_row(release, left_out.get(release.version), interpreters) for release in ordered]


def _row(release: Release, left_out: str | None, interpreters: list[Interpreter]) -> dict[str, Any]:
    accepted = [i.minor for i in interpreters if release.accepts_python(i.version)]
    usable = f"yes, on Python {', '.join(accepted)}" if accepted else f"no: no Python {release.requires_python} here"
    return {
        "version": release.version,
        "date": release.released.date().isoformat() if release.released else None,
        "requires_python": release.requires_python,
        "yanked": None if release.yanked is None else release.yanked or "yes",
        "usable": f"left out: {left_out}" if left_out else usable,
    }

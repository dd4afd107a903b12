"""The options of ``harness nightly`` that no other command has, and the request that they make."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import click

from harness.cli import options
from harness.domain.errors import UsageError
from harness.jobs.requests import WEEK, NightlyRequest

package_option = click.option(
    "--package",
    type=click.Choice(["keras-nightly", "tf-nightly", "tf-nightly-cpu"]),
    default="keras-nightly",
    show_default=True,
    help="Distribution of the nightlies.",
)
judgement_options = options.together(
    click.option(
        "--expectations",
        type=click.Path(path_type=Path, dir_okay=False),
        default=None,
        help="What is known and expected (default: repro_cases/expectations.toml).",
    ),
    click.option(
        "--stale-after",
        type=click.IntRange(0),
        default=3,
        show_default=True,
        help="Days after which the newest build is too old, which is an alert of its own.",
    ),
    click.option(
        "--confirmations",
        type=click.IntRange(1, 20),
        default=3,
        show_default=True,
        help="Agreeing fresh trials that a change needs to be believed.",
    ),
)
replay_options = options.together(
    click.option("--simulate", is_flag=True, help="Replay nights of the past, with what existed on each of them."),
    click.option("--since", default=None, metavar="DAY", help="First night of a replay."),
    click.option("--until", default=None, metavar="DAY", help="Last night of a replay."),
    click.option(
        "--max-gap",
        type=click.IntRange(0),
        default=WEEK,
        show_default=True,
        help="Most nights in a row that a replay may leave out between two nights with the same verdict "
        "(0: run every one).",
    ),
)
publication_options = options.together(
    click.option("--report-only", is_flag=True, help="Run nothing: write and publish what the journal says."),
    click.option(
        "--github", default=None, metavar="OWNER/REPO", help="Open, update and close issues there to match the alerts."
    ),
    click.option("--base-url", default=None, metavar="URL", help="Of the GitHub API (GitHub Enterprise, tests)."),
    click.option("--webhook", default=None, metavar="URL", help="Post the night there as JSON."),
    click.option("--dry-run", is_flag=True, help="Print what would be published, publish nothing."),
)


def request(*, simulate: bool, since: str | None, until: str | None, **values: object) -> NightlyRequest:
    """The request of a command line; raises `UsageError` where a replay lacks its days."""
    if simulate != bool(since and until):
        raise UsageError("a replay needs its nights", where="--simulate, --since, --until", hint="give all three")
    make: Callable[..., NightlyRequest] = NightlyRequest
    return make(since=since or "", until=until or "", **values)

"""Options that several commands share."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click
from packaging.requirements import InvalidRequirement, Requirement
from rich.console import Console

from harness.domain.cases.case import Case
from harness.domain.errors import UsageError
from harness.domain.releases.companions import Companions, Mode
from harness.domain.releases.distributions import import_name
from harness.domain.releases.index_page import IndexPage
from harness.domain.releases.nightlies import is_nightly, nightly_timeline
from harness.domain.releases.release import Order, Timeline, stable_timeline

ANY_DAY = "0001-01-01"
WIDE = 160  # columns of a table that is not read on a terminal

F = TypeVar("F", bound=Callable[..., Any])


def range_options(function: F) -> F:
    """``--from``, ``--to``, ``--order``."""
    for option in (
        click.option("--order", type=click.Choice([o.value for o in Order]), default="version", show_default=True,
                     help="Sort the timeline by version or by date."),
        click.option(
            "--to", "last", default="latest", show_default=True, help="Last version, or 'latest'; a day for nightlies."
        ),
        click.option(
            "--from", "first", default=None, help="First version (default: the case's 'since'); a day for nightlies."
        ),
    ):  # fmt: skip
        function = option(function)
    return function


def environment_options(function: F) -> F:
    """``--with``, ``--companions``, ``--python``."""
    for option in (
        click.option("--python", default=None, help="Python of the environments: 3.11 or a path."),
        click.option("--companions", "mode", type=click.Choice([m.value for m in Mode]), default="fixed",
                     show_default=True, help="Hold the companions fixed, or take those of each release's day."),
        click.option("--with", "pins", multiple=True, metavar="NAME==VERSION", help="Pin a companion (repeatable)."),
    ):  # fmt: skip
        function = option(function)
    return function


def set_option(function: F) -> F:
    """``--set``."""
    return click.option(
        "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the case (repeatable)."
    )(function)


def check_pins(pins: Sequence[str]) -> tuple[str, ...]:
    """Check every ``--with``: a name alone pins nothing, and may be a typing error that installs a stranger."""
    for text in pins:
        try:
            pinned = bool(Requirement(text).specifier) or Requirement(text).url is not None
        except InvalidRequirement:
            pinned = False
        if not pinned:
            raise UsageError(f"{text!r} pins nothing", where="--with", hint="write it as tensorflow==2.18.1")
    return tuple(pins)


def unused(folder: Path) -> Path:
    """A folder name that does not exist yet."""
    number, chosen = 2, folder
    while chosen.exists():
        chosen, number = folder.with_name(f"{folder.name}-{number}"), number + 1
    return chosen


def run_folder(run: Path) -> Path:
    """The folder of a run, given as a path or as its id below ``reports/``."""
    below = Path("reports") / run
    return below if not run.exists() and below.is_dir() else run


def held(asked: Iterable[str], pinned: Iterable[str]) -> tuple[str, ...]:
    """Of what one environment pinned, what was asked for by name: another environment then takes the same."""
    modules = {import_name(Requirement(text).name) for text in asked}
    return tuple(pin for pin in pinned if import_name(Requirement(pin).name) in modules)


def default_jobs() -> int:
    """One job per core, at most four: a TensorFlow trial takes a core and a gigabyte."""
    return max(1, min(4, os.cpu_count() or 1))


def timeline_of(page: IndexPage, case: Case | None, first: str | None, last: str, order: str) -> Timeline:
    """The timeline of a page; the case says where a stable one begins when the user does not."""
    nightly = is_nightly(page.package)
    start = first or (case.since if case and case.package == page.package and not nightly else "") or None
    if start is None and case is not None:
        raise UsageError(
            "where should the search begin?",
            where="--from",
            hint="give a day: --from 2024-11-18" if nightly else "give --from, or a 'since' in the case's metadata",
        )
    if nightly:
        return nightly_timeline(page.releases, first=start or ANY_DAY, last=last)
    return stable_timeline(page.releases, first=start, last=last, order=Order(order))


def echo_boundary(companions: Companions) -> None:
    """Say where the companions stop to fit the timeline."""
    if companions.boundary:
        click.echo(f"harness: warning: {companions.boundary}", err=True)


def echo_stale(page: IndexPage) -> None:
    """Say so when a page could not be renewed."""
    if page.stale_reason:
        click.echo(f"harness: warning: {page.stale_reason}", err=True)


def size(text: str | None) -> int | None:
    """Read a size such as 512M or 4G as bytes."""
    if text is None:
        return None
    units = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    written = re.fullmatch(r"([0-9]{1,15})([KMG]?)", text.upper())
    if written is None or int(written[1]) == 0:
        raise UsageError(f"{text!r} is not a size", where="--memory", hint="write it as 512M or 4G")
    return int(written[1]) * units[written[2]]


def console() -> Console:
    """Standard output; wide enough for tables when it goes to a file or a pipe."""
    found = Console()
    return found if found.is_terminal else Console(width=max(WIDE, found.width))

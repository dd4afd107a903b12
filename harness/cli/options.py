"""Options that several commands share, and how click's values become the frozen request of a command."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Collection
from enum import Enum
from pathlib import Path
from typing import TypeVar

import click
from rich.console import Console, RenderableType

from harness.domain.cases.backends import Backend
from harness.domain.cases.case import STRATEGIES
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from harness.domain.releases.companions import Mode
from harness.domain.releases.release import Order
from harness.jobs.requests import MOST_REPLICAS, default_jobs

WIDE = 160
"""Columns of a table that is not read on a terminal."""

F = TypeVar("F", bound=Callable[..., object])
R = TypeVar("R")


def enum_option(
    *names: str,
    kind: type[Enum],
    help: str,  # noqa: A002 - click's own word
    default: Enum | None = None,
    multiple: bool = False,
) -> Callable[[F], F]:
    """An option whose words are the values of an enum; the command gets its members."""

    def members(
        ctx: click.Context, param: click.Parameter, value: str | tuple[str, ...] | None
    ) -> Enum | tuple[Enum, ...] | None:
        del ctx, param
        if value is None:
            return None
        return kind(value) if isinstance(value, str) else tuple(kind(word) for word in value)

    return click.option(
        *names,
        type=click.Choice([str(member.value) for member in kind]),
        callback=members,
        default=None if default is None else str(default.value),
        show_default=default is not None,
        multiple=multiple,
        help=help,
    )


def makes(request: Callable[..., R], *, beside: Collection[str] = ()) -> Callable[[F], Callable[..., object]]:
    """Let a command take a request in place of click's keyword arguments.

    Args:
        request: Makes the request of the values by their names.
        beside: Names that are no part of the request; the command gets them as keywords.
    """

    def decorate(command: F) -> Callable[..., object]:
        @functools.wraps(command)
        def wrapped(**values: object) -> object:
            own = {name: values.pop(name) for name in beside}
            return command(request(**values), **own)

        return wrapped

    return decorate


def together(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator; they are listed in this order."""

    def decorate(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


def folder_option(*names: str, help: str) -> Callable[[F], F]:  # noqa: A002 - click's own word
    """An option that names a folder, there or not."""
    return click.option(*names, type=click.Path(path_type=Path, file_okay=False), default=None, help=help)


last_option = click.option(
    "--to", "last", default="latest", show_default=True, help="Last version, or 'latest'; a day for nightlies."
)
order_option = enum_option(
    "--order", kind=Order, default=Order.VERSION, help="Sort the timeline by version or by date."
)
range_options = together(
    click.option(
        "--from", "first", default=None, help="First version (default: the case's 'since'); a day for nightlies."
    ),
    last_option,
    order_option,
)
environment_options = together(
    click.option(
        "--with",
        "pins",
        multiple=True,
        metavar="NAME==VERSION",
        help="Pin a companion, to a version or a range (repeatable).",
    ),
    enum_option(
        "--companions",
        "mode",
        kind=Mode,
        default=Mode.FIXED,
        help="Keep to one set of companions as far as it resolves, or take those of each release's day.",
    ),
    click.option(
        "--override",
        "overrides",
        multiple=True,
        metavar="NAME==VERSION",
        help="Take this version whatever other packages require (repeatable); the package under test by NAME alone.",
    ),
    click.option("--python", default=None, help="Python of the environments: 3.11 or a path."),
    enum_option(
        "--backend", kind=Backend, help="Backend of Keras (default: the case's); its framework becomes the companion."
    ),
    click.option(
        "--env", multiple=True, metavar="NAME=VALUE", help="Environment variable of the trials (repeatable; recorded)."
    ),
)
jobs_option = click.option("--jobs", type=click.IntRange(1, 64), default=default_jobs, help="Releases tried at once.")
run_options = together(
    jobs_option,
    folder_option("--output", help="Folder of the run (default: reports/<run id>)."),
    folder_option("--resume", help="Go on with an earlier run."),
    click.option("--fresh", is_flag=True, help="Run everything again; leave cached results aside."),
)
case_argument = together(
    click.argument("case", metavar="[CASE]", default=None, required=False),
    click.argument("arguments", metavar="[-- ARGUMENT...]", nargs=-1, type=click.UNPROCESSED),
    click.option(
        "--command",
        "shell_command",
        default=None,
        metavar="TEXT",
        help="Run this command in place of CASE; its exit code is the verdict, as in git bisect run. Needs --package.",
    ),
)
set_option = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the case (repeatable)."
)
package_option = click.option("--package", default=None, help="Distribution under test, with extras or not: jax[cpu].")
clone_option = functools.partial(
    click.option, "--clone", type=click.Path(path_type=Path, file_okay=False, exists=True), default=None
)
replicas_option = click.option(
    "--replicas", type=click.IntRange(1, MOST_REPLICAS), default=None, help="Replicas (default: the case's)."
)
strategy_option = click.option(
    "--strategy", type=click.Choice(STRATEGIES), default=None, help="Strategy (default: the case's)."
)
sought_options = together(
    click.option(
        "--value", default=None, metavar="REGEX", help="Compare a printed value: 'loss: ([0-9.naninf-]+)', or json:KEY."
    ),
    click.option("--equals", default=None, metavar="VALUE", help="What the value should be."),
    click.option("--warning", default=None, metavar="REGEX", help="Look for a warning that matches."),
    click.option(
        "--match",
        default=None,
        metavar="REGEX",
        help="The failure in question, by its type and message; a release that fails otherwise is skip.",
    ),
    click.option(
        "--python-flag",
        "python_flags",
        multiple=True,
        metavar="FLAG",
        help="Option of Python for a script: --python-flag='-W error::FutureWarning' (repeatable).",
    ),
)
reference_option = click.option(
    "--reference",
    default=None,
    metavar="VERSION",
    help="Compare with this release: the value, or of a model case all numbers (default: the oldest release).",
)
symptom_option = functools.partial(enum_option, "--symptom", "symptoms", kind=Symptom, multiple=True)
fresh_option = click.option("--fresh", is_flag=True, help="Run it again; leave cached results aside.")
state_option = click.option(
    "--state",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path("reports/nightly"),
    show_default=True,
    help="Folder of the journal, the history, the alerts and a folder per night.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print the answer as JSON on stdout.")


def case_word(case: str | None, shell_command: str | None) -> str:
    """The word that a case is read by: a name, a path, or a command; raises `UsageError` where there is none or two."""
    if (case is None) == (shell_command is None):
        what = "give a case or a command, not both" if case is not None else "what should be run?"
        raise UsageError(
            what, where="CASE, --command", hint="a script, a notebook, a test file, or --command 'make check'"
        )
    return case if case is not None else f"command:{shell_command}"


def size(text: str | None) -> int | None:
    """Read a size such as 512M or 4G as bytes; raises `UsageError`."""
    if text is None:
        return None
    units = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
    written = re.fullmatch(r"([0-9]{1,15})([KMG]?)", text.upper())
    if written is None or int(written[1]) == 0:
        raise UsageError(f"{text!r} is not a size", where="--memory", hint="write it as 512M or 4G")
    return int(written[1]) * units[written[2]]


def replica_counts(text: str | None) -> tuple[int, ...]:
    """Read ``--replicas 1,2``; raises `UsageError`."""
    if text is None:
        return ()
    words = [word.strip() for word in text.split(",")]
    if not all(word.isdecimal() and 1 <= int(word) <= MOST_REPLICAS for word in words):
        raise UsageError(f"{text!r} is no list of replicas", where="--replicas", hint="write it as 1,2")
    return tuple(dict.fromkeys(int(word) for word in words))


def console() -> Console:
    """Standard output; wide enough for tables when it goes to a file or a pipe."""
    found = Console()
    return found if found.is_terminal else Console(width=max(WIDE, found.width))


def show(report: RenderableType) -> None:
    """Print a report; a line that is to be copied is never cropped."""
    console().print(report, crop=False)

"""``harness reproduce RUN --release VERSION``: the same environment, the same trial, the same numbers?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from harness import codec
from harness.adapters.storage import journal
from harness.cli import options
from harness.domain.errors import UsageError
from harness.domain.findings.run import RunHeader
from harness.domain.releases.companions import Companions, Interpreter, Mode, Wanted
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import Observation
from harness.domain.trials.trial import FinishedTrial
from harness.reporting.text import clean, number
from harness.services import Services, open_services


@click.command("reproduce")
@click.argument("run", type=click.Path(path_type=Path, file_okay=False))
@click.option("--release", "version", required=True, help="Release of the run whose trials are repeated.")
@click.option("--json", "as_json", is_flag=True, help="Print the new observations as JSON.")
def command(run: Path, version: str, *, as_json: bool) -> int:
    """Rebuild the environment of one release of RUN from the recorded lock and repeat its trials.

    \b
    Exit codes: 0 the same numbers, 3 other numbers, 2 bad usage, 6 environment, index or disk failed.
    """  # noqa: D301 - click wants the character itself
    header, entries = journal.read(options.run_folder(run))
    recorded = [e for e in entries if e.release == version and e.finished and e.finished.trial.repeat == 0]
    if not recorded or recorded[0].environment is None:
        known = ", ".join(dict.fromkeys(e.release for e in entries if e.finished))
        raise UsageError(f"the run has no trial of {version}", where=str(run), hint=f"releases with trials: {known}")
    with open_services() as services:
        environments = services.environments(_companions(services, header))
        environment = environments.restore(recorded[0].environment)
        asked = [e.finished.trial for e in recorded if e.finished]
        finished = services.trials(fresh=True).run(environment, header.case, asked)
    if as_json:
        click.echo(codec.dumps(tuple[FinishedTrial, ...], tuple(finished), indent=2))
    same_key = environment.key == recorded[0].environment.key
    return _show(recorded, finished, same_key=same_key, quiet=as_json)


def _companions(services: Services, header: RunHeader) -> Companions:
    """The companions as recorded; the interpreter must be of the same minor version."""
    return Companions(
        wanted=Wanted(package=header.case.package, requirements=()),
        mode=Mode(header.setting.mode),
        interpreter=_interpreter(services, header.setting.python),
        lock=header.setting.lock,
    )


def _interpreter(services: Services, version: str) -> Interpreter:
    minor = ".".join(version.split(".")[:2])
    found = services.interpreters.named(minor)
    if found.version != version:
        click.echo(f"harness: warning: the run had Python {version}, this machine has {found.version}", err=True)
    return found


def _show(recorded: Sequence[Entry], finished: Sequence[FinishedTrial], *, same_key: bool, quiet: bool) -> int:
    table = Table(title=escape(finished[0].trial.release), title_justify="left")
    for name in ("trial", "number", "recorded", "now", ""):
        table.add_column(name)
    same = True
    for entry, again in zip(recorded, finished, strict=True):
        assert entry.finished is not None
        for name, was, now in pairs(entry.finished.observation, again.observation):
            same = same and was == now
            table.add_row(
                escape(again.trial.variant.label), escape(clean(name)), was, now, "" if was == now else "differs"
            )
    if not quiet:
        console = options.console()
        console.print(table)
        kind = (
            "the same lock, interpreter and platform"
            if same_key
            else "the same lock on another interpreter or platform"
        )
        console.print(f"Environment: {kind}. Numbers: {'the same' if same else 'not the same'}.")
    return 0 if same else 3


def pairs(was: Observation, now: Observation) -> list[tuple[str, str, str]]:
    """How both ended, and every final number of either, to six digits."""
    names = dict.fromkeys([*was.numbers, *now.numbers])
    ends = ("ended", was.ending.kind.value, now.ending.kind.value)
    return [ends, *((name, _text(was, name), _text(now, name)) for name in names)]


def _text(seen: Observation, name: str) -> str:
    return number(seen.numbers[name]) if name in seen.numbers else "-"

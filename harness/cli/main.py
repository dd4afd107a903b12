"""The command line: parse, build the real objects, print. Commands are loaded when they are called."""

from __future__ import annotations

import contextlib
import importlib
import os
import signal
import sys
import traceback
from typing import Any

import click

from harness import __version__
from harness.cli.guarded_output import OutputLost, flushed, guard_output, say_lost
from harness.domain.errors import ExitCode, HarnessError, Interrupted
from harness.domain.trials.shortage import shortage_in

COMMANDS = {
    "aggregation": "Show what _map_aggregation says in each release, from the wheels alone.",
    "bisect": "Find in which release each symptom begins and ends.",
    "diagnose": "Find the first place where a case goes wrong.",
    "export": "Write a case as one self-contained script for an upstream issue.",
    "grid": "Find where the border between good and bad runs through the releases of two packages.",
    "history": "Show the results of one case, night by night.",
    "nightly": "Run the newest nightly, and report what changed.",
    "releases": "List the timeline as the harness sees it.",
    "report": "Write the reports of a run again from its journal.",
    "repro": "Run all cases in the environment of one release.",
    "reproduce": "Rebuild the environment of one release of a run and repeat its trials.",
    "run": "Run one case in the environment of one release.",
    "verify-fix": "Verify a fix: is the symptom gone, is it right, does it break something?",
    "workarounds": "Measure what the reports of a case recommend and claim.",
}
MODULES = {"bisect": "bisection"}  # no module bears the name of one of the standard library
RENAMED = {"remedies": "workarounds"}
"""Old names of commands; they still work and say the new one."""


class LazyGroup(click.Group):
    """Loads the module of a command only when that is called, so that ``--help`` is instant."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the module of one command."""
        if cmd_name in RENAMED:
            click.echo(f"harness: `{cmd_name}` is now called `{RENAMED[cmd_name]}`", err=True)
            cmd_name = RENAMED[cmd_name]
        if cmd_name not in COMMANDS:
            return None
        name = MODULES.get(cmd_name, cmd_name.replace("-", "_"))
        module = importlib.import_module(f"harness.cli.commands.{name}")
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the list of commands without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Suggest near names for an unknown command."""
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            import difflib

            near = difflib.get_close_matches(args[0], COMMANDS, n=1)
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from None


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="harness")
def cli() -> None:
    """Find the release in which a regression begins and ends, with proof.

    \b
    Exit codes of bisect: 0 answered, 2 bad usage, 3 symptom in no release, 4 in every release,
    5 inconclusive, 6 environment, index or disk failed, 1 a fault of ours, 130 interrupted.
    """  # noqa: D301 - click wants the character itself


def main() -> None:
    """Run the command line and leave with its exit code; a user's mistake never shows a traceback."""
    _hide_credentials()
    guard_output()
    sys.exit(flushed(run(sys.argv[1:])))


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        result = cli.main(arguments, prog_name="harness", standalone_mode=False)
        return int(result) if isinstance(result, int) else 0
    except Interrupted as stop:
        click.echo(_interrupted(stop), err=True)
        return int(ExitCode.INTERRUPTED)
    except HarnessError as error:
        click.echo(_redacted(f"harness: {error}"), err=True)
        return int(error.exit_code)
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        click.UsageError(_redacted(error.format_message()), context).show()
        return int(ExitCode.USAGE)
    except SystemExit as ending:
        return ending.code if isinstance(ending.code, int) else int(ExitCode.OUR_FAULT)
    except (KeyboardInterrupt, click.Abort):
        click.echo("harness: interrupted", err=True)
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.OUR_FAULT)
    except OutputLost as lost:
        return say_lost(lost)
    except Exception as error:  # noqa: BLE001 - the last line of defence: say that it is our fault, and keep the trace
        if (lacked := shortage_in(f"{type(error).__name__}: {error}")) is not None:
            click.echo(f"harness: this machine or session ran out of {lacked.value}: {_redacted(str(error))}", err=True)
            click.echo("  try:   make room, raise the limit or use fewer --jobs; finished trials are kept", err=True)
            return int(ExitCode.SURROUNDINGS)
        click.echo(f"harness: a fault of the harness itself: {type(error).__name__}: {_redacted(str(error))}", err=True)
        click.echo(_redacted(traceback.format_exc()), err=True)
        click.echo("  try:   report it with the lines above; finished trials are in the journal", err=True)
        return int(ExitCode.OUR_FAULT)


def _hide_credentials() -> None:
    """Once, before anything is started; skipped where there is nothing to run, so that ``--help`` is instant."""
    if set(sys.argv[1:]).isdisjoint(("-h", "--help", "--version")):
        from harness.adapters.processes.own_env import hide

        hide()


def _redacted(text: str) -> str:
    """The text without credentials; loaded late, so that ``--help`` is instant."""
    from harness.adapters.processes.redaction import redacted

    return redacted(text)


def _interrupted(stop: Interrupted) -> str:
    """How to go on, where a run was begun."""
    if not stop.resume:
        return f"harness: {stop}"
    return f"\nharness: interrupted; {stop.finished} finished trials are kept. Resume with:\n  {stop.resume}"

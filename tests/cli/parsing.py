"""What the command line makes of words: the request that a job would get, without running the job."""

from __future__ import annotations

import inspect
from typing import Any

import click

from harness.cli import main


def command_named(name: str) -> click.Command:
    """A command as the command line loads it."""
    found = main.cli.get_command(click.Context(main.cli), name)
    assert found is not None
    return found


def parse(name: str, *words: str) -> tuple[Any, dict[str, Any]]:
    """The request of a command line and what the command gets beside it; raises what a wrong one raises."""
    command = command_named(name)
    values = command.make_context(name, list(words)).params
    assert command.callback is not None
    made = inspect.getclosurevars(command.callback).nonlocals
    if "request" not in made:
        return None, values
    beside = {key: values.pop(key) for key in made["beside"]}
    return made["request"](**values), beside

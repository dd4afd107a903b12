"""Write what the documentation takes from the code: the commands' help and the report's JSON Schema."""

from __future__ import annotations

from pathlib import Path

import click

from harness.cli import COMMANDS, cli
from harness.reporting import json_report

DOCS = Path(__file__).parent


def commands_text() -> str:
    """The help of every command, 100 columns wide."""
    names = cli.context_settings["help_option_names"]
    group = click.Context(cli, info_name="harness", max_content_width=100, terminal_width=100, help_option_names=names)
    parts = ["# Commands\n", "Written by `nox -s docs` from the commands' own help.\n"]
    for name in sorted(COMMANDS):
        command = cli.get_command(group, name)
        assert command is not None
        command._help_option = None  # click keeps the one that was made in whatever context asked first
        context = click.Context(command, info_name=name, parent=group, max_content_width=100, terminal_width=100)
        text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
        parts.append(f"## harness {name}\n\n```\n{text}\n```\n")
    return "\n".join(parts)


def main() -> None:
    """Write both files."""
    (DOCS / "commands.md").write_text(commands_text(), encoding="utf-8")
    (DOCS / "report.schema.json").write_text(json_report.schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()

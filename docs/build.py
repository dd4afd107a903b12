"""Write what the documentation takes from code and reports: help of commands, JSON Schema, table of reference runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from harness import codec
from harness.cli.main import COMMANDS, cli
from harness.domain.findings.finding import Finding
from harness.domain.findings.transition import Cause, Transition
from harness.reporting.bisection import json_report

DOCS = Path(__file__).parent
REFERENCE = DOCS.parent / "reports" / "reference"
CASES = DOCS.parent / "repro_cases"


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


def reference_text() -> str:
    """One row per reference report: what changed where, and through which pull request where that is known."""
    found = [codec.loads(Finding, path.read_bytes()) for path in sorted(REFERENCE.glob("*.json"))]
    rows = [f"| [{f.question.case}]({f.question.case}.md) | {_span(f)} | {_answer(f)} |" for f in found]
    return "\n".join([*REFERENCE_HEAD, *rows, "", *_without_report(found)]) + "\n"


def _without_report(found: Sequence[Finding]) -> list[str]:
    """One sentence that names the cases which were not run over every release yet."""
    names = sorted({path.stem for path in CASES.glob("*.py")} - {finding.question.case for finding in found})
    return [f"Not run over every release yet: {', '.join(names)}."] if names else []


REFERENCE_HEAD = [
    "# Reference: cases over every release",
    "",
    "`harness bisect CASE` over all stable releases from the first that the newest fixed companions take, on logical",
    "CPU devices. Each transition was confirmed by fresh trials on both sides; its numbers are in `CASE.md` and",
    "`CASE.json`. Where a pull request is named, see `repro_cases/causes.toml`. Table written by `nox -s docs`.",
    "",
    "| case | releases | what was found |",
    "| --- | --- | --- |",
]


def _span(finding: Finding) -> str:
    question = finding.question
    return f"{question.package} {question.first} to {question.last}"


def _answer(finding: Finding) -> str:
    changing = {transition.symptom for transition in finding.transitions}
    steady = sorted({s.value for release in finding.releases for s in release.symptoms if s not in changing})
    told = [_clause(transition) for transition in finding.transitions]
    told += [f"{', '.join(steady)} in every release that could tell"] if steady else []
    return "<br>".join(told) or "no symptom in any release"


def _clause(transition: Transition) -> str:
    between = len(transition.untested)
    hidden = f", {between} between {'is' if between == 1 else 'are'} untested" if between else ""
    links = ", ".join(_link(cause) for cause in transition.causes)
    where = f"{transition.last_before} -> {transition.first_after}{hidden}"
    return f"{transition.symptom.value} {transition.kind.value} {where}" + (f" ({links})" if links else "")


def _link(cause: Cause) -> str:
    return f"[#{cause.link.rpartition('/')[2]}]({cause.link})"


def main() -> None:
    """Write all files."""
    (REFERENCE / "README.md").write_text(reference_text(), encoding="utf-8")
    (DOCS / "commands.md").write_text(commands_text(), encoding="utf-8")
    (DOCS / "report.schema.json").write_text(json_report.schema_text(), encoding="utf-8")


if __name__ == "__main__":
    main()

"""``harness history CASE``: a line per night, how long each bad period lasted, the last change first."""

from __future__ import annotations

import difflib
import json
from dataclasses import asdict
from pathlib import Path

import click
from rich.markup import escape
from rich.table import Table

from harness.adapters.storage import nightly_database
from harness.adapters.storage.nightly_database import BadPeriod, NightRow
from harness.adapters.storage.nightly_journal import FileNightlyJournal
from harness.cli import options
from harness.domain.errors import UsageError
from harness.domain.nightly.alerts import nightly_history
from harness.reporting.text import clean


@click.command("history")
@click.argument("case")
@options.state_option
@options.json_option
def command(case: str, state: Path, *, as_json: bool) -> int:
    """Show what the nights said of CASE. The SQLite file is made anew from the journal each time."""
    journal = FileNightlyJournal(state)
    if not journal.records():
        raise UsageError(
            "there is no night in this state", where=str(state), hint="run `harness nightly`, or give --state"
        )
    path = nightly_database.rebuild(state, nightly_history(journal.records()), journal.killed())
    known = nightly_database.cases(path)
    if case not in known:
        near = difflib.get_close_matches(case, known, n=3, cutoff=0.4) or known
        raise UsageError(f"no night looked at {case!r}", where=str(state), hint=f"known: {', '.join(near)}")
    nights, periods = nightly_database.nights(path, case), nightly_database.bad_periods(path, case)
    if as_json:
        shown = {"case": case, "nights": [asdict(n) for n in nights], "bad_periods": [asdict(p) for p in periods]}
        click.echo(json.dumps(shown, indent=2))
        return 0
    console = options.console()
    console.print(_nights(case, nights))
    for period in periods:
        console.print(escape(_sentence(period)), highlight=False)
    if not periods:
        console.print("No bad period.")
    return 0


def _nights(case: str, nights: list[NightRow]) -> Table:
    table = Table(
        title=escape(f"{case}: {len({n.night for n in nights})} nights, the last one first"), title_justify="left"
    )
    for name in ("night", "build", "result", "symptoms", "why"):
        table.add_column(name, overflow="fold")
    for n in nights:
        why = "taken over from two equal neighbours" if n.inferred else clean(n.reason, 90)
        table.add_row(n.night, escape(n.nightly), n.status, n.symptoms, escape(why))
    return table


def _sentence(period: BadPeriod) -> str:
    end = f"to {period.last} ({period.last_version})" if period.over else f"and still on {period.last}"
    return f"{period.symptom}: bad from {period.first} ({period.first_version}) {end}, {period.nights} nights"

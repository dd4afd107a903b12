"""Go on from the edges of one search to a finer one inside them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from harness import ledger
from harness.commands import channels, options
from harness.core.cases import Case
from harness.core.errors import HarnessError, SurroundingsError, UsageError
from harness.core.findings import Finding
from harness.core.releases import Channel
from harness.core.timelines import nights_between, spans_behind
from harness.core.transitions import Transition
from harness.edge import journal
from harness.reporting import files as report_files
from harness.wiring import Workshop

FOLDER = "stages"

Answer = Callable[[Workshop, Case, dict[str, Any]], tuple[Finding, Path]]


def descend(
    shop: Workshop, stable_case: Case, finding: Finding, folder: Path, given: dict[str, Any], answer: Answer
) -> Finding:
    """Search the nightlies behind every transition of a stable finding and lay the results beside it.

    A transition whose nightlies are gone or cannot be searched is named on stderr; the stable answer stands.
    """
    case = channels.under_test(stable_case, Channel.NIGHTLY)
    for transition in finding.transitions:
        try:
            _behind(shop, finding, transition, case, folder, given, answer)
        except SurroundingsError:
            raise
        except HarnessError as reason:
            click.echo(f"harness: warning: {transition.last_before} -> {transition.first_after}: {reason}", err=True)
    whole = with_stages(finding, folder)
    report_files.write_all(whole, folder)
    return whole


def with_stages(finding: Finding, folder: Path) -> Finding:
    """A run's finding with those of its stages, read from their journals."""
    found = [ledger.compose(*journal.read(path.parent)) for path in sorted((folder / FOLDER).glob(f"*/{journal.NAME}"))]
    return replace(finding, stages=tuple(found))


def _behind(
    shop: Workshop,
    finding: Finding,
    transition: Transition,
    case: Case,
    folder: Path,
    given: dict[str, Any],
    answer: Answer,
) -> None:
    """Search the likely span first, then the wider one where the change is older than its own releases."""
    page = shop.index.page(case.package)
    options.echo_stale(page)
    stable = shop.index.releases(finding.question.package)
    spans = spans_behind(stable, transition.last_before, transition.first_after)
    if not spans:
        raise UsageError("the releases have no dates to choose nightlies by", hint="use --channel nightly with days")
    for number, span in enumerate(spans):
        timeline = nights_between(page.releases, *span)
        place = folder / FOLDER / _name(transition, number)
        asked = {
            **given,
            "first": timeline.versions[0],
            "last": timeline.versions[-1],
            "pins": options.held((*case.companions, *given["pins"]), finding.environment.companions),
            "symptoms": (transition.symptom.value,),
            "output": place,
            "resumed": place if (place / journal.NAME).exists() else None,
        }
        click.echo(f"{transition.symptom.value}: nightlies of {span[0]} to {span[1]}", err=True)
        found, _ = answer(shop, case, asked)
        if any(t.kind is transition.kind for t in found.transitions):
            return


def _name(transition: Transition, number: int) -> str:
    wider = "-wider" if number else ""
    return f"{transition.symptom.value}-{transition.last_before}-{transition.first_after}{wider}"

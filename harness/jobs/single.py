"""What `run` and `repro` share: one release, its environment, and one set of trials in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.cli import options
from harness.domain.cases.case import Case
from harness.domain.releases.companions import Mode
from harness.domain.releases.release import Release, Timeline, find
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import Variant
from harness.jobs.bisection import variants
from harness.services import Services


def find_release(services: Services, package: str, version: str, *, where: str) -> Release:
    """Find one release on the index; raises `UsageError` naming the option in `where` when it is not there."""
    page = services.index.page(package)
    options.echo_stale(page)
    return find(page.releases, version, where=where)


def prepare(services: Services, cases: Sequence[Case], release: Release, given: dict[str, Any]) -> Environment:
    """Build the environment of one release for all these cases."""
    timeline = Timeline(releases=(release,))
    pins = options.check_pins(given["pins"])
    companions = services.companions(cases, timeline, pins, Mode(given["mode"]), given["python"])
    return services.environments(companions).prepare(release)


def variant_of(case: Case, switches: Sequence[tuple[str, str]] = ()) -> Variant:
    """The trial that is judged: the case's own replicas and strategy."""
    strategy = case.strategy if case.replicas > 1 else "none"
    return Variant(replicas=case.replicas, strategy=strategy, options=tuple(switches))


def run_once(
    services: Services, environment: Environment, case: Case, release: Release, variant: Variant, *, fresh: bool
) -> Sequence[FinishedTrial]:
    """Run the trial and its reference; the judged trial comes last."""
    asked = [Trial(release=release.version, variant=v) for v in variants(case, variant)]
    return services.trials(fresh=fresh).run(environment, case, asked)

"""What somebody who reads a finding does next, in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from harness.domain.findings.finding import Answer, Finding, ReleaseResult
from harness.domain.verdicts.verdict import Outcome


def next_steps(finding: Finding) -> tuple[str, ...]:
    """Where to go, and what to run to know more; the most useful first."""
    return (*_where_to_go(finding), *_to_know_more(finding))


def _where_to_go(finding: Finding) -> Iterator[str]:
    package, conclusion = finding.question.package, finding.conclusion
    tried = [release for release in finding.releases if release.verdict is not None]
    healthy = _healthy_end(tried)
    if conclusion.answer in (Answer.NO_RELEASE, Answer.INCONCLUSIVE):
        return
    if healthy:
        later = " or later" if len(healthy) > 1 else ""
        yield f"Upgrade {package} to {healthy[0].version}{later}: what was tried from there on shows no symptom."
        return
    good = [release.version for release in tried if release.verdict is Outcome.GOOD]
    if good:
        yield f"The end of the range still shows it. The last release without any symptom is {package} {good[-1]}."
    else:
        yield f"No release that was tried is free of it: take no {package} release of this range for it."


def _healthy_end(tried: list[ReleaseResult]) -> list[ReleaseResult]:
    """The good releases at the end, behind the last one that is not."""
    last = max((n for n, release in enumerate(tried) if release.verdict is not Outcome.GOOD), default=-1)
    return tried[last + 1 :]


def _to_know_more(finding: Finding) -> Iterator[str]:
    if finding.conclusion.answer is Answer.INCONCLUSIVE:
        yield "Nothing could be decided: read why, then ask for another range, other companions or another Python."
    if not finding.conclusion.complete:
        yield "The search did not come to its end: resume it, or ask again with a larger --max-trials."
    if any(not t.confirmed for t in finding.transitions):
        yield "A transition is not confirmed: ask again with more --repeats."
    unexplained = [t for t in finding.transitions if not t.causes]
    if unexplained and not finding.stages and all("dev" not in t.first_after for t in unexplained):
        yield "The change behind a transition is not known: ask again with --channel stable,nightly."

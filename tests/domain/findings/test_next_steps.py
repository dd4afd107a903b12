"""What a reader is told to do next."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.domain.findings.finding import Answer, Finding, ReleaseResult
from harness.domain.findings.next_steps import next_steps
from harness.domain.verdicts.verdict import Outcome
from tests.reporting import examples


def finding(outcomes: str, answer: Answer = Answer.ANSWERED, **changes) -> Finding:
    """A finding whose releases are g(ood), b(ad), s(kip) or - (not run)."""
    of = {"g": Outcome.GOOD, "b": Outcome.BAD, "s": Outcome.SKIP, "-": None}
    releases = tuple(ReleaseResult(version=f"{n}.0", verdict=of[letter]) for n, letter in enumerate(outcomes, 1))
    made = replace(examples.everyday(), releases=releases, transitions=())
    return replace(made, conclusion=replace(made.conclusion, answer=answer, **changes))


@pytest.mark.parametrize(
    ("outcomes", "start"),
    [
        ("gbg", "Upgrade keras to 3.0:"),
        ("gbg-g", "Upgrade keras to 3.0 or later:"),
        ("bbsg", "Upgrade keras to 4.0:"),
        ("gbb", "The end of the range still shows it. The last release without any symptom is keras 1.0."),
        ("gbs", "The end of the range still shows it. The last release without any symptom is keras 1.0."),
        ("bb-", "No release that was tried is free of it"),
    ],
)
def test_where_to_go(outcomes, start):
    (step,) = next_steps(finding(outcomes))
    assert step.startswith(start)


def test_where_no_release_is_bad_there_is_nothing_to_do():
    assert next_steps(finding("ggg", Answer.NO_RELEASE)) == ()


def test_an_inconclusive_search_asks_for_another_question():
    (step,) = next_steps(finding("ss", Answer.INCONCLUSIVE))
    assert step.startswith("Nothing could be decided")


def test_a_search_cut_short_is_to_be_resumed():
    assert "resume it" in next_steps(finding("gb", complete=False))[1]


def test_doubt_asks_for_repeats_and_an_unknown_cause_for_nightlies():
    steps = next_steps(examples.everyday())
    assert any("more --repeats" in step for step in steps)
    assert any("--channel stable,nightly" in step for step in steps)


def test_what_is_searched_finer_already_is_not_asked_for():
    assert not any("nightly" in step for step in next_steps(examples.staged()))
    (one, *_) = examples.everyday().transitions
    nights = replace(one, first_after="3.7.0.dev2024112403")
    assert not any("--channel" in step for step in next_steps(replace(examples.everyday(), transitions=(nights,))))

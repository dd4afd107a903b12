"""Which transition a known change upstream explains."""

from __future__ import annotations

from typing import Any

import pytest

from harness.core.causes import build, explained
from harness.core.errors import UsageError
from harness.core.releases import Timeline
from harness.core.symptoms import Symptom
from harness.core.transitions import Cause, Kind, Transition

BEGAN: dict[str, Any] = {
    "case": "identity",
    "symptom": "nonfinite-metric",
    "kind": "regression",
    "link": "https://github.com/keras-team/keras/pull/20541",
    "title": "variables got their aggregation",
    "release": "3.7.0",
    "nightly": "3.7.0.dev2024112403",
    "commit": "28d39c0cc766",
}
ENDED = {
    **BEGAN,
    "kind": "recovery",
    "link": "https://github.com/keras-team/keras/pull/21072",
    "title": "metrics synchronize ON_READ",
    "release": "3.10.0",
    "nightly": "3.9.0.dev2025032003",  # the main line said 3.9.0 until 3.10.0 was cut
    "commit": "4aae578b7f67",
}
KNOWN = build({"cause": [BEGAN, ENDED]}, where="causes.toml")


def transition(kind: str, last_before: str, first_after: str, symptom: str = "nonfinite-metric") -> Transition:
    return Transition(symptom=Symptom(symptom), kind=Kind(kind), last_before=last_before, first_after=first_after)


@pytest.mark.parametrize(
    ("found", "pull"),
    [
        (transition("regression", "3.6.0", "3.7.0"), "20541"),
        (transition("regression", "3.6.0", "3.8.0"), "20541"),  # 3.7.0 untested
        (transition("regression", "3.5.0", "3.6.0"), None),
        (transition("regression", "3.7.0", "3.8.0"), None),
        (transition("recovery", "3.6.0", "3.7.0"), None),
        (transition("regression", "3.6.0", "3.7.0", "wrong-metric"), None),
        (transition("recovery", "3.9.2", "3.10.0"), "21072"),
        (transition("regression", "3.7.0.dev2024112303", "3.7.0.dev2024112403"), "20541"),
        (transition("regression", "3.7.0.dev2024112403", "3.7.0.dev2024112503"), None),
        (transition("recovery", "3.9.0.dev2025031903", "3.9.0.dev2025032003"), "21072"),
        (transition("recovery", "3.9.0.dev2025031803", "3.9.0.dev2025031903"), None),
        (transition("regression", "0" * 12, "28d39c0cc766"), "20541"),
        (transition("regression", "28d39c0cc766", "0f" * 6), None),
    ],
)
def test_it_explains_what_it_came_in_with(found: Transition, pull: str | None) -> None:
    (told,) = explained([found], KNOWN, Timeline(releases=()))
    assert [cause.link.rpartition("/")[2] for cause in told.causes] == ([pull] if pull else [])


def test_a_cause_without_a_nightly_or_a_release_explains_none_of_them() -> None:
    (bare,) = build({"cause": [{k: v for k, v in BEGAN.items() if k not in ("release", "nightly")}]}, where="f")
    assert not bare.explains(transition("regression", "3.6.0", "3.7.0"))
    assert not bare.explains(transition("regression", "3.7.0.dev2024112303", "3.7.0.dev2024112403"))


def test_the_transition_stays_as_it_was_measured() -> None:
    found = transition("regression", "3.6.0", "3.7.0")
    (told,) = explained([found], KNOWN, Timeline(releases=()))
    assert told.causes == (Cause(link=BEGAN["link"], title=BEGAN["title"]),)
    assert (told.symptom, told.kind, told.last_before, told.first_after) == (
        found.symptom,
        found.kind,
        found.last_before,
        found.first_after,
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kind": "both"}, "expected one of regression, recovery"),
        ({"release": "3.x"}, "expected a version"),
        ({"link": ""}, "non-empty"),
        ({"pr": 1}, "unknown key 'pr'"),
    ],
)
def test_a_wrong_entry_is_named(change: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        build({"cause": [{**BEGAN, **change}]}, where="causes.toml")


def test_a_cause_must_say_where_it_came_in() -> None:
    entry = {k: v for k, v in BEGAN.items() if k not in ("release", "nightly", "commit")}
    with pytest.raises(UsageError, match=r"cause\[1\] does not say where"):
        build({"cause": [BEGAN, entry]}, where="causes.toml")

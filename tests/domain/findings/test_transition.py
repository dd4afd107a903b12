"""A transition in words: what lies between is folded, and what was not run is not called untestable."""

from __future__ import annotations

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.transition import Confounding, Kind, Parting, Transition, Untested, describe, folded
from harness.domain.verdicts.reasons import NOT_RUN, recorded


def test_a_hundred_nightlies_between_are_told_by_reason():
    short = tuple(Untested(version=f"3.7.0.dev{n}", reason=NOT_RUN) for n in range(12))
    assert folded(short) == short
    assert folded(list(short)) == short
    long = (*short, Untested(version="3.7.0.dev12", reason=recorded("hidden by exception")))
    assert [(u.version, str(u.reason)) for u in folded(long)] == [
        ("12 from 3.7.0.dev0 to 3.7.0.dev11", "not run"),
        ("3.7.0.dev12", "hidden by exception"),
    ]


def test_what_was_not_run_is_not_called_untestable():
    change = Transition(
        symptom=Symptom.WRONG_METRIC,
        kind=Kind.RECOVERY,
        last_before="a",
        first_after="e",
        untested=(
            Untested(version="b", reason=NOT_RUN),
            Untested(version="c", reason=recorded("hidden by exception")),
            Untested(version="d", reason=NOT_RUN),
        ),
        confirmed=True,
        confidence=1.0,
    )
    assert describe(change) == "wrong-metric ends a -> e (1 between could not be tested) (2 between were not run)"


@pytest.mark.parametrize(
    ("parting", "packages", "short"),
    [
        (Parting.RELEASE, (), "it is the release"),
        (Parting.COMPANIONS, ("np", "tb"), "it is np, tb"),
        (Parting.COMPANIONS, (), "it is the companions"),
        (Parting.BOTH, (), "both together"),
        (Parting.EITHER, (), "each of the two alone"),
        (Parting.UNPARTED, ("np",), "the release and np cannot be parted here"),
        (Parting.UNPARTED, (), "cannot be parted here"),
    ],
)
def test_what_a_confounded_transition_comes_from_in_a_clause(parting, packages, short):
    assert Confounding(moved=(), parting=parting, packages=packages).short == short

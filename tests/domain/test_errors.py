"""Errors: what failed, where, what to try, and one exit code for each kind."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.errors import ExitCode, HarnessError, InfrastructureError, Interrupted, Untestable, UsageError

KINDS = {
    HarnessError: ExitCode.OUR_FAULT,
    UsageError: ExitCode.USAGE,
    Untestable: ExitCode.INCONCLUSIVE,
    InfrastructureError: ExitCode.SURROUNDINGS,
    Interrupted: ExitCode.INTERRUPTED,
}
LINE = st.text(st.characters(categories=["L", "N", "P"]), min_size=1)


def test_the_exit_codes_are_those_of_the_contract():
    assert {code.name: int(code) for code in ExitCode} == {
        "ANSWERED": 0,
        "OUR_FAULT": 1,
        "USAGE": 2,
        "NO_RELEASE": 3,
        "EVERY_RELEASE": 4,
        "INCONCLUSIVE": 5,
        "SURROUNDINGS": 6,
        "INTERRUPTED": 130,
    }


@pytest.mark.parametrize(("kind", "code"), KINDS.items(), ids=lambda value: getattr(value, "__name__", ""))
def test_each_kind_owns_its_exit_code(kind, code):
    assert kind("it failed").exit_code is code


def test_every_kind_of_error_is_listed_here():
    """A new kind must say its exit code in this table."""
    assert {HarnessError, *HarnessError.__subclasses__()} & set(KINDS) == set(KINDS)
    of_core = {kind for kind in HarnessError.__subclasses__() if kind.__module__ == "harness.domain.errors"}
    assert {HarnessError, *of_core} == set(KINDS)


@given(what=LINE, where=st.none() | LINE, hint=st.none() | LINE)
def test_a_message_says_what_then_where_then_what_to_try(what, where, hint):
    """Each part that is given stands on a line of its own, in this order, and nothing else does."""
    expected = [what]
    expected += [f"  where: {where}"] if where else []
    expected += [f"  try:   {hint}"] if hint else []
    assert str(HarnessError(what, where=where, hint=hint)).split("\n") == expected


def test_the_parts_stay_readable_one_by_one():
    error = UsageError("no such case", where="foo.py", hint="give a path")
    assert (error.what, error.where, error.hint) == ("no such case", "foo.py", "give a path")
    assert error.args == ("no such case",)


def test_a_changed_environment_says_whether_the_trial_did_it():
    from harness.domain.errors import EnvironmentChanged

    assert not EnvironmentChanged("files changed", where="keras/__init__.py").own
    changed = EnvironmentChanged("files changed", own=True)
    assert changed.own
    assert isinstance(changed, Untestable)

"""A failure that comes from where a case runs is no verdict on any release."""

from __future__ import annotations

import pytest

from harness.domain.cases.case import Case, Level
from harness.domain.cases.shapes.runners import Runner
from harness.domain.errors import ExitCode
from harness.domain.trials.observation import EndingKind, Observation, Stage
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.surroundings import case_error, from_surroundings, not_here, runs_here
from harness.domain.verdicts.verdict import Outcome
from tests.examples import case, ending, observation

FILE = "FileNotFoundError: [Errno 2] No such file or directory: 'cells.csv'"
SCRIPT = case(level=Level.SCRIPT, text="open('cells.csv')")
TESTS = case(level=Level.SCRIPT, text="", runner=Runner.PYTEST)


def left(output: str, code: int = 1) -> Observation:
    return observation({}, weights=None, output=output, ending=ending(EndingKind.EXITED, Stage.SCRIPT, exit_code=code))


@pytest.mark.parametrize(
    ("output", "why"),
    [
        (FILE + "\n", "there is no 'cells.csv'"),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/keras/own.json'", ""),
        ("FileNotFoundError: [Errno 2] No such file or directory: 'x/'", ""),
        ("ModuleNotFoundError: No module named 'cell_net'", "there is no module 'cell_net'"),
        ("ModuleNotFoundError: No module named 'keras.src.gone'", ""),
        ("_tkinter.TclError: no display name and no $DISPLAY environment variable", "it needs a display"),
        ("URLError: <urlopen error [Errno -3] Temporary failure in name resolution>", "it needs the network: URL"),
        ("ValueError: loss is nan", ""),
        ("", ""),
    ],
)
def test_what_comes_from_the_surroundings(output: str, why: str) -> None:
    found = from_surroundings(SCRIPT, left(output))
    assert found.startswith(why)
    assert bool(found) is bool(why)


def test_only_a_script_that_failed_has_such_a_reason() -> None:
    assert from_surroundings(SCRIPT, left(FILE, 0)) == ""
    assert from_surroundings(SCRIPT, left(FILE, 125)) == ""
    assert from_surroundings(SCRIPT, observation()) == ""
    assert from_surroundings(case(text=SCRIPT.text), left(FILE)) == ""


@pytest.mark.parametrize(
    ("about", "code", "why"),
    [
        (TESTS, 5, "pytest found no test"),
        (TESTS, 4, "pytest found no test"),
        (TESTS, 1, ""),
        (TESTS, 0, ""),
        (SCRIPT, 5, ""),
    ],
)
def test_codes_of_a_program_for_tests(about: Case, code: int, why: str) -> None:
    seen = left("...\npytest found no test\n", code)
    assert case_error(about, seen) == why
    outcomes = {verdict.outcome for verdict in judge(about, seen, None).values()}
    assert (outcomes == {Outcome.SKIP}) is bool(why)


@pytest.mark.parametrize(
    ("about", "seen", "says"),
    [
        (SCRIPT, left(FILE), False),
        (TESTS, left("pytest found no test", 5), False),
        (SCRIPT, left("ValueError: loss is nan"), True),
        (SCRIPT, left("", 0), True),
    ],
)
def test_one_trial_that_says_something_of_its_release_settles_it(about: Case, seen: Observation, *, says: bool) -> None:
    assert runs_here(about, seen) is says
    assert not says or not_here(about, {"1.0": [seen], "1.1": [left(FILE)]}, 2) is None


def test_a_code_without_a_word_is_named() -> None:
    assert case_error(TESTS, left("", 3)) == "pytest left with exit code 3"


def test_the_same_in_every_release_is_an_error_with_its_own_code() -> None:
    error = not_here(SCRIPT, {"1.0": [left(FILE)], "2.0": [left(FILE), left(FILE)]}, 24)
    assert error is not None
    assert (error.what, error.exit_code) == (
        "your case does not run here: there is no 'cells.csv'",
        ExitCode.SURROUNDINGS,
    )
    none = left("pytest found no test", 5)
    error = not_here(TESTS, {"1.0": [none], "2.0": [none]}, 24)
    assert error is not None
    assert error.exit_code is ExitCode.USAGE


@pytest.mark.parametrize(
    ("shown", "releases"),
    [
        ({}, 24),
        ({"1.0": [left(FILE)]}, 24),
        ({"1.0": [left(FILE)], "2.0": [left("ValueError")]}, 24),
        ({"1.0": [left("ValueError")], "2.0": [left("ValueError")]}, 24),
        ({"1.0": [left("", 0)], "2.0": [left("", 0)]}, 2),
    ],
)
def test_as_long_as_one_differs_it_is_a_verdict(shown: dict[str, list[Observation]], releases: int) -> None:
    assert not_here(SCRIPT, shown, releases) is None


@pytest.mark.parametrize(
    "last",
    [
        "ModuleNotFoundError: No module named 'cell_net'",
        "TclError: no display name",
        "socket.gaierror: [Errno -2] Name or service not known",
        FILE,
    ],
)
def test_each_says_what_to_try_even_where_one_release_is_all(last: str) -> None:
    error = not_here(SCRIPT, {"1.0": [left(last)]}, 1)
    assert error is not None
    assert error.hint

"""A missing third module is the environment's lack; one of the package under test is its own fault."""

from __future__ import annotations

import pytest

from harness.domain.cases.case import Level
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import EndingKind, Stage
from harness.domain.trials.trial import FinishedTrial, Trial
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.absence import absence, missing_everywhere, missing_module
from tests.examples import case, ending, observation

SCRIPT = case(level=Level.SCRIPT)
LINE = "ModuleNotFoundError: No module named 'packaging.version'"


def exits(output, code=1):
    return observation(output=output, ending=ending(EndingKind.EXITED, Stage.SCRIPT, exit_code=code))


def entry(release, seen, **variant):
    trial = Trial(release=release, variant=Variant(**variant))
    return Entry(release=release, finished=FinishedTrial(trial=trial, observation=seen, seconds=0.0))


@pytest.mark.parametrize(
    ("seen", "module"),
    [
        (exits(f"Traceback\n{LINE}\n"), "packaging"),
        (exits(f"E   {LINE}\n=== summary ===\nFAILED test.py - 1 failed\n"), "packaging"),
        (exits(f"{LINE}\nwarning 1\nwarning 2\nValueError: 3\n"), ""),
        (exits(LINE, code=0), ""),
        (exits("ModuleNotFoundError: No module named 'keras.src'"), ""),
        (exits(""), ""),
        (observation(), ""),
        (
            observation(
                ending=ending(EndingKind.RAISED, exception="ModuleNotFoundError", message="No module named 'packaging'")
            ),
            "packaging",
        ),
        (observation(ending=ending(EndingKind.RAISED, exception="ModuleNotFoundError")), ""),
        (observation(ending=ending(EndingKind.RAISED, exception="ValueError", message=LINE)), ""),
    ],
)
def test_the_module_that_is_missing(seen, module):
    assert missing_module(SCRIPT, seen) == module


def test_it_counts_where_every_trial_of_several_releases_failed_for_it():
    lacking = [entry("1.0", exits(LINE)), Entry(release="1.1", untestable="no wheel"), entry("2.0", exits(LINE))]
    assert missing_everywhere(SCRIPT, lacking, Variant()) == "packaging"
    assert missing_everywhere(SCRIPT, [*lacking, entry("3.0", exits("other"), replicas=2)], Variant()) == "packaging"
    for other in (exits("ValueError"), exits("ModuleNotFoundError: No module named 'six'"), observation()):
        assert missing_everywhere(SCRIPT, [*lacking, entry("3.0", other)], Variant()) == ""
    assert missing_everywhere(SCRIPT, lacking[:2], Variant()) == ""


def test_the_sentence_names_the_line_to_try():
    assert "(try --with 'packaging>=20')" in absence("packaging", "packaging>=20")
    assert "(try --with NAME==VERSION of the distribution that brings it)" in absence("toy", "")

"""``harness bisect``: the command that asks the same again, and the question that a resumed run must ask."""

from __future__ import annotations

import shlex

import pytest

from harness.adapters.environments.companions import wanted
from harness.cli import rerun
from harness.cli.commands import bisection as module
from harness.domain.releases.companions import Companions, Interpreter, Mode
from harness.domain.releases.release import Channel, Order, stable_timeline
from tests.examples import case
from tests.offline import PUBLISHED

DEFAULTS = {
    "first": None,
    "last": "latest",
    "order": "version",
    "mode": "fixed",
    "pins": (),
    "python": None,
    "package": None,
    "symptoms": (),
    "replicas": None,
    "strategy": None,
    "repeats": None,
    "max_trials": None,
    "max_gap": None,
    "confidence": 0.99,
    "options": (),
    "settings": (),
    "clone": None,
    "channel": "stable",
    "channels": (Channel.STABLE,),
}


def question(about=None, **given):
    line = stable_timeline(PUBLISHED, first=None, last="latest", order=Order(given.get("order", "version")))
    companions = Companions(
        wanted=wanted("keras", ["numpy"], (), ()),
        mode=Mode.FIXED,
        interpreter=Interpreter(version="3.11.7", path="/python"),
        lock=("numpy==2.0.2 --hash=sha256:0",),
    )
    return module._question(about or case(), line, companions, {**DEFAULTS, **given})


def reproduce(**given) -> list[str]:
    about = case(path="/somewhere/my case.py", name="my case")
    return shlex.split(rerun.of_bisect(about, question(about, **given), {**DEFAULTS, **given}))


def parsed(words: list[str]) -> dict[str, object]:
    """What click makes of a command's words."""
    return module.command.make_context("bisect", words[2:]).params


def test_the_shortest_command_names_the_case_and_the_range():
    assert reproduce() == ["harness", "bisect", "/somewhere/my case.py", "--from", "3.5.0", "--to", "3.10.0"]


@pytest.mark.parametrize(
    "given",
    [
        {"pins": ("numpy==2.0.2", "tensorflow==2.18.1")},
        {"symptoms": ("exception", "wrong-metric")},
        {"replicas": 4},
        {"strategy": "tpu"},
        {"repeats": 3},
        {"max_trials": 30},
        {"confidence": 0.999},
        {"python": "3.11"},
        {"mode": "as-of"},
        {"order": "date"},
        {"package": "keras-nightly"},
    ],
    ids=lambda given: next(iter(given)),
)
def test_every_option_that_is_part_of_the_question_comes_back(given):
    """The command is parsed by the command line itself and gives the same options."""
    again = parsed(reproduce(**given))
    for name, value in given.items():
        assert again[name] == value, name
    assert (again["first"], again["last"]) == ("3.5.0", "3.10.0")


def test_by_date_the_range_is_still_the_one_that_was_asked_for():
    """3.9.9 is the newest file, 3.10.0 the highest version: --to 3.9.9 would lose a release."""
    asked = question(order="date")
    assert (asked.first, asked.last) == ("3.5.0", "3.10.0")
    assert asked.releases[-1] == "3.9.9"


def test_one_replica_needs_no_strategy():
    assert question(case(replicas=1)).strategy == "none"
    assert question(case(replicas=2)).strategy == "mirrored"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"about": case(text="other")}, "case_digest"),
        ({"symptoms": ("exception",)}, "symptoms"),
        ({"about": case(replicas=4)}, "replicas"),
        ({"mode": "as-of"}, "mode"),
        ({"order": "date"}, "releases"),
    ],
)
def test_a_question_that_changed_says_in_what(changed, told):
    """A resumed run must ask the same; the refusal names the field with both values."""
    differences = question().differences(question(**changed))
    assert [d.partition(":")[0] for d in differences if d.startswith(told)] == [told]
    assert all(" -> " in difference for difference in differences)
    assert question().differences(question()) == []

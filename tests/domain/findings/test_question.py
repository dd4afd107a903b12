"""What a question says of itself."""

from __future__ import annotations

from dataclasses import replace

from harness.domain.findings.question import Question
from harness.domain.trials.variant import Variant

QUESTION = Question(case="c", case_digest="d", package="keras", first="1", last="2", releases=("1", "2"))


def test_how_the_case_is_run_stands_in_words():
    assert QUESTION.setup == "2 replicas (mirrored) against one"
    switched = replace(QUESTION, options=(("fault", "on"), ("policy", "float32")))
    assert switched.setup == "2 replicas (mirrored) against one, with fault=on, policy=float32"


def test_the_judged_trial_has_the_settings_that_were_asked_for():
    switched = replace(QUESTION, replicas=4, options=(("fault", "on"),))
    assert switched.variant == Variant(replicas=4, strategy="mirrored", options=(("fault", "on"),))


def test_questions_name_their_differences() -> None:
    one = Question(case="c", case_digest="d", package="keras", first="1", last="2", releases=("1", "2"))
    assert one.differences(one) == []
    assert one.differences(replace(one, last="3")) == ["last: '2' -> '3'"]
    assert replace(one, last="3", replicas=4).differences(one) == ["last: '3' -> '2'", "replicas: 4 -> 2"]

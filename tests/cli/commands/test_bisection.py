"""``harness bisect``: the command that repeats a search is one that the command line reads as the same request."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from harness.domain.findings.question import Question
from harness.jobs import rerun
from harness.jobs.requests import BisectRequest
from tests.cli.parsing import parse
from tests.examples import case, timeline
from tests.fakes import header
from tests.local_index import LocalIndex
from tests.toy_runs import Harness, repro, words_of

QUESTION = header(case(), timeline(["3.5.0", "3.6.0", "3.10.0"])).question


def question(request: BisectRequest) -> Question:
    """What a search asks with this request."""
    options = tuple((name, value) for name, _, value in (word.partition("=") for word in request.settings))
    return replace(QUESTION, symptoms=request.symptoms, options=options)


def reproduce(*words: str) -> list[str]:
    request, _ = parse("bisect", "/somewhere/my case.py", *words)
    return shlex.split(rerun.of_bisect("/somewhere/my case.py", request, question(request)))


def test_the_shortest_command_names_the_case_and_the_range():
    assert reproduce() == ["harness", "bisect", "/somewhere/my case.py", "--from", "3.5.0", "--to", "3.10.0"]


@pytest.mark.parametrize(
    "words",
    [
        "--with numpy==2.0.2 --with tensorflow==2.18.1",
        "--symptom exception --symptom wrong-metric",
        "--replicas 4",
        "--strategy tpu",
        "--repeats 3",
        "--max-trials 30",
        "--max-gap 2",
        "--confidence 0.999",
        "--python 3.11",
        "--companions as-of",
        "--order date",
        "--package keras-nightly",
        "--channel stable,nightly",
        "--channel commit --clone .",
        "--set fault=nan",
        "--value loss:(.*) --equals nan --warning odd --match ValueError",
        "--value json:loss --reference 3.6.0",
        "--python-flag=-Werror::FutureWarning --python-flag=-O",
    ],
)
def test_every_option_that_is_part_of_the_question_comes_back(words):
    """The command is parsed by the command line itself and gives the same request."""
    request, _ = parse("bisect", "/somewhere/my case.py", *words.split())
    again, _ = parse("bisect", *reproduce(*words.split())[2:])
    assert again == replace(request, first="3.5.0", last="3.10.0")


@pytest.mark.parametrize("words", ["--jobs 3", "--fresh", "--output reports/x", "--resume reports/x"])
def test_how_a_run_goes_on_is_no_part_of_the_question(words):
    assert reproduce(*words.split()) == reproduce()


@pytest.mark.usefixtures("warm")
def test_the_exit_code_is_that_of_the_answer_and_the_tables_name_the_transition(
    tmp_path, harness_run: Harness, warm: LocalIndex
):
    words = [word for word in words_of(repro(tmp_path), "1.0", "1.3", "--output", tmp_path / "run") if word != "--json"]
    found = harness_run(*words)
    assert found.code == 0
    assert "1.1 -> 1.3" in found.out
    assert "report.md" in found.out
    assert harness_run(*words_of(repro(tmp_path), "1.0", "1.1")).code == 3

"""``harness grid``: the command that repeats a grid is one that the command line reads as the same request."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import pytest

from harness.jobs import rerun
from tests.cli.parsing import parse

AXES = ("--from", "3.5.0", "--to", "3.10.0", "--also", "tensorflow", "--also-from", "2.17.1", "--also-to", "2.19.1")


@pytest.mark.parametrize(
    "words",
    [
        "",
        "--with numpy==2.0.2",
        "--package keras-hub",
        "--symptom exception --symptom wrong-metric",
        "--replicas 4 --repeats 3 --max-gap 2",
        "--python 3.11 --companions as-of --order date",
        "--value loss:(.*) --equals nan --warning odd --match ValueError --python-flag=-O",
        "--set fault=nan --backend tensorflow --env A=1 --override protobuf==4.25.8",
    ],
)
def test_every_option_that_is_part_of_the_question_comes_back(words):
    request, beside = parse("grid", "my case.py", *AXES, *words.split())
    again = rerun.of_grid("my case.py", request, ("3.5.0", "3.10.0"), ("2.17.1", "2.19.1"))
    assert parse("grid", *shlex.split(again)[2:]) == (request, beside)


def test_a_column_is_the_search_beside_one_version():
    request, _ = parse("grid", "identity", *AXES, "--with", "numpy==2.0.2")
    column = request.column("2.18.1", Path("reports/grid"))
    other, _ = parse("bisect", "identity", *AXES[:4], "--with", "numpy==2.0.2", "--with", "tensorflow==2.18.1")
    assert replace(column, output=None) == other
    assert column.output == Path("reports/grid/tensorflow-2.18.1")

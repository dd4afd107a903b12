"""``harness repro``: one word and one sentence per case."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.cli.commands.repro import STYLES
from harness.domain.verdicts.verdict import Outcome
from tests.toy_runs import Harness, repro


def test_every_outcome_has_a_colour():
    assert set(STYLES) == set(Outcome)


@pytest.mark.usefixtures("warm")
def test_release_python_and_environment_stand_above_the_cases(tmp_path: Path, harness_run: Harness) -> None:
    case = repro(tmp_path)
    found = harness_run("repro", "1.0", case.path, "--package", "toykeras")
    head, line = found.out.splitlines()
    assert found.code == 0
    assert head.startswith("toykeras 1.0 on Python 3.")
    assert ", environment " in head
    assert line.split()[:2] == ["toy", "good"]


@pytest.mark.usefixtures("warm")
def test_an_unknown_release_is_refused(tmp_path: Path, harness_run: Harness) -> None:
    refused = harness_run("repro", "1.0.7", repro(tmp_path).path, "--package", "toykeras")
    assert refused.code == 2
    assert "toykeras 1.0.7 is not on the index" in refused.err

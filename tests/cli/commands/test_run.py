"""``harness run``: one trial and its verdict, as a table or as JSON; what it shows is no exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.toy_runs import Harness, repro

pytestmark = pytest.mark.usefixtures("warm")


@pytest.mark.parametrize(
    ("release", "verdict"), [("1.0", "exception          good"), ("2.0", "exception          bad")]
)
def test_a_verdict_is_shown_and_the_exit_code_is_0(
    tmp_path: Path, harness_run: Harness, release: str, verdict: str
) -> None:
    shown = harness_run("run", repro(tmp_path).path, "--release", release)
    assert shown.code == 0
    assert verdict in shown.out


def test_json_is_the_observation_alone(tmp_path: Path, harness_run: Harness) -> None:
    shown = harness_run("run", repro(tmp_path).path, "--release", "2.0", "--json")
    (trial,) = json.loads(shown.out)
    assert shown.code == 0
    assert trial["observation"]["ending"]["exit_code"] == 1


def test_a_release_that_cannot_be_installed_says_why(tmp_path: Path, harness_run: Harness) -> None:
    refused = harness_run("run", repro(tmp_path).path, "--release", "1.8")
    assert refused.code != 0
    assert "toynumpy" in refused.err

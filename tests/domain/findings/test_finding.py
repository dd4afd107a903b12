"""The finding is what every report is made of: it is written whole and read whole."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from harness import codec
from harness.domain.findings import assemble
from harness.domain.findings.finding import SCHEMA_VERSION, Finding
from harness.domain.trials.entry import Entry
from tests.adapters.samples import entry, header

FINDING = assemble.compose(header(), [entry("1.0", 0), Entry(release="1.1", untestable="no wheel")])


def test_its_schema_version_comes_first():
    """A reader that does not know the version stops before it reads anything else."""
    first, value = next(iter(json.loads(codec.dumps(Finding, FINDING)).items()))
    assert (first, value) == ("schema_version", SCHEMA_VERSION)


@pytest.mark.parametrize("depth", [0, 1, 3])
def test_finer_searches_are_read_back_at_any_depth(depth: int) -> None:
    finding = FINDING
    for _ in range(depth):
        finding = replace(FINDING, stages=(finding,))
    written = codec.dumps(Finding, finding)
    read = codec.loads(Finding, written)
    assert codec.dumps(Finding, read) == written
    for _ in range(depth):
        (read,) = read.stages
    assert read.stages == ()


def test_why_a_release_was_not_tested_is_a_sentence_in_json():
    told = json.loads(codec.dumps(Finding, FINDING))["releases"][1]
    assert (told["verdict"], told["reason"]) == ("skip", "no wheel")
    assert {verdict["reason"] for verdict in told["by_symptom"].values()} <= {"no wheel"}

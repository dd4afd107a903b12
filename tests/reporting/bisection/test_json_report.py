"""report.json: the finding itself, valid against the published schema, in JSON that every reader takes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from harness import codec
from harness.domain.findings.finding import Finding
from harness.reporting.bisection import json_report
from tests.reporting import examples

PUBLISHED = Path(__file__).parents[3] / "docs" / "report.schema.json"
FINDINGS = [examples.everyday, examples.hostile]


def no_constant(name: str) -> Any:
    raise AssertionError(f"bare {name} is not JSON")


def test_the_published_schema_is_the_one_of_the_code():
    """To write it anew: python -c "from harness.reporting.bisection import json_report as j; print(j.schema_text(), end='')"."""
    assert PUBLISHED.read_text(encoding="utf-8") == json_report.schema_text()


def test_the_published_schema_is_a_schema():
    jsonschema.Draft202012Validator.check_schema(json.loads(PUBLISHED.read_text(encoding="utf-8")))


@pytest.mark.parametrize("finding", FINDINGS)
class TestEveryReport:
    def test_it_is_valid_against_the_published_schema(self, finding):
        schema = json.loads(PUBLISHED.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(schema).validate(json.loads(json_report.json_text(finding())))

    def test_it_is_json_without_bare_nan(self, finding):
        json.loads(json_report.json_text(finding()), parse_constant=no_constant)

    def test_it_is_printable_ascii(self, finding):
        """`--json` on a terminal cannot move the cursor, and no encoding of stdout can fail on it."""
        text = json_report.json_text(finding())
        assert text.isascii()
        assert text.replace("\n", "").isprintable()

    def test_reading_it_back_and_writing_it_again_gives_the_same_bytes(self, finding):
        text = json_report.json_text(finding())
        assert json_report.json_text(codec.loads(Finding, text)) == text


def test_numbers_that_are_not_finite_are_words():
    replicas = json.loads(json_report.json_text(examples.everyday()))["releases"][3]["replicas"]
    assert replicas == {"loss": "nan", "mae": "inf", "accuracy": "-inf"}


def test_a_transition_says_all_that_the_contract_promises():
    transition = json.loads(json_report.json_text(examples.everyday()))["transitions"][1]
    assert {"symptom", "kind", "last_before", "first_after", "untested", "confidence"} <= set(transition)
    assert (transition["symptom"], transition["kind"]) == ("nonfinite-metric", "regression")


def test_the_schema_refuses_what_the_code_would_not_write():
    schema = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    report = json.loads(json_report.json_text(examples.everyday()))
    report["releases"][3]["replicas"]["loss"] = None
    assert not jsonschema.Draft202012Validator(schema).is_valid(report)

from __future__ import annotations

import json
import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema.protocols import Validator
from jsonschema.validators import validator_for

from harness import codec
from harness.domain.findings.finding import Finding
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import Observation
from tests.adapters.samples import entry

observations = st.from_type(Observation)


def validator(kind: type) -> Validator:
    """Checks values against the published schema of a type; the schema itself is checked once."""
    schema = codec.schema(kind)
    found = validator_for(schema)
    found.check_schema(schema)
    return found(schema)


OBSERVATION, FINDING = validator(Observation), validator(Finding)


@settings(max_examples=60)
@given(seen=observations)
def test_an_observation_comes_back_as_it_was(seen: Observation) -> None:
    text = codec.dumps(Observation, seen)
    assert repr(codec.loads(Observation, text)) == repr(seen), "repr, for nan is not equal to itself"


@settings(max_examples=60)
@given(seen=observations)
def test_what_is_written_is_json_without_nan_and_keeps_the_schema(seen: Observation) -> None:
    def refuse(name: str) -> float:
        raise AssertionError(name)

    read = json.loads(codec.dumps(Observation, seen), parse_constant=refuse)
    OBSERVATION.validate(read)


@settings(max_examples=5, suppress_health_check=list(HealthCheck))
@given(finding=st.from_type(Finding))
def test_any_finding_keeps_the_published_schema(finding: Finding) -> None:
    FINDING.validate(json.loads(codec.dumps(Finding, finding)))


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_numbers_that_json_does_not_know_are_words(value: float) -> None:
    word = codec.dumps(dict[str, float], {"x": value})
    assert word in ('{"x": "inf"}', '{"x": "-inf"}', '{"x": "nan"}')
    assert repr(codec.loads(dict[str, float], word)["x"]) == repr(value)


@given(text=st.binary(max_size=200) | st.text(max_size=200))
def test_any_text_is_read_or_malformed(text: str | bytes) -> None:
    with pytest.raises(codec.Malformed):
        codec.loads(Entry, text if isinstance(text, bytes) else text.encode("utf-8", "replace"))


def test_malformed_names_the_place() -> None:
    value = codec.to_json(Entry, entry())
    value["environment"]["key"] = 7
    with pytest.raises(codec.Malformed, match=r"environment\.key"):
        codec.loads(Entry, json.dumps(value))


@pytest.mark.parametrize("text", ["[" * 500_000, '{"a":' * 200_000, "9" * 100_000, '"' + "x" * 1_000_000])
def test_hostile_json_is_malformed_and_does_not_take_long(text: str) -> None:
    with pytest.raises(codec.Malformed):
        codec.loads(Entry, text)

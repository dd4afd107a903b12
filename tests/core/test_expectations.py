"""What the file of expectations may say, and whom it excuses."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from harness.core.errors import UsageError
from harness.core.expectations import Expectation, build
from harness.core.symptoms import Symptom

ENTRY: dict[str, Any] = {
    "case": "identity",
    "symptom": "nonfinite-metric",
    "range": ">=3.7.0.dev2024112403,<3.10",
    "reason": "metric state is summed over the replicas",
}
TODAY = date(2026, 11, 30)


def one(**changes: Any) -> Expectation:
    return build({"expect": [{**ENTRY, **changes}]}, where="expectations.toml").expected[0]


@pytest.mark.parametrize(
    ("version", "covered"),
    [
        ("3.7.0.dev2024112303", False),
        ("3.7.0.dev2024112403", True),
        ("3.7.0", True),
        ("3.9.2", True),
        ("3.10.0", False),
        ("28d39c0cc766", False),
    ],
)
def test_a_range_covers_builds_of_the_night_too(version: str, covered: bool) -> None:
    assert one().covers(version, TODAY) is covered


def test_it_excuses_from_the_day_it_was_recorded_to_the_day_it_expires() -> None:
    entry = one(recorded=date(2024, 12, 1), expires="2024-12-31")
    days = [date(2024, 11, 30), date(2024, 12, 1), date(2024, 12, 31), date(2025, 1, 1)]
    assert [entry.covers("3.7.0", day) for day in days] == [False, True, True, False]


def test_finding_expired_and_unknown_entries() -> None:
    read = build(
        {
            "expect": [{**ENTRY, "expires": "2025-01-01"}],
            "watch": [{"case": "x", "symptom": "timeout", "broken": "3.9.2"}],
        },
        where="f",
    )
    assert read.find("identity", Symptom.NONFINITE_METRIC, "3.7.0", date(2024, 12, 1)) is read.expected[0]
    assert read.find("identity", Symptom.TIMEOUT, "3.7.0", date(2024, 12, 1)) is None
    assert read.find("identity", Symptom.NONFINITE_METRIC, "3.7.0", TODAY) is None
    assert read.expired(TODAY) == read.expected
    assert read.unknown_cases(["identity"]) == ("x",)


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ({"expects": []}, "unknown table 'expects'"),
        ({"expect": {}}, "not a list of tables"),
        ({"expect": [{k: v for k, v in ENTRY.items() if k != "reason"}]}, "has no 'reason'"),
        ({"expect": [{**ENTRY, "reason": " "}]}, "non-empty string"),
        ({"expect": [{**ENTRY, "symptom": "nan"}]}, "expected one of exception"),
        ({"expect": [{**ENTRY, "range": "3.7"}]}, "expected a range"),
        ({"expect": [{**ENTRY, "expires": "soon"}]}, "expected a day"),
        ({"expect": [{**ENTRY, "until": "soon"}]}, "unknown key 'until'"),
        ({"watch": [{"case": "x", "symptom": "timeout"}]}, "has no 'broken'"),
    ],
)
def test_a_wrong_entry_is_named(table: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError, match=told) as error:
        build(table, where="expectations.toml")
    assert error.value.where == "expectations.toml"


def test_an_empty_file_expects_nothing() -> None:
    assert build({}, where="f").expected == ()

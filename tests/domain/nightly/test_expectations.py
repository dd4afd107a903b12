"""What the file of expectations may say, and whom it excuses."""

from __future__ import annotations

from datetime import date, datetime, timezone
from typing import Any

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from harness.domain.nightly.expectations import AwaitedFix, Expectation, Expectations, build

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
    ("table", "what", "hint"),
    [
        ({"watchs": [], "expects": []}, "unknown table 'expects'", "use [[expect]] and [[watch]]"),
        ({"expect": {}}, "'expect' is not a list of tables", "write each entry under [[expect]]"),
        ({"watch": ["x"]}, "'watch' is not a list of tables", "write each entry under [[watch]]"),
        (
            {"expect": [{k: v for k, v in ENTRY.items() if k != "reason"}]},
            "expect[0] has no 'reason'",
            "required: case, symptom, range, reason",
        ),
        (
            {"expect": [ENTRY, {**ENTRY, "reason": " "}]},
            "expect[1]: bad value for 'reason': expected a non-empty string, got ' '",
            "correct it",
        ),
        (
            {"expect": [{**ENTRY, "link": 3}]},
            "expect[0]: bad value for 'link': expected a non-empty string, got 3",
            "correct it",
        ),
        (
            {"expect": [{**ENTRY, "symptom": "nan"}]},
            (
                "expect[0]: bad value for 'symptom': expected one of "
                f"{', '.join(symptom.value for symptom in Symptom)}, got 'nan'"
            ),
            "correct it",
        ),
        (
            {"expect": [{**ENTRY, "range": "3.7"}]},
            "expect[0]: bad value for 'range': expected a range such as '>=3.7.0,<3.10', got '3.7'",
            "correct it",
        ),
        (
            {"expect": [{**ENTRY, "expires": "soon"}]},
            "expect[0]: bad value for 'expires': expected a day such as 2026-12-31, got 'soon'",
            "correct it",
        ),
        (
            {"expect": [{**ENTRY, "recorded": datetime(2026, 1, 2, tzinfo=timezone.utc)}]},
            (
                "expect[0]: bad value for 'recorded': expected a day such as 2026-12-31, "
                "got datetime.datetime(2026, 1, 2, 0, 0, tzinfo=datetime.timezone.utc)"
            ),
            "correct it",
        ),
        (
            {"expect": [{**ENTRY, "until": "soon"}]},
            "expect[0] has an unknown key 'until'",
            "known: case, symptom, range, reason, link, expires, recorded",
        ),
        (
            {"watch": [{"case": "x", "symptom": "timeout"}]},
            "watch[0] has no 'broken'",
            "required: case, symptom, broken",
        ),
        (
            {"watch": [{"case": "x", "symptom": "timeout", "broken": "3.9.2", "range": ">3"}]},
            "watch[0] has an unknown key 'range'",
            "known: case, symptom, broken, link",
        ),
    ],
)
def test_a_wrong_entry_is_named(table: dict[str, Any], what: str, hint: str) -> None:
    with pytest.raises(UsageError) as error:
        build(table, where="expectations.toml")
    assert (error.value.what, error.value.where, error.value.hint) == (what, "expectations.toml", hint)


@pytest.mark.parametrize("missing", ["case", "symptom", "range", "reason"])
def test_an_expectation_without_one_of_its_words_is_refused(missing: str) -> None:
    with pytest.raises(UsageError, match=rf"expect\[0\] has no '{missing}'"):
        build({"expect": [{k: v for k, v in ENTRY.items() if k != missing}]}, where="f")


@pytest.mark.parametrize("missing", ["case", "symptom", "broken"])
def test_a_watch_without_one_of_its_words_is_refused(missing: str) -> None:
    entry = {"case": "x", "symptom": "timeout", "broken": "3.9.2"}
    with pytest.raises(UsageError, match=rf"watch\[0\] has no '{missing}'"):
        build({"watch": [{k: v for k, v in entry.items() if k != missing}]}, where="f")


def test_everything_that_an_entry_says_is_read() -> None:
    link = "https://github.com/keras-team/keras/issues/20568"
    entry = {**ENTRY, "link": link, "expires": "2026-12-31", "recorded": date(2024, 12, 1)}
    watch = {"case": "identity", "symptom": "timeout", "broken": "3.9.2", "link": link}
    assert build({"expect": [entry], "watch": [watch]}, where="f") == Expectations(
        expected=(
            Expectation(
                case="identity",
                symptom=Symptom.NONFINITE_METRIC,
                range="<3.10,>=3.7.0.dev2024112403",
                reason="metric state is summed over the replicas",
                link=link,
                expires=date(2026, 12, 31),
                recorded=date(2024, 12, 1),
            ),
        ),
        watches=(AwaitedFix(case="identity", symptom=Symptom.TIMEOUT, broken="3.9.2", link=link),),
    )


def test_the_entry_that_is_found_is_that_of_the_case_the_symptom_the_release_and_the_day() -> None:
    entries = [{**ENTRY, "case": "other"}, {**ENTRY, "symptom": "timeout"}, {**ENTRY, "range": "<3.7"}, ENTRY, ENTRY]
    read = build({"expect": entries}, where="f")
    found = read.find("identity", Symptom.NONFINITE_METRIC, "3.8.0", TODAY)
    assert found is read.expected[3]
    assert read.find("nobody", Symptom.NONFINITE_METRIC, "3.8.0", TODAY) is None


def test_the_last_day_of_an_entry_is_no_day_too_late() -> None:
    read = build({"expect": [{**ENTRY, "expires": "2026-11-30"}, ENTRY]}, where="f")
    assert read.expired(TODAY) == ()
    assert read.expired(date(2026, 12, 1)) == read.expected[:1]


def test_an_unknown_case_is_named_once() -> None:
    watch = {"case": "x", "symptom": "timeout", "broken": "3.9.2"}
    read = build({"expect": [{**ENTRY, "case": "y"}, ENTRY, {**ENTRY, "case": "x"}], "watch": [watch]}, where="f")
    assert read.unknown_cases(["identity"]) == ("y", "x")


def test_an_empty_file_expects_nothing() -> None:
    assert build({}, where="f") == Expectations()

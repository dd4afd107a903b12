"""Lists of tables: what is read, and what a mistake is told."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

import pytest

from harness.domain.cases import toml_tables
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError

READERS: dict[str, toml_tables.Reader] = {
    "name": toml_tables.text,
    "day": toml_tables.day,
    "symptom": toml_tables.symptom,
}


def read(*given: Any) -> list[dict[str, Any]]:
    return toml_tables.read({"thing": list(given), "other": 3}, "thing", READERS, ("name", "day"), "things.toml")


def refusal(call, *arguments: Any) -> tuple[str, str | None, str | None]:
    with pytest.raises(UsageError) as caught:
        call(*arguments)
    return caught.value.what, caught.value.where, caught.value.hint


def test_every_value_is_read_by_the_reader_of_its_key():
    assert read({"name": "a", "day": "2024-12-01", "symptom": "killed"}, {"day": date(2024, 1, 2), "name": "b"}) == [
        {"name": "a", "day": date(2024, 12, 1), "symptom": Symptom.KILLED},
        {"day": date(2024, 1, 2), "name": "b"},
    ]
    assert toml_tables.read({}, "thing", READERS, ("name",), "things.toml") == []


@pytest.mark.parametrize(
    ("entry", "what", "hint"),
    [
        ({"day": "2024-12-01"}, "thing[1] has no 'name'", "required: name, day"),
        ({"name": "a"}, "thing[1] has no 'day'", "required: name, day"),
        (
            {"name": "a", "day": "2024-12-01", "dya": "x"},
            "thing[1] has an unknown key 'dya'",
            "known: name, day, symptom",
        ),
        (
            {"name": "", "day": "2024-12-01"},
            "thing[1]: bad value for 'name': expected a non-empty string, got ''",
            "correct it",
        ),
    ],
)
def test_a_mistake_names_file_entry_and_key(entry, what, hint):
    assert refusal(read, {"name": "a", "day": "2024-12-01"}, entry) == (what, "things.toml", hint)


@pytest.mark.parametrize("given", [{}, "x", [{}, 3]])
def test_what_is_no_list_of_tables_is_refused(given):
    assert refusal(toml_tables.read, {"thing": given}, "thing", READERS, (), "things.toml") == (
        "'thing' is not a list of tables",
        "things.toml",
        "write each entry under [[thing]]",
    )


def test_a_table_that_nobody_reads_is_named_with_those_that_are_read():
    toml_tables.only({"a": 1}, ("a", "b"), "f")
    assert refusal(toml_tables.only, {"a": 1, "z": 1, "c": 1}, ("a", "b"), "f") == (
        "unknown table 'c'",
        "f",
        "use [[a]] and [[b]]",
    )


@pytest.mark.parametrize("value", ["", " \n", 3, None, ["a"]])
def test_text_is_a_string_that_is_not_blank(value):
    with pytest.raises(ValueError, match="expected a non-empty string, got ") as caught:
        toml_tables.text(value)
    assert str(caught.value).endswith(repr(value))
    assert toml_tables.text(" a ") == " a "


@pytest.mark.parametrize("value", ["soon", "2026-13-01", 3, datetime(2026, 1, 2)])  # noqa: DTZ001 - as TOML writes it
def test_a_day_has_no_time(value):
    with pytest.raises(ValueError, match="expected a day such as 2026-12-31, got ") as caught:
        toml_tables.day(value)
    assert str(caught.value).endswith(repr(value))


def test_a_symptom_that_is_none_is_told_all():
    with pytest.raises(
        ValueError, match="expected one of exception, killed, timeout, import-error, nonfinite-metric, "
    ) as caught:
        toml_tables.symptom("nan")
    assert str(caught.value).endswith(", wrong-weights, changed-value, warning, got 'nan'")

"""The history in SQLite, made from the journal."""

from __future__ import annotations

from pathlib import Path

from harness.adapters.storage import nightly_database
from harness.domain.nightly.alerts import nightly_history
from tests.nights import BAD, bad, broken, fixed, good, record


def test_a_line_per_night_the_last_one_first(tmp_path: Path) -> None:
    path = nightly_database.rebuild(
        tmp_path, nightly_history([good(0), bad(1), broken(2), fixed(3)]), killed=["2024-11-05"]
    )
    found = nightly_database.nights(path, "identity")
    assert [(e.night, e.status) for e in found] == [
        ("2024-11-05", "killed half-way"),
        ("2024-11-04", "fixed"),
        ("2024-11-03", "infrastructure"),
        ("2024-11-02", "new"),
        ("2024-11-01", "as expected"),
    ]
    assert found[2].reason == "the package index does not answer"
    assert found[3].symptoms == "nonfinite-metric"


def test_how_long_each_bad_period_lasted_the_last_one_first(tmp_path: Path) -> None:
    nights = [good(0), bad(1), record(2, BAD), broken(3), fixed(4), good(5), bad(6), record(7, BAD)]
    path = nightly_database.rebuild(tmp_path, nightly_history(nights))
    last, first = nightly_database.bad_periods(path, "identity")
    assert (first.first, first.last, first.nights, first.over) == ("2024-11-02", "2024-11-03", 2, True)
    assert (last.first, last.last, last.nights, last.over) == ("2024-11-07", "2024-11-08", 2, False)


def test_it_is_made_anew_each_time(tmp_path: Path) -> None:
    nightly_database.rebuild(tmp_path, nightly_history([good(0), bad(1)]))
    path = nightly_database.rebuild(tmp_path, nightly_history([good(0)]))
    assert [e.night for e in nightly_database.nights(path, "identity")] == ["2024-11-01"]
    assert nightly_database.cases(path) == ["identity"]
    assert sorted(file.name for file in tmp_path.iterdir()) == [nightly_database.NAME]


def test_a_case_that_no_night_saw_has_no_bad_period(tmp_path: Path) -> None:
    path = nightly_database.rebuild(tmp_path, nightly_history([good(0)]))
    assert nightly_database.bad_periods(path, "mnist_cnn") == []

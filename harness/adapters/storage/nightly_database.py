"""The history of nights in one SQLite file, made anew from the journal each time."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from harness.adapters.storage.files import disk_errors
from harness.domain.nightly.alerts import NightlyHistory

NAME = "history.sqlite"
_SCHEMA = """
CREATE TABLE night (night TEXT PRIMARY KEY, package TEXT, nightly TEXT, control TEXT, fault TEXT, stale_days INTEGER,
                    simulated INTEGER, seconds REAL, killed INTEGER);
CREATE TABLE result (night TEXT, "case" TEXT, symptom TEXT, word TEXT, outcome TEXT, reason TEXT, expected TEXT,
                     control_healthy INTEGER, inferred INTEGER, PRIMARY KEY (night, "case", symptom));
CREATE TABLE alert (key TEXT PRIMARY KEY, package TEXT, "case" TEXT, symptom TEXT, opened TEXT, version TEXT,
                    is_open INTEGER, good_nights INTEGER, closed TEXT);
CREATE TABLE change (key TEXT, night TEXT, version TEXT, word TEXT, text TEXT);
CREATE INDEX result_of_case ON result ("case", symptom, night);
"""


@dataclass(frozen=True, kw_only=True)
class NightRow:
    """One night of one case: build, words of its symptoms (those that are not as expected, else that), reason."""

    night: str
    nightly: str
    status: str
    symptoms: str
    reason: str
    inferred: bool


@dataclass(frozen=True, kw_only=True)
class BadPeriod:
    """A stretch of nights in which a symptom was bad without being expected to be."""

    symptom: str
    first: str
    first_version: str
    last: str
    last_version: str
    nights: int
    over: bool


def rebuild(folder: Path, chronicle: NightlyHistory, killed: Sequence[str] = ()) -> Path:
    """Write the file anew beside the old one, then put it in its place."""
    path = folder / NAME
    with disk_errors(path, "choose another --state"):
        handle, partial = tempfile.mkstemp(dir=folder, prefix=f".{NAME}.")
        os.close(handle)
        try:
            with closing(sqlite3.connect(partial)) as base, base:
                base.executescript(_SCHEMA)
                _fill(base, chronicle, killed)
            Path(partial).replace(path)
        except BaseException:
            Path(partial).unlink(missing_ok=True)
            raise
    return path


def nights(path: Path, case: str) -> list[NightRow]:
    """A line per night of one case, the last night first."""
    query = """
        SELECT n.night, n.nightly,
               COALESCE(r.word, CASE WHEN n.killed THEN 'killed half-way' ELSE 'infrastructure' END),
               GROUP_CONCAT(r.symptom, ', '), COALESCE(MAX(r.reason), n.fault, ''), MAX(COALESCE(r.inferred, 0))
        FROM night n LEFT JOIN result r ON r.night = n.night AND r."case" = ?
        GROUP BY n.night, r.word ORDER BY n.night DESC
    """
    with _open(path) as base:
        rows = [
            NightRow(night=n, nightly=v, status=w, symptoms=s or "", reason=r or "", inferred=bool(i))
            for n, v, w, s, r, i in base.execute(query, (case,))
        ]
    return list(_most_interesting(rows))


def bad_periods(path: Path, case: str) -> list[BadPeriod]:
    """How long each bad period lasted, the last one first."""
    query = """
        SELECT r.symptom, r.night, n.nightly, r.word, r.outcome FROM result r JOIN night n USING (night)
        WHERE r."case" = ? AND r.word IN ('new', 'regressed', 'still bad', 'fixed', 'as expected')
        ORDER BY r.symptom, r.night
    """
    periods: list[BadPeriod] = []
    with _open(path) as base:
        for symptom, night, version, status, outcome in base.execute(query, (case,)):
            last = periods[-1] if periods and periods[-1].symptom == symptom and not periods[-1].over else None
            bad = status in ("new", "regressed", "still bad") and outcome == "bad"
            if bad and last is None:
                periods.append(
                    BadPeriod(
                        symptom=symptom,
                        first=night,
                        first_version=version,
                        last=night,
                        last_version=version,
                        nights=1,
                        over=False,
                    )
                )
            elif bad and last is not None:
                periods[-1] = replace(last, last=night, last_version=version, nights=last.nights + 1)
            elif last is not None:
                periods[-1] = replace(last, over=True)
    return sorted(periods, key=lambda period: (period.last, period.first), reverse=True)


def cases(path: Path) -> list[str]:
    """Names of all cases that were tried in any night."""
    with _open(path) as base:
        return [name for (name,) in base.execute('SELECT DISTINCT "case" FROM result ORDER BY "case"')]


def _most_interesting(rows: Sequence[NightRow]) -> Iterator[NightRow]:
    """Leave out what is as expected or undecided in nights that have a result of more interest."""
    quiet = ("as expected", "insufficient data")
    loud = {row.night for row in rows if row.status not in quiet}
    decided = {row.night for row in rows if row.status == "as expected"}
    for row in rows:
        if row.status not in quiet:
            yield row
        elif row.night not in loud and (row.status == "as expected" or row.night not in decided):
            yield replace(row, symptoms="", reason="" if row.status == "as expected" else row.reason)


@contextmanager
def _open(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base:
        yield base


def _fill(base: sqlite3.Connection, chronicle: NightlyHistory, killed: Sequence[str]) -> None:
    for night in chronicle.nights:
        r = night.record
        values = (r.night, r.package, r.nightly, r.control, r.fault, r.stale_days, r.simulated, r.seconds, 0)
        base.execute("INSERT INTO night VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)
        base.executemany(
            "INSERT INTO result VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    r.night,
                    one.case,
                    one.symptom.value,
                    one.status.value,
                    one.outcome.value if one.outcome else None,
                    one.reason,
                    one.expected,
                    one.control_healthy,
                    one.inferred,
                )
                for one in night.judged
            ],
        )
    for day in killed:
        base.execute("INSERT INTO night VALUES (?, '', '', '', 'killed half-way', 0, 0, 0, 1)", (day,))
    for alert in chronicle.alerts:
        symptom = alert.symptom.value if alert.symptom else None
        named = (alert.key, alert.package, alert.case, symptom, alert.opened, alert.version)
        base.execute(
            "INSERT INTO alert VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (*named, alert.is_open, alert.good_nights, alert.closed),
        )
        base.executemany(
            "INSERT INTO change VALUES (?, ?, ?, ?, ?)",
            [(alert.key, c.night, c.version, c.status, c.text) for c in alert.changes],
        )

"""``alert.md``: one alert as text that can be pasted into an issue and stays under its limit.

The evidence gives way in stages: a row per night, then equal nights folded into one row, then cut to the first and
last rows with short reasons, then counted.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from itertools import groupby

from harness.domain.nightly.alerts import Alert, AlertNight, Change
from harness.domain.nightly.nights import Narrowed
from harness.domain.nightly.publishing import CHANGE_MARK, MARK, Text
from harness.reporting.text import clean, code, command, markdown

LIMIT = 60_000
"""Characters of a body; GitHub refuses one of more than 65,536."""
SHORT = 120
ENDS = 10


def key_comment(alert: Alert) -> str:
    """The hidden line by which the issue of an alert is found again."""
    return f"<!-- {MARK}: {alert.key} -->"


def change_comment(alert: Alert, change: Change) -> str:
    """The hidden line by which the comment of a change is found again."""
    return f"<!-- {CHANGE_MARK}: {alert.key} {change.night} {change.status} -->"


def body(alert: Alert, limit: int = LIMIT) -> str:
    """The body of the issue, in the richest form that fits."""
    for evidence in (_every_night, _folded, _cut, _counted):
        written = _body(alert, evidence)
        if len(written) < limit:
            return written
    return _body(alert, _counted)[: limit - 1]


def document(alert: Alert) -> str:
    """``alert.md``: title and body."""
    return f"# {markdown(alert.title)}\n\n{body(alert)}"


def texts(alert: Alert) -> dict[str, str]:
    """Return the alert's file by its name."""
    return {"alert.md": document(alert)}


def comment(alert: Alert, change: Change) -> str:
    """What is said when something happens to an alert."""
    happened = markdown(change.text, 2000)
    found = alert.narrowed if change.status != "closed" else ()
    transitions = "".join(f"\n\n{_transition(one)}" for one in found)
    place = f" ({markdown(change.version)})" if change.version else ""
    return f"{change_comment(alert, change)}\n**{change.status}** on {change.night}{place}: {happened}.{transitions}\n"


def text(alert: Alert) -> Text:
    """Everything said about an alert in a tracker."""
    comments = tuple((change_comment(alert, change), comment(alert, change)) for change in alert.changes)
    return Text(title=alert.title, body=body(alert), comments=comments)


def _body(alert: Alert, evidence: Callable[[Sequence[AlertNight]], str]) -> str:
    state = "open" if alert.is_open else f"closed on {alert.closed}" if alert.closed else "closed"
    last = alert.last_bad
    lines = [
        key_comment(alert),
        f"**{_sentence(alert)}**",
        "",
        f"State: {state}; good nights in a row: {alert.good_nights}."
        + (f" Last seen {last.night} in {markdown(last.version)}." if last else ""),
        "",
        *(f"{_transition(one)}\n" for one in alert.narrowed),
        *(f"- {c.night} {c.status}: {markdown(c.text, SHORT)}" for c in alert.changes[-ENDS:]),
        "",
        evidence(alert.nights),
        "",
        _advice(alert),
    ]
    return "\n".join(lines) + "\n"


def _sentence(alert: Alert) -> str:
    first = alert.changes[-1] if alert.changes and alert.changes[-1].status not in ("closed",) else None
    reason = next((c.text for c in reversed(alert.changes) if c.status in ("new", "regressed")), "")
    if alert.symptom is None:
        return f"{markdown(reason, 2000)}."
    verb = "gone from" if first is not None and first.status == "fixed" else "seen in"
    place = first.version if first is not None else alert.version
    return f"{alert.symptom.value} of {markdown(alert.case)} {verb} {markdown(place)}: {markdown(reason, 2000)}"


def _transition(found: Narrowed) -> str:
    verb = "Begins" if found.turns_bad else "Ends"
    unsure = "" if found.confirmed else " (not confirmed)"
    place = f"{markdown(found.last_before or '?')} -> {markdown(found.first_after or '?')}"
    return f"{verb} {place}{unsure}: {markdown(found.sentence, 400)}.{_again(found)}"


def _again(found: Narrowed) -> str:
    """The command that shows the change again."""
    if not found.last_before or not found.first_after:
        return ""
    span = ["--from", found.last_before, "--to", found.first_after, "--symptom", found.symptom.value]
    words = ["harness", "bisect", found.case, "--channel", "nightly", *span]
    return f"\n\n```\n{command(shlex.join(words))}\n```"


def _advice(alert: Alert) -> str:
    if alert.symptom is None:
        return "Look whether the builds are still published; nothing was judged from their absence."
    known = f"record it in `repro_cases/expectations.toml` (case {code(alert.case)}, symptom `{alert.symptom.value}`)"
    return f"If this is accepted for now, {known} with a reason, a link and a day on which that ends."


def _every_night(nights: Sequence[AlertNight]) -> str:
    rows = [_row(e.night, e.version, e.status, e.reason, limit=300, inferred=e.inferred) for e in nights]
    return _details(f"{len(nights)} nights", rows)


def _folded(nights: Sequence[AlertNight]) -> str:
    return _details(f"{len(nights)} nights, equal ones folded", _folds(nights, 300))


def _cut(nights: Sequence[AlertNight]) -> str:
    rows = _folds(nights, SHORT)
    left = len(rows) - 2 * ENDS
    kept = [*rows[:ENDS], f"| ... | | {left} rows left out | |", *rows[-ENDS:]] if left > 0 else rows
    return _details(f"{len(nights)} nights, cut", kept)


def _counted(nights: Sequence[AlertNight]) -> str:
    statuses = [e.status for e in nights]
    return "Nights: " + ", ".join(f"{statuses.count(one)} {one}" for one in dict.fromkeys(statuses)) + "."


def _folds(nights: Sequence[AlertNight], limit: int) -> list[str]:
    folded = []
    for status, group in groupby(nights, key=lambda e: e.status):
        run = list(group)
        days = run[0].night if len(run) == 1 else f"{run[0].night} to {run[-1].night} ({len(run)} nights)"
        versions = run[0].version if len(run) == 1 else f"{run[0].version} to {run[-1].version}"
        folded.append(_row(days, versions, status, run[0].reason, limit=limit, inferred=any(e.inferred for e in run)))
    return folded


def _row(night: str, version: str, status: str, reason: str, *, limit: int, inferred: bool) -> str:
    taken_over = " (partly not run: taken over from equal neighbours)" if inferred else ""
    return f"| {night} | {markdown(version)} | {status} | {markdown(reason, limit)}{taken_over} |"


def _details(title: str, rows: Sequence[str]) -> str:
    head = ["| night | build | result | why |", "| --- | --- | --- | --- |"]
    return "\n".join([f"<details><summary>{clean(title)}</summary>", "", *head, *rows, "", "</details>"])

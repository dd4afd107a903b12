"""``alarm.md``: one alarm as text that can be pasted into an issue and stays under its limit.

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


def key_comment(alarm: Alert) -> str:
    """The hidden line by which the issue of an alarm is found again."""
    return f"<!-- {MARK}: {alarm.key} -->"


def change_comment(alarm: Alert, change: Change) -> str:
    """The hidden line by which the comment of a change is found again."""
    return f"<!-- {CHANGE_MARK}: {alarm.key} {change.night} {change.word} -->"


def body(alarm: Alert, limit: int = LIMIT) -> str:
    """The body of the issue, in the richest form that fits."""
    for evidence in (_every_night, _folded, _cut, _counted):
        written = _body(alarm, evidence)
        if len(written) < limit:
            return written
    return _body(alarm, _counted)[: limit - 1]


def document(alarm: Alert) -> str:
    """``alarm.md``: title and body."""
    return f"# {markdown(alarm.title)}\n\n{body(alarm)}"


def comment(alarm: Alert, change: Change) -> str:
    """What is said when something happens to an alarm."""
    told = markdown(change.text, 2000)
    edge = "".join(f"\n\n{_edge(alarm, n)}" for n in range(len(alarm.narrowed)) if change.word != "closed")
    place = f" ({markdown(change.version)})" if change.version else ""
    return f"{change_comment(alarm, change)}\n**{change.word}** on {change.night}{place}: {told}.{edge}\n"


def text(alarm: Alert) -> Text:
    """All that is to be said of an alarm in a tracker."""
    comments = tuple((change_comment(alarm, change), comment(alarm, change)) for change in alarm.changes)
    return Text(title=alarm.title, body=body(alarm), comments=comments)


def _body(alarm: Alert, evidence: Callable[[Sequence[AlertNight]], str]) -> str:
    state = "open" if alarm.is_open else f"closed on {alarm.closed}" if alarm.closed else "closed"
    last = alarm.last_bad
    lines = [
        key_comment(alarm),
        f"**{_sentence(alarm)}**",
        "",
        f"State: {state}; good nights in a row: {alarm.good_nights}."
        + (f" Last seen {last.night} in {markdown(last.version)}." if last else ""),
        "",
        *(f"{_edge(alarm, n)}\n" for n in range(len(alarm.narrowed))),
        *(f"- {c.night} {c.word}: {markdown(c.text, SHORT)}" for c in alarm.changes[-ENDS:]),
        "",
        evidence(alarm.evenings),
        "",
        _advice(alarm),
    ]
    return "\n".join(lines) + "\n"


def _sentence(alarm: Alert) -> str:
    first = alarm.changes[-1] if alarm.changes and alarm.changes[-1].word not in ("closed",) else None
    told = next((c.text for c in reversed(alarm.changes) if c.word in ("new", "regressed")), "")
    if alarm.symptom is None:
        return f"{markdown(told, 2000)}."
    verb = "gone from" if first is not None and first.word == "fixed" else "seen in"
    place = first.version if first is not None else alarm.version
    return f"{alarm.symptom.value} of {markdown(alarm.case)} {verb} {markdown(place)}: {markdown(told, 2000)}"


def _edge(alarm: Alert, number: int) -> str:
    edge = alarm.narrowed[number]
    verb = "Begins" if edge.turns_bad else "Ends"
    sure = "" if edge.confirmed else " (not confirmed)"
    place = f"{markdown(edge.last_before or '?')} -> {markdown(edge.first_after or '?')}"
    return f"{verb} {place}{sure}: {markdown(edge.sentence, 400)}.{_again(edge)}"


def _again(edge: Narrowed) -> str:
    """The command that shows the change again."""
    if not edge.last_before or not edge.first_after:
        return ""
    span = ["--from", edge.last_before, "--to", edge.first_after, "--symptom", edge.symptom.value]
    words = ["harness", "bisect", edge.case, "--channel", "nightly", *span]
    return f"\n\n```\n{command(shlex.join(words))}\n```"


def _advice(alarm: Alert) -> str:
    if alarm.symptom is None:
        return "Look whether the builds are still published; nothing was judged from their absence."
    known = f"record it in `repro_cases/expectations.toml` (case {code(alarm.case)}, symptom `{alarm.symptom.value}`)"
    return f"If this is accepted for now, {known} with a reason, a link and a day on which that ends."


def _every_night(evenings: Sequence[AlertNight]) -> str:
    rows = [_row(e.night, e.version, e.word, e.reason, 300, e.inferred) for e in evenings]
    return _details(f"{len(evenings)} nights", rows)


def _folded(evenings: Sequence[AlertNight]) -> str:
    return _details(f"{len(evenings)} nights, equal ones folded", _folds(evenings, 300))


def _cut(evenings: Sequence[AlertNight]) -> str:
    rows = _folds(evenings, SHORT)
    left = len(rows) - 2 * ENDS
    kept = [*rows[:ENDS], f"| ... | | {left} rows left out | |", *rows[-ENDS:]] if left > 0 else rows
    return _details(f"{len(evenings)} nights, cut", kept)


def _counted(evenings: Sequence[AlertNight]) -> str:
    words = [e.word for e in evenings]
    return "Nights: " + ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words)) + "."


def _folds(evenings: Sequence[AlertNight], limit: int) -> list[str]:
    folded = []
    for word, group in groupby(evenings, key=lambda e: e.word):
        run = list(group)
        nights = run[0].night if len(run) == 1 else f"{run[0].night} to {run[-1].night} ({len(run)} nights)"
        versions = run[0].version if len(run) == 1 else f"{run[0].version} to {run[-1].version}"
        folded.append(_row(nights, versions, word, run[0].reason, limit, any(e.inferred for e in run)))
    return folded


def _row(night: str, version: str, word: str, reason: str, limit: int, inferred: bool) -> str:
    taken_over = " (partly not run: taken over from equal neighbours)" if inferred else ""
    return f"| {night} | {markdown(version)} | {word} | {markdown(reason, limit)}{taken_over} |"


def _details(title: str, rows: Sequence[str]) -> str:
    head = ["| night | build | result | why |", "| --- | --- | --- | --- |"]
    return "\n".join([f"<details><summary>{clean(title)}</summary>", "", *head, *rows, "", "</details>"])

"""What has to be done to a tracker so that it says what the alerts say: a pure function of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from harness.domain.nightly.alerts import Alert

MARK = "harness-alarm"
CHANGE_MARK = "harness-change"
"""Hidden comments by which an issue, and what was said in it, are found again."""


class ActionKind(str, Enum):
    """One act on the tracker."""

    OPEN = "open"
    EDIT = "edit"
    COMMENT = "comment"
    REOPEN = "reopen"
    CLOSE = "close"


@dataclass(frozen=True, kw_only=True)
class Posted:
    """The issue of one alert, as the tracker has it.

    Attributes:
        number: Its number.
        is_open: Whether it is open.
        body: Its body.
        marks: Hidden marks of the changes that were commented on.
    """

    number: int
    is_open: bool
    body: str
    marks: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class Text:
    """What is to be said of one alert: its body, and a (mark, comment) pair per change, oldest first."""

    title: str
    body: str
    comments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Action:
    """One step, in the order in which the steps are to be taken."""

    do: ActionKind
    key: str
    number: int | None = None
    title: str = ""
    body: str = ""


def actions(alerts: Sequence[Alert], texts: Mapping[str, Text], posted: Mapping[str, Posted]) -> list[Action]:
    """Steps for all alerts; nothing where the tracker says the same already, so that it can be repeated at any time.

    An alert that was opened and closed before anything could be posted is not posted any more.
    """
    return [act for alert in alerts for act in _acts(alert, texts[alert.key], posted.get(alert.key))]


def _acts(alert: Alert, text: Text, issue: Posted | None) -> Iterable[Action]:
    if issue is None:
        if alert.is_open:
            yield Action(do=ActionKind.OPEN, key=alert.key, title=text.title, body=text.body)
        return
    if alert.is_open and not issue.is_open:
        yield Action(do=ActionKind.REOPEN, key=alert.key, number=issue.number)
    if _said(text.body) != _said(issue.body):
        yield Action(do=ActionKind.EDIT, key=alert.key, number=issue.number, body=text.body)
    for mark, comment in text.comments[1:]:  # the first change opened it: that is the body
        if mark not in issue.marks:
            yield Action(do=ActionKind.COMMENT, key=alert.key, number=issue.number, body=comment)
    if issue.is_open and not alert.is_open:
        yield Action(do=ActionKind.CLOSE, key=alert.key, number=issue.number)


def _said(body: str) -> str:
    """A tracker may change line ends and the space around a text."""
    return body.replace("\r\n", "\n").strip()

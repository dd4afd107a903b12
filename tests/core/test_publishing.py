"""The tracker is brought to what the alarms say, and then left alone."""

from __future__ import annotations

from harness.core.alarms import Alarm, chronicle
from harness.core.publishing import Do, Posted, acts
from harness.reporting.alarm_report import text
from tests.nights import BAD, bad, fixed, good, record


def alarm(*nights: object) -> Alarm:
    return chronicle(nights).alarms[0]  # type: ignore[arg-type]


def steps(one: Alarm, posted: Posted | None) -> list[Do]:
    return [act.do for act in acts([one], {one.key: text(one)}, {one.key: posted} if posted else {})]


def as_posted(one: Alarm, **changes: object) -> Posted:
    said = text(one)
    given: dict[str, object] = {
        "number": 7,
        "is_open": one.is_open,
        "body": said.body,
        "told": frozenset(mark for mark, _ in said.comments),
    }
    return Posted(**{**given, **changes})  # type: ignore[arg-type]


OPEN = alarm(good(0), bad(1))
LATER = alarm(good(0), bad(1), record(2, BAD))
GONE = alarm(good(0), bad(1), fixed(2))
CLOSED = alarm(good(0), bad(1), fixed(2), good(3), good(4))
AGAIN = alarm(good(0), bad(1), fixed(2), good(3), good(4), bad(5))


def test_a_new_alarm_is_opened_once() -> None:
    assert steps(OPEN, None) == [Do.OPEN]
    assert steps(OPEN, as_posted(OPEN)) == []


def test_a_night_without_a_change_edits_in_place_and_says_nothing() -> None:
    assert steps(LATER, as_posted(OPEN)) == [Do.EDIT]


def test_a_change_is_said_once() -> None:
    assert steps(GONE, as_posted(OPEN)) == [Do.EDIT, Do.COMMENT]
    assert steps(GONE, as_posted(GONE)) == []


def test_a_publisher_that_died_between_two_steps_goes_on() -> None:
    half = as_posted(CLOSED, is_open=True, told=frozenset())
    assert steps(CLOSED, half) == [Do.COMMENT, Do.COMMENT, Do.CLOSE]


def test_it_is_closed_after_three_good_nights_and_opened_again_under_its_number() -> None:
    assert steps(CLOSED, as_posted(GONE)) == [Do.EDIT, Do.COMMENT, Do.CLOSE]
    assert steps(AGAIN, as_posted(CLOSED)) == [Do.REOPEN, Do.EDIT, Do.COMMENT]


def test_what_is_over_before_it_could_be_posted_is_not_posted() -> None:
    assert steps(CLOSED, None) == []


def test_line_ends_that_the_tracker_changed_are_no_difference() -> None:
    assert steps(OPEN, as_posted(OPEN, body=text(OPEN).body.replace("\n", "\r\n") + "\n")) == []

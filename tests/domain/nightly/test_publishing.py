"""The tracker is brought to what the alerts say, and then left alone."""

from __future__ import annotations

from harness.domain.nightly.alerts import Alert, nightly_history
from harness.domain.nightly.publishing import Action, ActionKind, Posted, Text, actions
from harness.reporting.nightly.alert_report import text
from tests.nights import BAD, bad, fixed, good, record


def alert(*nights: object) -> Alert:
    return nightly_history(nights).alerts[0]  # type: ignore[arg-type]


def steps(one: Alert, posted: Posted | None) -> list[ActionKind]:
    return [act.do for act in actions([one], {one.key: text(one)}, {one.key: posted} if posted else {})]


def as_posted(one: Alert, **changes: object) -> Posted:
    said = text(one)
    given: dict[str, object] = {
        "number": 7,
        "is_open": one.is_open,
        "body": said.body,
        "marks": frozenset(mark for mark, _ in said.comments),
    }
    return Posted(**{**given, **changes})  # type: ignore[arg-type]


OPEN = alert(good(0), bad(1))
LATER = alert(good(0), bad(1), record(2, BAD))
GONE = alert(good(0), bad(1), fixed(2))
CLOSED = alert(good(0), bad(1), fixed(2), good(3), good(4))
AGAIN = alert(good(0), bad(1), fixed(2), good(3), good(4), bad(5))


def test_a_new_alert_is_opened_once() -> None:
    assert steps(OPEN, None) == [ActionKind.OPEN]
    assert steps(OPEN, as_posted(OPEN)) == []


def test_a_night_without_a_change_edits_in_place_and_says_nothing() -> None:
    assert steps(LATER, as_posted(OPEN)) == [ActionKind.EDIT]


def test_a_change_is_said_once() -> None:
    assert steps(GONE, as_posted(OPEN)) == [ActionKind.EDIT, ActionKind.COMMENT]
    assert steps(GONE, as_posted(GONE)) == []


def test_a_publisher_that_died_between_two_steps_goes_on() -> None:
    half = as_posted(CLOSED, is_open=True, marks=frozenset())
    assert steps(CLOSED, half) == [ActionKind.COMMENT, ActionKind.COMMENT, ActionKind.CLOSE]


def test_it_is_closed_after_three_good_nights_and_opened_again_under_its_number() -> None:
    assert steps(CLOSED, as_posted(GONE)) == [ActionKind.EDIT, ActionKind.COMMENT, ActionKind.CLOSE]
    assert steps(AGAIN, as_posted(CLOSED)) == [ActionKind.REOPEN, ActionKind.EDIT, ActionKind.COMMENT]


def test_what_is_over_before_it_could_be_posted_is_not_posted() -> None:
    assert steps(CLOSED, None) == []


def test_line_ends_that_the_tracker_changed_are_no_difference() -> None:
    assert steps(OPEN, as_posted(OPEN, body=text(OPEN).body.replace("\n", "\r\n") + "\n")) == []


def test_each_step_says_everything_that_the_tracker_needs() -> None:
    comments = (("m1", "it began"), ("m2", "it is gone"), ("m3", "it is back"))
    key, said = AGAIN.key, Text(title="the title", body="the body", comments=comments)
    (opened,) = actions([OPEN], {OPEN.key: said}, {})
    assert opened == Action(do=ActionKind.OPEN, key=key, title="the title", body="the body")
    closed = Posted(number=7, is_open=False, body="another body", marks=frozenset({"m2"}))
    assert actions([AGAIN], {key: said}, {key: closed}) == [
        Action(do=ActionKind.REOPEN, key=key, number=7),
        Action(do=ActionKind.EDIT, key=key, number=7, body="the body"),
        Action(do=ActionKind.COMMENT, key=key, number=7, body="it is back"),
    ]
    still = Posted(number=7, is_open=True, body="the body ", marks=frozenset({"m1", "m2", "m3"}))
    assert actions([CLOSED], {key: said}, {key: still}) == [Action(do=ActionKind.CLOSE, key=key, number=7)]


def test_only_what_surrounds_a_body_may_differ() -> None:
    key = OPEN.key
    for theirs, same in [("a\r\nb", True), ("\n a\nb ", True), ("a b", False), ("a\n\nb", False)]:
        posted = Posted(number=1, is_open=True, body=theirs)
        done = actions([OPEN], {key: Text(title="t", body="a\nb\n")}, {key: posted})
        assert (done == []) is same, theirs


def test_every_alert_has_its_own_steps() -> None:
    other = alert(good(0, case="other"), bad(1, case="other"))
    texts = {one.key: Text(title=one.case, body=one.case) for one in (OPEN, other)}
    assert [(act.key, act.title) for act in actions([OPEN, other], texts, {})] == [
        (OPEN.key, "identity"),
        (other.key, "other"),
    ]

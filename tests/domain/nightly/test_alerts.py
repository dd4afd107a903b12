"""Alerts over whole histories: when they open, what they survive, when they close."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.domain.cases.symptoms import Symptom
from harness.domain.nightly.alerts import STALE, Alert, AlertNight, Change, NightlyHistory, nightly_history
from harness.domain.nightly.case_status import exit_code
from harness.domain.nightly.nights import CaseNight, CaseResult, Narrowed, NightExit, NightRecord, Status
from harness.domain.verdicts.verdict import Outcome
from tests.nights import BAD, GOOD, NAN, bad, broken, fixed, good, look, record


def words(told: NightlyHistory) -> list[str]:
    return [one.status.value for night in told.nights for one in night.judged]


def test_a_regression_is_one_alert_and_not_a_hundred_and_twenty() -> None:
    told = nightly_history(
        [good(0), bad(1), *(record(day, BAD) for day in range(2, 122)), fixed(122), good(123), good(124)]
    )
    (alert,) = told.alerts
    assert [change.status for change in alert.changes] == ["new", "fixed", "closed"]
    assert [change.night for change in alert.changes] == ["2024-11-02", "2025-03-03", "2025-03-05"]
    assert not alert.is_open
    assert words(told)[:3] == ["as expected", "new", "still bad"]


def test_what_the_control_shows_too_is_no_news() -> None:
    told = nightly_history([record(0, BAD, control=(BAD,)), record(1, BAD, control=(BAD,))])
    assert words(told) == ["still bad", "still bad"]
    assert told.alerts == ()


def test_a_change_is_not_believed_on_the_night_on_which_a_new_control_shows_it_as_well() -> None:
    sick = replace(bad(1, control=(BAD, BAD)), control="3.7.0")
    told = nightly_history([good(0), sick, replace(bad(2, control=(BAD, BAD)), control="3.7.0")])
    assert words(told) == ["as expected", "suspicious", "new"]


@pytest.mark.parametrize(
    ("night", "status"),
    [
        (broken(2), None),
        (record(2, look(None, fault="the disk is full")), "infrastructure"),
        (record(2, look(None, blocked="the canary is red")), "insufficient data"),
        (record(2, GOOD, GOOD, GOOD, control=(look(None, blocked="the canary is red"),)), "suspicious"),
        (record(2, GOOD, GOOD, GOOD, control=(GOOD, BAD)), "suspicious"),
        (record(2, GOOD, BAD, GOOD), "flaky"),
        (record(2, GOOD), "suspicious"),
    ],
    ids=["index", "disk", "canary", "canary of the control", "sick control", "flaky", "seen once"],
)
def test_no_fault_or_doubt_closes_an_alert(night: NightRecord, status: str | None) -> None:
    told = nightly_history([good(0), bad(1), night, night, night])
    (alert,) = told.alerts
    assert alert.is_open
    assert alert.good_nights == 0
    assert words(told)[2:] == ([status] * 3 if status else [])
    assert words(nightly_history([good(0), bad(1), night, record(3, BAD)]))[-1] == "still bad"


@pytest.mark.parametrize(
    "night",
    [
        broken(1),
        record(1, look(None, fault="the disk is full")),
        record(1, look(None, blocked="the canary is red")),
        record(1, BAD, BAD, BAD, control=(look(None, blocked="the canary is red"),)),
        record(1, BAD, BAD, BAD, control=(BAD, BAD)),
        record(1, BAD, GOOD, BAD),
        record(1, BAD),
    ],
    ids=["index", "disk", "canary", "canary of the control", "sick control", "flaky", "seen once"],
)
def test_no_fault_or_doubt_opens_an_alert_and_the_next_night_goes_on(night: NightRecord) -> None:
    assert nightly_history([good(0), night]).alerts == ()
    assert words(nightly_history([good(0), night, bad(2)]))[-1] == "new"
    assert words(nightly_history([good(0), night, good(2)]))[-1] == "as expected"


def test_a_build_that_says_otherwise_than_yesterday_is_not_believed() -> None:
    told = nightly_history([good(0), bad(1, version="3.7.0.dev2024110103")])
    assert words(told) == ["as expected", "suspicious"]
    assert "very same build" in told.nights[-1].judged[0].reason


def test_a_night_without_a_new_build_does_not_count_towards_closing() -> None:
    gone = [fixed(2), *(good(day, version="3.7.0.dev2024110303") for day in range(3, 9))]
    (alert,) = nightly_history([good(0), bad(1), *gone]).alerts
    assert alert.is_open
    assert alert.good_nights == 1
    (alert,) = nightly_history([good(0), bad(1), *gone, good(10), good(11)]).alerts
    assert not alert.is_open


def test_it_opens_again_as_regressed_under_the_same_key() -> None:
    told = nightly_history([good(0), bad(1), fixed(2), good(3), good(4), bad(5)])
    (alert,) = told.alerts
    assert [change.status for change in alert.changes] == ["new", "fixed", "closed", "regressed"]
    assert alert.is_open
    assert alert.closed == ""


def test_bad_again_before_it_was_closed_begins_the_count_anew() -> None:
    (alert,) = nightly_history([good(0), bad(1), fixed(2), good(3), bad(4), fixed(5), good(6)]).alerts
    assert alert.is_open
    assert alert.good_nights == 2


def test_recording_it_as_expected_closes_it() -> None:
    excused = replace(
        record(2, BAD), cases=(CaseNight(case="identity", nightly=(BAD,), control=(GOOD,), expected={NAN: "known"}),)
    )
    (alert,) = nightly_history([good(0), bad(1), excused]).alerts
    assert not alert.is_open
    assert alert.changes[-1] == Change(
        night="2024-11-03", version=build(2), status="closed", text="recorded as expected: known"
    )
    assert alert.closed == "2024-11-03"


def test_an_expectation_that_is_over_is_an_alert() -> None:
    excused = CaseNight(case="identity", nightly=(BAD,), control=(GOOD,), expected={NAN: "known"})
    told = nightly_history([replace(record(0, BAD), cases=(excused,)), bad(1)])
    assert words(told) == ["as expected", "regressed"]


def test_an_old_index_is_an_alert_of_its_own_but_a_silent_one_is_not() -> None:
    stale = replace(good(4, version="3.7.0.dev2024110103"), stale_days=4)
    told = nightly_history([good(0), stale, broken(5), replace(stale, night="2024-11-07")])
    (alert,) = told.alerts
    assert (alert.case, alert.symptom) == (STALE, None)
    assert [change.status for change in alert.changes] == ["new"]
    told = nightly_history([good(0), stale, *(good(day) for day in (6, 7, 8))])
    assert not told.alerts[0].is_open
    assert nightly_history([good(0), replace(broken(9), stale_days=9)]).alerts == ()


def build(day: int) -> str:
    return record(day).nightly


def test_an_alert_remembers_every_night_every_change_and_where_it_begins() -> None:
    own = Narrowed(case="identity", symptom=NAN, turns_bad=True, last_before=build(0), first_after=build(1))
    end = replace(own, turns_bad=False, last_before=build(2), first_after=build(3))
    others = (replace(own, case="other"), replace(own, symptom=Symptom.EXCEPTION))
    nights = [
        good(0),
        bad(1, narrowed=(others[0], own)),
        record(2, replace(BAD, inferred=True)),
        fixed(3, narrowed=(end, others[1])),
        good(4),
        good(5),
    ]
    assert nightly_history(nights).alerts == (
        Alert(
            package="keras-nightly",
            case="identity",
            symptom=NAN,
            opened="2024-11-02",
            version=build(1),
            is_open=False,
            good_nights=3,
            good_version=build(5),
            closed="2024-11-06",
            changes=(
                Change(night="2024-11-02", version=build(1), status="new", text="loss is nan"),
                Change(night="2024-11-04", version=build(3), status="fixed", text=f"gone in {build(3)}"),
                Change(night="2024-11-06", version=build(5), status="closed", text="good for 3 nights"),
            ),
            nights=(
                AlertNight(night="2024-11-02", version=build(1), status="new", reason="loss is nan"),
                AlertNight(
                    night="2024-11-03", version=build(2), status="still bad", reason="loss is nan", inferred=True
                ),
                AlertNight(night="2024-11-04", version=build(3), status="fixed"),
                AlertNight(night="2024-11-05", version=build(4), status="as expected"),
                AlertNight(night="2024-11-06", version=build(5), status="as expected"),
            ),
            narrowed=(own, end),
        ),
    )


def test_an_alert_that_opens_again_says_the_latest_night_and_build() -> None:
    (alert,) = nightly_history([good(0), bad(1), fixed(2), good(3), good(4), good(5), bad(6)]).alerts
    assert (alert.opened, alert.version, alert.good_nights, alert.closed) == ("2024-11-07", build(6), 0, "")
    assert alert.last_bad == AlertNight(night="2024-11-07", version=build(6), status="regressed", reason="loss is nan")


def test_the_alert_of_an_old_index_from_its_first_night_to_its_last() -> None:
    def told(version: str, days: int) -> str:
        return f"the newest build of keras-nightly is {version}, {days} days old"

    old = replace(good(4, version=build(0)), stale_days=4)
    nights = [good(0), old, broken(5), replace(old, night="2024-11-07", stale_days=6), good(7), good(8), good(9)]
    (alert,) = nightly_history(nights).alerts
    assert alert == Alert(
        package="keras-nightly",
        case=STALE,
        symptom=None,
        opened="2024-11-05",
        version=build(0),
        is_open=False,
        good_nights=3,
        good_version=build(9),
        closed="2024-11-10",
        changes=(
            Change(night="2024-11-05", version=build(0), status="new", text=told(build(0), 4)),
            Change(night="2024-11-10", version=build(9), status="closed", text="good for 3 nights"),
        ),
        nights=(
            AlertNight(night="2024-11-05", version=build(0), status="new", reason=told(build(0), 4)),
            AlertNight(night="2024-11-07", version=build(0), status="still bad", reason=told(build(0), 6)),
            *(
                AlertNight(night=good(d).night, version=build(d), status="as expected", reason=told(build(d), 0))
                for d in (7, 8, 9)
            ),
        ),
    )
    assert alert.title == "[nightly] keras-nightly: no new build on the index"
    (later,) = nightly_history([*nights, good(10), replace(good(20), stale_days=10)]).alerts
    assert [(change.night, change.status) for change in later.changes[1:]] == [
        ("2024-11-10", "closed"),
        ("2024-11-21", "new"),
    ]
    assert [evening.status for evening in later.nights[-2:]] == ["as expected", "new"]


def test_an_old_index_between_good_nights_begins_the_count_anew() -> None:
    old = replace(good(4), stale_days=4)
    (alert,) = nightly_history([old, good(5), replace(old, night="2024-11-07"), good(7), good(8)]).alerts
    assert alert.is_open
    assert alert.good_nights == 2


def test_an_index_without_any_build_says_so() -> None:
    (alert,) = nightly_history([replace(good(0), nightly="", stale_days=9)]).alerts
    assert alert.changes[0].text == "the newest build of keras-nightly is none, 9 days old"


def test_a_chronicle_keeps_the_alerts_and_standings_of_all_cases() -> None:
    told = nightly_history([good(0), bad(1), bad(2, case="other", control=(GOOD,))])
    assert [(alert.case, alert.is_open) for alert in told.alerts] == [("identity", True), ("other", True)]
    assert set(told.statuses) == {("identity", NAN), ("other", NAN)}
    assert [night.record.night for night in told.nights] == ["2024-11-01", "2024-11-02", "2024-11-03"]
    assert told.open_alerts == told.alerts


def test_a_good_night_beside_a_sick_control_is_not_counted() -> None:
    sick = record(3, GOOD, control=(GOOD, BAD))
    (alert,) = nightly_history([good(0), bad(1), fixed(2), sick]).alerts
    assert (alert.is_open, alert.good_nights) == (True, 1)


def test_a_closed_alert_goes_on_remembering_nights_without_counting_them() -> None:
    (alert,) = nightly_history([good(0), bad(1), fixed(2), good(3), good(4), good(5)]).alerts
    assert (alert.good_nights, alert.closed, len(alert.nights)) == (3, "2024-11-05", 5)


def test_a_hidden_symptom_is_not_gone() -> None:
    hidden = look(Outcome.SKIP, "hidden by exception")
    (alert,) = nightly_history([good(0), bad(1), record(2, hidden), record(3, hidden)]).alerts
    assert alert.is_open
    assert [evening.status for evening in alert.nights] == ["new", "insufficient data", "insufficient data"]


def test_signatures_are_apart() -> None:
    raises = look(Outcome.BAD, "ValueError", symptom=Symptom.EXCEPTION)
    both = record(1, *(CaseResult(verdicts={**BAD.verdicts, **raises.verdicts}),) * 3)
    told = nightly_history([good(0), both])
    assert len({alert.key for alert in told.alerts}) == 2


@pytest.mark.parametrize(
    ("nights", "code"),
    [
        ([good(0)], NightExit.AS_EXPECTED),
        ([good(0), bad(1)], NightExit.NEW_REGRESSION),
        ([good(0), bad(1), record(2, BAD)], NightExit.AS_EXPECTED),
        ([good(0), bad(1), fixed(2)], NightExit.RECOVERY),
        ([broken(0)], NightExit.INCONCLUSIVE),
        ([record(0, look(None, blocked="the canary is red"))], NightExit.INCONCLUSIVE),
        ([good(0), record(1, BAD)], NightExit.INCONCLUSIVE),
        ([replace(good(0), stale_days=9)], NightExit.INCONCLUSIVE),
    ],
)
def test_exit_codes(nights: list[NightRecord], code: NightExit) -> None:
    last = nightly_history(nights).nights[-1]
    assert exit_code(last.record, last.judged) is code


kinds = st.sampled_from(["good", "bad", "broken", "flaky", "sick", "hidden"])


def night_of(kind: str, day: int) -> NightRecord:
    hidden = look(Outcome.SKIP, "hidden by exception")
    return {
        "good": fixed(day),
        "bad": bad(day),
        "broken": broken(day),
        "flaky": record(day, BAD, GOOD, BAD),
        "sick": record(day, BAD, BAD, BAD, control=(BAD, GOOD)),
        "hidden": record(day, hidden),
    }[kind]


@settings(max_examples=200)
@given(st.lists(kinds, max_size=30))
def test_nights_without_news_change_nothing(history: list[str]) -> None:
    """Whatever is not believed can be left out: the alerts then say the same of everything else."""
    nights = [night_of(kind, day) for day, kind in enumerate(history)]
    told = nightly_history(nights)
    believed = nightly_history([n for n, kind in zip(nights, history, strict=True) if kind in ("good", "bad")])
    assert [(a.key, a.is_open, a.changes, a.good_nights) for a in told.alerts] == [
        (a.key, a.is_open, a.changes, a.good_nights) for a in believed.alerts
    ]


@settings(max_examples=200)
@given(st.lists(kinds, max_size=30))
def test_an_alert_is_open_exactly_from_bad_to_the_third_good_night(history: list[str]) -> None:
    told = nightly_history([night_of(kind, day) for day, kind in enumerate(history)])
    state, good_nights = False, 0
    for kind in history:
        if kind == "bad":
            state, good_nights = True, 0
        elif kind == "good" and state:
            good_nights += 1
            state = good_nights < 3
    # on the very first night the control, which is good, stands in for the night before
    assert bool(told.open_alerts) is state


def test_the_words_are_those_of_the_contract() -> None:
    assert {status.value for status in Status} == {
        "as expected",
        "new",
        "regressed",
        "fixed",
        "still bad",
        "flaky",
        "suspicious",
        "insufficient data",
        "infrastructure",
    }

"""Which transition a known change upstream explains."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from harness.domain.findings.causes import KnownCause, build, explained
from harness.domain.findings.transition import Cause, Kind, Transition, Untested
from harness.domain.releases.release import Channel, Release, Timeline
from harness.domain.verdicts.reasons import recorded

BEGAN: dict[str, Any] = {
    "case": "identity",
    "symptom": "nonfinite-metric",
    "kind": "regression",
    "link": "https://github.com/keras-team/keras/pull/20541",
    "title": "variables got their aggregation",
    "release": "3.7.0",
    "nightly": "3.7.0.dev2024112403",
    "commit": "28d39c0cc766",
}
ENDED = {
    **BEGAN,
    "kind": "recovery",
    "link": "https://github.com/keras-team/keras/pull/21072",
    "title": "metrics synchronize ON_READ",
    "release": "3.10.0",
    "nightly": "3.9.0.dev2025032003",  # the main line said 3.9.0 until 3.10.0 was cut
    "commit": "4aae578b7f67",
}
KNOWN = build({"cause": [BEGAN, ENDED]}, where="causes.toml")


def transition(kind: str, last_before: str, first_after: str, symptom: str = "nonfinite-metric") -> Transition:
    return Transition(symptom=Symptom(symptom), kind=Kind(kind), last_before=last_before, first_after=first_after)


@pytest.mark.parametrize(
    ("found", "pull"),
    [
        (transition("regression", "3.6.0", "3.7.0"), "20541"),
        (transition("regression", "3.6.0", "3.8.0"), "20541"),  # 3.7.0 untested
        (transition("regression", "3.5.0", "3.6.0"), None),
        (transition("regression", "3.7.0", "3.8.0"), None),
        (transition("recovery", "3.6.0", "3.7.0"), None),
        (transition("regression", "3.6.0", "3.7.0", "wrong-metric"), None),
        (transition("recovery", "3.9.2", "3.10.0"), "21072"),
        (transition("regression", "3.7.0.dev2024112303", "3.7.0.dev2024112403"), "20541"),
        (transition("regression", "3.7.0.dev2024112403", "3.7.0.dev2024112503"), None),
        (transition("recovery", "3.9.0.dev2025031903", "3.9.0.dev2025032003"), "21072"),
        (transition("recovery", "3.9.0.dev2025031803", "3.9.0.dev2025031903"), None),
        (transition("regression", "0" * 12, "28d39c0cc766"), "20541"),
        (transition("regression", "28d39c0cc766", "0f" * 6), None),
    ],
)
def test_it_explains_what_it_came_in_with(found: Transition, pull: str | None) -> None:
    (told,) = explained([found], KNOWN, Timeline(releases=()))
    assert [cause.link.rpartition("/")[2] for cause in told.causes] == ([pull] if pull else [])


def test_a_cause_without_a_nightly_or_a_release_explains_none_of_them() -> None:
    (bare,) = build({"cause": [{k: v for k, v in BEGAN.items() if k not in ("release", "nightly")}]}, where="f")
    assert not bare.explains(transition("regression", "3.6.0", "3.7.0"))
    assert not bare.explains(transition("regression", "3.7.0.dev2024112303", "3.7.0.dev2024112403"))


def test_the_transition_stays_as_it_was_measured() -> None:
    found = transition("regression", "3.6.0", "3.7.0")
    (told,) = explained([found], KNOWN, Timeline(releases=()))
    assert told.causes == (Cause(link=BEGAN["link"], title=BEGAN["title"]),)
    assert (told.symptom, told.kind, told.last_before, told.first_after) == (
        found.symptom,
        found.kind,
        found.last_before,
        found.first_after,
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"kind": "both"}, ": bad value for 'kind': expected one of regression, recovery, change, got 'both'"),
        ({"release": "3.x"}, ": bad value for 'release': expected a version such as 3.10.0, got '3.x'"),
        ({"nightly": "x"}, ": bad value for 'nightly': expected a version such as 3.10.0, got 'x'"),
        ({"link": ""}, ": bad value for 'link': expected a non-empty string, got ''"),
        ({"symptom": "x"}, ": bad value for 'symptom': expected one of exception, killed, "),
        ({"pr": 1}, " has an unknown key 'pr'"),
    ],
)
def test_a_wrong_entry_is_named(change: dict[str, Any], told: str) -> None:
    with pytest.raises(UsageError) as error:
        build({"cause": [{**BEGAN, **change}]}, where="causes.toml")
    assert error.value.what.startswith(f"cause[0]{told}")
    assert error.value.where == "causes.toml"


@pytest.mark.parametrize("missing", ["case", "symptom", "kind", "link", "title"])
def test_a_cause_without_one_of_its_words_is_refused(missing: str) -> None:
    with pytest.raises(UsageError) as error:
        build({"cause": [{k: v for k, v in BEGAN.items() if k != missing}]}, where="f")
    assert error.value.what == f"cause[0] has no {missing!r}"
    assert error.value.hint == "required: case, symptom, kind, link, title"


def test_another_table_is_refused() -> None:
    with pytest.raises(UsageError) as error:
        build({"causes": []}, where="f")
    assert (error.value.what, error.value.where, error.value.hint) == (
        "unknown table 'causes'",
        "f",
        "use [[cause]]",
    )


def test_everything_that_an_entry_says_is_read() -> None:
    assert build({"cause": [{**BEGAN, "release": "3.7", "package": "tensorflow"}]}, where="f") == (
        KnownCause(
            case="identity",
            symptom=Symptom.NONFINITE_METRIC,
            kind=Kind.REGRESSION,
            link="https://github.com/keras-team/keras/pull/20541",
            title="variables got their aggregation",
            release="3.7",
            nightly="3.7.0.dev2024112403",
            commit="28d39c0cc766",
            package="tensorflow",
        ),
    )


@pytest.mark.parametrize("place", ["release", "nightly", "commit"])
def test_one_place_where_it_came_in_is_enough(place: str) -> None:
    others = {"release", "nightly", "commit"} - {place}
    (known,) = build({"cause": [{k: v for k, v in BEGAN.items() if k not in others}]}, where="f")
    assert known.explains(transition("regression", "3.6.0", "3.7.0")) is (place == "release")
    nightly = transition("regression", "3.7.0.dev2024112303", "3.7.0.dev2024112403")
    assert known.explains(nightly) is (place == "nightly")
    assert known.explains(transition("regression", "0" * 12, "28d39c0cc766")) is (place == "commit")


def test_a_stable_release_beside_a_nightly_is_placed_by_its_number() -> None:
    """From a release to a build of the next one no day can be compared."""
    (known,) = build({"cause": [BEGAN]}, where="f")
    assert known.explains(transition("regression", "3.6.0", "3.7.0.post1"))
    assert not known.explains(transition("regression", "3.6.0", "3.7.0.dev2024112403"))
    assert not known.explains(transition("regression", "3.7.0.dev2024112303", "3.6.9"))


def test_all_causes_of_a_transition_are_laid_beside_it_in_their_order() -> None:
    known = build({"cause": [BEGAN, ENDED, {**BEGAN, "link": "x", "title": "another"}]}, where="f")
    both = [transition("recovery", "3.9.2", "3.10.0"), transition("regression", "3.6.0", "3.7.0")]
    told = explained(both, known, Timeline(releases=()))
    assert [[cause.title for cause in one.causes] for one in told] == [
        ["metrics synchronize ON_READ"],
        ["variables got their aggregation", "another"],
    ]


def test_a_cause_must_say_where_it_came_in() -> None:
    entry = {k: v for k, v in BEGAN.items() if k not in ("release", "nightly", "commit")}
    with pytest.raises(UsageError) as error:
        build({"cause": [BEGAN, entry]}, where="causes.toml")
    assert (error.value.what, error.value.where, error.value.hint) == (
        "cause[1] does not say where it came in",
        "causes.toml",
        "give release, nightly or commit: the first that has the change",
    )


class TestBetweenTwoCommits:
    HASH = BEGAN["commit"] + "0" * 28
    COMMIT = Release(
        package="keras",
        version=HASH,
        channel=Channel.COMMIT,
        title="Propagate aggregation (#20541)",
        link=BEGAN["link"],
        changes=("keras/a.py +2 -1",),
    )
    CHANGE = transition("regression", "0" * 40, HASH)
    FOUND = Cause(link=BEGAN["link"], title="Propagate aggregation (#20541)", found=True, changes=("keras/a.py +2 -1",))

    def told(self, transition: Transition, *known: dict[str, Any], commit: Release = COMMIT) -> tuple[Cause, ...]:
        others = (replace(self.COMMIT, version="0" * 40), replace(self.COMMIT, version="f" * 40))
        (one,) = explained([transition], build({"cause": list(known)}, where="f"), Timeline(releases=(*others, commit)))
        return one.causes

    def test_the_later_one_is_found(self) -> None:
        assert self.told(self.CHANGE) == (self.FOUND,)
        assert self.FOUND.role == "Commit found for"

    def test_what_was_found_says_more_than_what_was_recorded_of_the_same_change(self) -> None:
        other = {**BEGAN, "link": "https://example.org/1", "title": "another"}
        recorded = Cause(link="https://example.org/1", title="another")
        assert self.told(self.CHANGE, BEGAN, other, {**other, "title": "again"}) == (self.FOUND, recorded)
        assert recorded.role == "Known cause of"

    def test_a_commit_without_a_link_is_named_by_its_hash(self) -> None:
        (cause,) = self.told(self.CHANGE, commit=replace(self.COMMIT, link=""))
        assert cause.link == self.HASH

    def test_where_some_between_were_not_tested_none_is_found(self) -> None:
        open_change = replace(self.CHANGE, untested=(Untested(version="1" * 40, reason=recorded("no wheel")),))
        assert self.told(open_change, BEGAN) == ()

    def test_a_release_is_no_commit(self) -> None:
        assert self.told(self.CHANGE, commit=replace(self.COMMIT, channel=Channel.NIGHTLY)) == ()

    def test_a_cause_without_a_commit_explains_none(self) -> None:
        bare = {k: v for k, v in BEGAN.items() if k != "commit"}
        assert self.told(self.CHANGE, bare, commit=replace(self.COMMIT, channel=Channel.NIGHTLY)) == ()

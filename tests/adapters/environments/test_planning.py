"""Plans made with real uv over the local index."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from datetime import datetime, timezone
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings

from harness.adapters.environments.companions import wanted
from harness.adapters.environments.interpreters import Interpreters
from harness.adapters.environments.planning import Planner
from harness.adapters.environments.resolver import Resolver, Unsatisfiable, uv_program
from harness.adapters.index.package_index import PackageIndex
from harness.adapters.processes.process import Processes
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError, UsageError
from harness.domain.releases.companions import Companions, Mode, Wanted, name_of, pin_of
from harness.domain.releases.moves import companions_in, moves
from harness.domain.releases.release import Release, Timeline
from tests.local_index import LocalIndex, fails_with
from tests.small_indexes import SmallIndex, needless, small_indexes
from tests.toys import Toy


@pytest.fixture
def planner(home: Home, processes: Processes, index: LocalIndex) -> Planner:
    uv = uv_program()
    return Planner(Resolver(processes, home, uv), Interpreters(processes, home, uv), home)


def timeline(home: Home, *versions: str) -> Timeline:
    found = {r.version: r for r in PackageIndex(home, fresh_seconds=0).page("toykeras").releases}
    return Timeline(releases=tuple(found[version] for version in versions))


def asked(*requirements: str) -> Wanted:
    return wanted("toykeras", requirements, [], [])


def pins(plan: Companions) -> list[str]:
    return [pin_of(line) for line in plan.lock]


def test_one_set_is_held_over_the_whole_timeline(planner: Planner, home: Home) -> None:
    plan = planner.plan(timeline(home, "1.0", "1.1", "2.3"), asked("toynumpy"), Mode.FIXED)
    assert pins(plan) == ["toynumpy==2.0"]
    for release in timeline(home, "1.0", "2.3").releases:
        assert [pin_of(x) for x in planner.lock_for(plan, release)] == [release.requirement, "toynumpy==2.0"]


def test_the_newest_set_that_takes_both_ends(planner: Planner, home: Home, index: LocalIndex) -> None:
    index.publish([Toy(version="4.0", requires=("toynumpy<2",)), Toy(version="5.0", requires=("toynumpy",))])
    assert pins(planner.plan(timeline(home, "4.0", "5.0"), asked(), Mode.FIXED)) == ["toynumpy==1.0"]
    index.publish([Toy(version="3.9", requires=("toynumpy",))])
    assert pins(planner.plan(timeline(home, "3.9", "4.0"), asked(), Mode.FIXED)) == ["toynumpy==1.0"]


def test_beyond_the_set_that_fits_the_most_a_companion_moves_where_it_must(
    planner: Planner, home: Home, index: LocalIndex
) -> None:
    index.publish(Toy(version=version, requires=("toynumpy<2",)) for version in ("4.0", "4.5"))
    index.publish([Toy(version="5.0", requires=("toynumpy>=2",))])
    plan = planner.plan(timeline(home, "4.0", "4.5", "5.0"), asked("toynumpy"), Mode.FIXED)
    assert pins(plan) == ["toynumpy==1.0"]
    assert "one set of companions holds from 4.0 to 4.5" in plan.boundary
    lock = planner.lock_for(plan, timeline(home, "5.0").releases[0])
    assert list(map(str, moves(lock[1:], plan.lock, plan.wanted.names))) == [
        "toynumpy 2.0 instead of 1.0, although asked for by name"
    ]


def test_what_is_held_by_its_version_does_not_move_and_the_pair_that_clashes_is_named(
    planner: Planner, home: Home, index: LocalIndex
) -> None:
    index.publish([Toy(version="4.0", requires=("toynumpy<2",)), Toy(version="4.5", requires=("toynumpy>=2",))])
    line = timeline(home, "4.0", "4.5", "2.3")
    plan = planner.plan(line, asked("toynumpy<2"), Mode.FIXED)
    with pytest.raises(Unsatisfiable, match=r"^toykeras 4\.5 and toynumpy<2 clash: ") as failure:
        planner.lock_for(plan, line.releases[1])
    assert "depends on toynumpy>=2" in failure.value.what
    index.publish([Toy(version="4.7", requires=("gone",))])
    with pytest.raises(Unsatisfiable, match=r"^toykeras 4\.7 by itself: "):
        planner.lock_for(plan, timeline(home, "4.7").releases[0])


_COUNT = count()


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(small_indexes())
def test_locks_over_random_small_indexes(planner: Planner, home: Home, index: LocalIndex, small: SmallIndex) -> None:
    """With real uv: what resolves at all is resolved, nothing moves that need not, and asked again it is the same."""
    package = f"random{next(_COUNT)}"
    index.publish(small.toys(package))
    found = {r.version: r for r in PackageIndex(home, fresh_seconds=0).page(package).releases}
    line = Timeline(releases=tuple(found[version] for version in sorted(found)))
    question = wanted(package, small.requirements(package), [], [])
    try:
        plan = planner.plan(line, question, Mode.FIXED)
    except UsageError:
        assert not all(list(small.solutions(place)) for place in range(len(small.releases)))
        return
    first = [_chosen(planner, plan, release) for release in line.releases]
    reference = _versions(plan.lock)
    for place, chosen in enumerate(first):
        assert (chosen is None) is (not list(small.solutions(place)))
        assert chosen is None or needless(small, place, chosen, reference) == []
    shutil.rmtree(home.folder("plans"))
    assert planner.plan(line, question, Mode.FIXED) == plan
    assert [_chosen(planner, plan, release) for release in line.releases] == first


def _chosen(planner: Planner, plan: Companions, release: Release) -> dict[str, int] | None:
    try:
        lock = planner.lock_for(plan, release)
    except Unsatisfiable:
        return None
    return _versions(companions_in(lock, (), release.package))


def _versions(lock: Sequence[str]) -> dict[str, int]:
    return {name_of(line)[-1]: int(pin_of(line).split("==")[1].removesuffix(".0")) for line in lock}


def test_an_end_that_does_not_resolve_is_left_behind(planner: Planner, home: Home, index: LocalIndex) -> None:
    index.publish(Toy(version=version, requires=("gone",)) for version in ("0.8", "0.9"))
    plan = planner.plan(timeline(home, "0.8", "0.9", "1.0", "2.3"), asked("toynumpy"), Mode.FIXED)
    assert (pins(plan), plan.takes) == (["toynumpy==2.0"], 2)
    assert "one set of companions holds from 1.0 to 2.3" in plan.boundary


def test_where_nothing_of_the_timeline_resolves_the_pair_is_named(
    planner: Planner, home: Home, index: LocalIndex
) -> None:
    index.publish([Toy(version="4.0", requires=("toynumpy<2",)), Toy(version="5.0", requires=("toynumpy<2",))])
    with pytest.raises(UsageError, match=r"cannot be resolved with toykeras 4\.0 to 5\.0") as failure:
        planner.plan(timeline(home, "4.0", "5.0"), asked("toynumpy>=2"), Mode.FIXED)
    assert "toynumpy" in str(failure.value.where)


def test_as_of_takes_the_companions_of_the_day(planner: Planner, home: Home) -> None:
    plan = planner.plan(timeline(home, "1.0"), asked("toynumpy"), Mode.AS_OF)
    old = Release(package="toykeras", version="1.0", released=datetime(2024, 1, 1, tzinfo=timezone.utc))
    assert plan.lock == ()
    assert [pin_of(x) for x in planner.lock_for(plan, old)] == ["toykeras==1.0", "toynumpy==2.0"]


def test_a_release_that_does_not_fit_is_unsatisfiable_and_the_others_go_on(planner: Planner, home: Home) -> None:
    line = timeline(home, "1.0", "1.8", "2.3")
    plan = planner.plan(line, asked("toynumpy<2"), Mode.FIXED)
    with pytest.raises(Unsatisfiable):
        planner.lock_for(plan, line.releases[1])
    assert planner.lock_for(plan, line.releases[2])


def test_a_plan_is_kept_for_an_hour_and_asked_for_once(planner: Planner, home: Home, index: LocalIndex) -> None:
    line = timeline(home, "1.0", "1.1")
    first = planner.plan(line, asked("toynumpy"), Mode.FIXED)
    index.asked.clear()
    assert planner.plan(line, asked("toynumpy"), Mode.FIXED) == first
    assert index.asked == []


def test_a_release_too_new_for_the_installer_s_cached_page_is_found(
    planner: Planner, home: Home, index: LocalIndex
) -> None:
    line = timeline(home, "1.0", "1.1")
    plan = planner.plan(line, asked("toynumpy"), Mode.FIXED)
    index.publish([Toy(version="9.0")])
    assert planner.lock_for(plan, timeline(home, "9.0").releases[0])[0].startswith("toykeras==9.0")


@pytest.mark.parametrize("status", [403, 404])
def test_an_index_that_denies_what_it_listed_is_no_conflict(
    planner: Planner, home: Home, index: LocalIndex, status: int
) -> None:
    line = timeline(home, "1.0", "1.1")
    index.faults["/simple/toykeras/"] = fails_with(status)
    with pytest.raises(InfrastructureError):
        planner.plan(line, asked("toynumpy"), Mode.FIXED)


def test_no_python_is_accepted(planner: Planner, home: Home) -> None:
    with pytest.raises(UsageError, match="no Python of this machine") as failure:
        planner.plan(timeline(home, "1.2"), asked(), Mode.FIXED)
    assert ">=3.99" in str(failure.value)


def test_a_release_that_asks_for_the_framework_by_name_gets_it_once(
    planner: Planner, home: Home, index: LocalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """tf-keras requires ``tensorflow``; beside tensorflow-cpu both would install the same files."""
    monkeypatch.setattr("harness.adapters.environments.companions.framework_package", lambda: "tensorflow-cpu")
    index.publish(
        [
            *(Toy(name=name, module="tensorflow", version="2.19.0") for name in ("tensorflow", "tensorflow-cpu")),
            Toy(version="9.0", requires=("tensorflow<3",)),
        ]
    )
    plan = planner.plan(timeline(home, "9.0"), asked("tensorflow==2.19.0"), Mode.FIXED)
    assert plan.wanted.requirements == ("tensorflow-cpu==2.19.0",)
    assert pins(plan) == ["tensorflow-cpu==2.19.0"]
    assert pins(planner.plan(timeline(home, "2.3"), asked("tensorflow"), Mode.FIXED)) == ["tensorflow-cpu==2.19.0"]

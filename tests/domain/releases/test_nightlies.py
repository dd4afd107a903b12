"""Nightly timelines: days, builds, what is absent, what existed."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.errors import UsageError
from harness.domain.releases.distributions import import_name
from harness.domain.releases.nightlies import (
    NIGHTLIES,
    day_of,
    end_of,
    existing,
    is_nightly,
    newest,
    nightly_package,
    nightly_timeline,
    nights_between,
    spans_behind,
    stable_package,
)
from harness.domain.releases.release import Channel, Order, Release


def build(stamp: str, base: str = "3.7.0", **changes: object) -> Release:
    day = datetime.strptime(stamp[:8], "%Y%m%d").replace(hour=3, tzinfo=timezone.utc)
    given: dict[str, object] = {"package": "keras-nightly", "version": f"{base}.dev{stamp}", "released": day}
    return Release(**{**given, "channel": Channel.NIGHTLY, **changes})  # type: ignore[arg-type]


def stable(version: str, day: str) -> Release:
    return Release(package="keras", version=version, released=datetime.fromisoformat(f"{day}T12:00:00+00:00"))


NOVEMBER = [build(f"202411{day:02}03") for day in (18, 19, 21, 22, 23, 24)]


def test_days_stand_in_the_version_and_else_in_the_upload_time() -> None:
    late = end_of(date(2024, 12, 1))
    assert day_of(build("2024112803", released=late)) == date(2024, 11, 28)
    assert day_of(build("20241128", released=late)) == date(2024, 11, 28)
    assert day_of(build("20251001", package="tf-nightly", base="2.21.0")) == date(2025, 10, 1)
    odd = Release(package="x-nightly", version="1.0.dev7", released=end_of(date(2024, 5, 6)))
    assert day_of(odd) == date(2024, 5, 6)
    impossible = Release(package="x-nightly", version="1.0.dev20241399", released=end_of(date(2024, 5, 6)))
    assert day_of(impossible) == date(2024, 5, 6)
    assert day_of(Release(package="x-nightly", version="1.0.dev7")) is None


def test_a_range_of_days_takes_the_builds_that_exist_and_names_the_days_without_one() -> None:
    made = nightly_timeline(NOVEMBER, first="2024-11-18", last="2024-11-23")
    assert made.versions == tuple(f"3.7.0.dev202411{day}03" for day in (18, 19, 21, 22, 23))
    assert made.absent == ("2024-11-20",)
    assert made.order is Order.DATE


def test_a_range_of_versions_is_exact_within_a_day() -> None:
    twice = [build("2024112403"), build("2024112420"), build("2024112503")]
    made = nightly_timeline(twice, first="3.7.0.dev2024112420", last="latest")
    assert made.versions == ("3.7.0.dev2024112420", "3.7.0.dev2024112503")
    assert nightly_timeline(twice, first="2024-11-24", last="3.7.0.dev2024112403").versions == ("3.7.0.dev2024112403",)


def test_a_build_is_found_by_its_version_in_either_spelling() -> None:
    odd = build("2024112403", version="3.7.0-dev2024112403")
    for text in ("3.7.0-dev2024112403", "3.7.0.dev2024112403"):
        assert nightly_timeline([odd, build("2024112503")], first=text, last="2024-11-24").releases == (odd,)


def test_a_build_of_the_next_version_follows_by_its_day() -> None:
    made = nightly_timeline(
        [build("2025030403", "3.9.0"), build("2025030303", "3.8.0")], first="2025-03-01", last="latest"
    )
    assert made.versions == ("3.8.0.dev2025030303", "3.9.0.dev2025030403")


def test_yanked_builds_are_left_out_with_the_reason_unless_named() -> None:
    builds = [build("2024111803"), build("2024111903", yanked="broken"), build("2024112003")]
    made = nightly_timeline(builds, first="2024-11-18", last="2024-11-20")
    assert [x.reason for x in made.excluded] == ["yanked: broken"]
    assert made.absent == ()
    assert "3.7.0.dev2024111903" in nightly_timeline(builds, first="3.7.0.dev2024111903", last="latest").versions


@pytest.mark.parametrize(
    ("first", "last", "what", "where", "hint"),
    [
        ("2024-11-24", "2024-11-18", "--from 2024-11-24 comes after --to 2024-11-18", None, "swap the two"),
        (
            "2020-01-01",
            "2020-02-01",
            "no nightly build of keras-nightly from 2020-01-01 to 2020-02-01 is published",
            "--from, --to",
            "builds are published from 2024-11-18 to 2024-11-24",
        ),
        (
            "3.7.0.dev2024112003",
            "latest",
            "keras-nightly 3.7.0.dev2024112003 is not on the index",
            "--from",
            (
                "give a day such as 2024-11-18, or a build such as "
                "3.7.0.dev2024111803, 3.7.0.dev2024111903, 3.7.0.dev2024112103"
            ),
        ),
        (
            "2024-11-18",
            "9.9.0",
            "keras-nightly 9.9.0 is not on the index",
            "--to",
            "give a day such as 2024-11-18, or a build such as 3.7.0.dev2024111803, 3.7.0.dev2024112403",
        ),
        ("2024-13-01", "latest", "'2024-13-01' is not a day", "--from", "write it as 2024-11-18"),
        ("2024-11-18", "2024-13-01", "'2024-13-01' is not a day", "--to", "write it as 2024-11-18"),
    ],
)
def test_ranges_that_cannot_be_meant_are_refused(first: str, last: str, what: str, where: str, hint: str) -> None:
    with pytest.raises(UsageError) as error:
        nightly_timeline(NOVEMBER, first=first, last=last)
    assert (error.value.what, error.value.where, error.value.hint) == (what, where, hint)


def test_nothing_published_and_everything_yanked_are_refused() -> None:
    nothing = ("no nightly build is published", "check --package and the index address")
    with pytest.raises(UsageError) as error:
        nightly_timeline([], first="2024-11-18", last="latest")
    assert (error.value.what, error.value.hint) == nothing
    undated = Release(package="x-nightly", version="1.0.dev7")
    with pytest.raises(UsageError) as error:
        nights_between([undated], date(2024, 11, 18), date(2024, 11, 19))
    assert (error.value.what, error.value.hint) == nothing
    with pytest.raises(UsageError) as error:
        nightly_timeline([build("2024111803", yanked="")], first="2024-11-17", last="2024-11-19")
    assert (error.value.what, error.value.hint) == (
        "every nightly build from 2024-11-17 to 2024-11-19 is yanked",
        "widen --from and --to",
    )


def test_nights_between_are_cut_to_what_is_published() -> None:
    assert nights_between(NOVEMBER, date(2020, 1, 1), date(2024, 11, 19)).versions == (
        "3.7.0.dev2024111803",
        "3.7.0.dev2024111903",
    )
    assert nights_between(NOVEMBER, date(2024, 11, 23), date(2030, 1, 1)).versions == (
        "3.7.0.dev2024112303",
        "3.7.0.dev2024112403",
    )
    assert nights_between(NOVEMBER, date(2024, 11, 18), date(2024, 11, 18)).versions == ("3.7.0.dev2024111803",)
    with pytest.raises(UsageError) as error:
        nights_between(NOVEMBER, date(2020, 1, 1), date(2020, 2, 1))
    assert (error.value.what, error.value.hint) == (
        "no nightly build between 2020-01-01 and 2020-02-01 is published any more",
        "the index has builds from 2024-11-18 to 2024-11-24",
    )


def test_a_patch_release_may_be_younger_than_the_change_that_it_lacks() -> None:
    releases = [stable("3.9.0", "2025-03-04"), stable("3.9.2", "2025-04-02"), stable("3.10.0", "2025-05-19")]
    assert spans_behind(releases, "3.9.2", "3.10.0") == [
        (date(2025, 4, 2), date(2025, 5, 19)),
        (date(2025, 2, 18), date(2025, 5, 19)),
    ]
    assert spans_behind(releases, "3.9.2", "4.0.0") == []


def test_the_days_behind_a_release_begin_two_weeks_before_its_branch() -> None:
    releases = [
        stable("3.9.0", "2025-03-04"),
        stable("3.9.1", "2025-03-20"),
        stable("3.10.0", "2025-05-19"),
        stable("3.8.0", "2025-01-07"),
        Release(package="keras", version="3.9.2"),
    ]
    assert spans_behind(releases, "3.9.0", "3.10.0") == [
        (date(2025, 3, 4), date(2025, 5, 19)),
        (date(2025, 2, 18), date(2025, 5, 19)),
    ]
    assert spans_behind(releases, "3.8.0", "3.9.0")[0] == (date(2025, 1, 7), date(2025, 3, 4))
    assert spans_behind(releases, "3.9.2", "3.10.0") == []
    assert spans_behind(releases, "3.10.0", "3.9.2") == []


def test_a_patch_release_that_came_after_the_next_minor_leaves_the_days_of_its_branch() -> None:
    """From 3.12.4, which is younger, to 3.13.0 no day lies between: only the branch's days are left."""
    releases = [stable("3.12.0", "2026-05-01"), stable("3.12.4", "2026-07-09"), stable("3.13.0", "2026-06-01")]
    assert spans_behind(releases, "3.12.4", "3.13.0") == [(date(2026, 4, 17), date(2026, 6, 1))]
    same_day = [stable("3.12.0", "2026-06-01"), stable("3.13.0", "2026-06-01")]
    assert spans_behind(same_day, "3.12.0", "3.13.0") == [
        (date(2026, 6, 1), date(2026, 6, 1)),
        (date(2026, 5, 18), date(2026, 6, 1)),
    ]


def test_the_last_moment_of_a_day_is_still_that_day() -> None:
    assert end_of(date(2024, 11, 18)) == datetime(2024, 11, 18, 23, 59, 59, 999999, tzinfo=timezone.utc)
    assert existing(NOVEMBER, datetime(2024, 11, 18, 3, tzinfo=timezone.utc)) == (NOVEMBER[0],)


def test_a_yanked_build_that_was_the_last_asked_for_is_kept_and_others_say_why() -> None:
    builds = [build("2024111803", yanked=""), build("2024111903"), build("2024112003", yanked="broken")]
    made = nightly_timeline(builds, first="2024-11-18", last="3.7.0.dev2024112003")
    assert made.versions == ("3.7.0.dev2024111903", "3.7.0.dev2024112003")
    assert [(x.release, x.reason) for x in made.excluded] == [(builds[0], "yanked")]


def test_days_before_the_first_and_after_the_last_build_are_not_absent() -> None:
    made = nightly_timeline(NOVEMBER, first="2024-11-01", last="2024-12-31")
    assert made.absent == ("2024-11-20",)


def test_within_a_day_the_lower_version_comes_first() -> None:
    builds = [build("20241118", "3.8.0"), build("20241118", "3.7.0"), build("20241119", "3.6.0")]
    made = nightly_timeline(builds, first="3.7.0.dev20241118", last="3.8.0.dev20241118")
    assert made.versions == ("3.7.0.dev20241118", "3.8.0.dev20241118")
    assert nightly_timeline(builds, first="3.8.0.dev20241118", last="latest").versions == (
        "3.8.0.dev20241118",
        "3.6.0.dev20241119",
    )
    assert nightly_timeline(builds, first="2024-11-18", last="3.7.0.dev20241118").versions == ("3.7.0.dev20241118",)


def test_the_newest_of_one_day_is_the_higher_version_and_an_undated_one_is_the_oldest() -> None:
    undated = Release(package="keras-nightly", version="9.0.dev1", channel=Channel.NIGHTLY)
    twice = [build("20241118", "3.8.0"), build("20241118", "3.7.0"), undated]
    assert newest(twice, Channel.NIGHTLY) == twice[0]
    assert newest([undated], Channel.NIGHTLY) == undated
    assert newest([], Channel.NIGHTLY) is None
    assert newest([stable("1.0", "2026-01-01"), Release(package="k", version="2.0", yanked="")], Channel.STABLE) == (
        stable("1.0", "2026-01-01")
    )


def test_only_what_was_uploaded_existed() -> None:
    undated = Release(package="keras-nightly", version="3.7.0.dev2024111703")
    assert existing([*NOVEMBER, undated], end_of(date(2024, 11, 19))) == tuple(NOVEMBER[:2])


def test_the_newest_nightly_goes_by_day_and_the_newest_stable_by_version() -> None:
    assert newest([*NOVEMBER, build("2024112503", yanked="")], Channel.NIGHTLY) == NOVEMBER[-1]
    branch = [stable("3.14.1", "2026-07-01"), stable("3.12.4", "2026-07-09"), stable("3.15.0rc0", "2026-07-10")]
    assert newest(branch, Channel.STABLE) == branch[0]
    assert newest([], Channel.STABLE) is None


def test_the_nightly_distribution_of_a_package() -> None:
    assert nightly_package("keras") == nightly_package("Keras_nightly") == "keras-nightly"
    assert nightly_package("tensorflow") == "tf-nightly"
    assert is_nightly("tf-nightly-cpu")
    assert not is_nightly("keras")
    assert nightly_package("tensorflow-cpu") == "tf-nightly-cpu"
    assert nightly_package("my-nightly") == "my-nightly"
    assert is_nightly("Keras_Nightly")
    assert is_nightly("My_Nightly")
    assert [stable_package(name) for name in ("Keras_Nightly", "tf-nightly", "tf-nightly-cpu", "toy-nightly", "x")] == [
        "keras",
        "tensorflow",
        "tensorflow-cpu",
        "toy",
        "x",
    ]
    with pytest.raises(UsageError) as error:
        nightly_package("numpy")
    assert (error.value.what, error.value.where, error.value.hint) == (
        "no nightly builds of 'numpy' are known",
        "--channel nightly",
        "name their distribution with --package; known are keras, tensorflow, tensorflow-cpu",
    )


@pytest.mark.parametrize(("package", "nightly"), NIGHTLIES.items())
def test_the_one_table_of_nightlies_holds_everywhere(package: str, nightly: str) -> None:
    """A nightly installs the module of its sibling, leads back to it, and no two packages share one."""
    assert nightly_package(package) == nightly
    assert stable_package(nightly) == package
    assert is_nightly(nightly)
    assert import_name(nightly) == import_name(package)
    assert nightly.endswith("-cpu") is package.endswith("-cpu"), "a machine without GPU gets the build without GPU"


@given(st.sets(st.integers(0, 60), min_size=1), st.integers(0, 60), st.integers(0, 60))
def test_every_day_of_a_range_has_builds_or_is_named(days: set[int], one: int, other: int) -> None:
    start = date(2024, 11, 1)
    builds = [build(f"{start + timedelta(days=d):%Y%m%d}03") for d in days]
    first, last = sorted((one, other))
    inside = sorted(d for d in days if first <= d <= last)
    span = [(start + timedelta(days=d)).isoformat() for d in (first, last)]
    if not inside:
        with pytest.raises(UsageError):
            nightly_timeline(builds, first=span[0], last=span[1])
        return
    made = nightly_timeline(builds, first=span[0], last=span[1])
    assert [day_of(r) for r in made.releases] == [start + timedelta(days=d) for d in inside]
    low, high = max(first, min(days)), min(last, max(days))
    assert len(made.releases) + len(made.absent) == high - low + 1

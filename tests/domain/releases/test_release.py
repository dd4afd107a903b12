"""Releases and timelines: order, range, what is left out and why."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from harness.domain.errors import ExitCode, UsageError
from harness.domain.releases.release import (
    Channel,
    Order,
    Release,
    Timeline,
    find,
    parse_version,
    sort,
    stable_before,
    stable_timeline,
    usable_stable,
    yanked,
)
from tests.examples import release, timeline

# Published in this order; 3.12.4 came after 3.14.1, as it really did.
PUBLISHED = (
    release("3.10.0", day=0, requires_python=">=3.9"),
    release("3.11.0", day=10),
    release("3.12.0rc1", day=18),
    release("3.12.0", day=20),
    release("3.12.1", day=25, yanked="forgot a file"),
    release("3.12.2", day=26, yanked=""),
    release("3.13.0", day=30),
    release("3.14.0.dev20250101", day=35),
    release("3.14.1", day=40),
    release("3.12.4", day=50),
    release("3.15.0", day=60),
    release("4.0.0a1", day=70),
)
versions = st.builds(
    lambda parts, suffix: ".".join(map(str, parts)) + suffix,
    st.lists(st.integers(0, 12), min_size=2, max_size=4),
    st.sampled_from(["", "", "", "rc1", ".dev3", ".post1", "a2"]),
)
published = st.lists(
    st.builds(
        lambda version, day, yanked: release(version, day=day, yanked=yanked),
        versions,
        st.none() | st.integers(0, 999),
        st.none() | st.sampled_from(["", "broken wheel"]),
    ),
    min_size=1,
    max_size=15,
    unique_by=lambda r: r.parsed,
)


def span(first: str | None = None, last: str = "latest", order: Order = Order.VERSION) -> Timeline:
    return stable_timeline(PUBLISHED, first=first, last=last, order=order)


def refused(call, *arguments, **options) -> UsageError:
    with pytest.raises(UsageError) as caught:
        call(*arguments, **options)
    assert caught.value.exit_code is ExitCode.USAGE
    return caught.value


class TestRelease:
    def test_the_requirement_pins_the_version(self):
        assert release("3.9.0").requirement == "keras==3.9.0"

    def test_the_requirement_of_a_commit_names_its_source(self):
        made = Release(package="keras", version="0f" * 20, channel=Channel.COMMIT, source="git+file:///clone@0f0f")
        assert made.requirement == "keras @ git+file:///clone@0f0f"
        assert made.exact_requirement == made.requirement

    def test_the_exact_requirement_takes_no_local_version(self):
        assert release("1!3.9.0.post1").exact_requirement == "keras===1!3.9.0.post1"

    def test_one_version_of_two_packages_is_two_releases(self):
        assert release("3.9.0").key != release("3.9.0", package="keras-nightly").key

    def test_a_commit_sorts_lowest_because_it_has_no_version(self):
        assert release("0f" * 20).parsed == Version("0")

    @pytest.mark.parametrize(
        ("requires", "python", "accepted"),
        [
            (None, "3.7.0", True),
            ("", "3.7.0", True),
            (">=3.10", "3.9.21", False),
            (">=3.10", "3.10.0", True),
            (">=3.9,<3.13", "3.13.1", False),
            (">=3.13", "3.13.0rc2", False),
            (">=3.13", "3.14.0rc2", True),
            ("three or later", "3.11.0", True),
        ],
    )
    def test_requires_python_is_read_as_published_and_a_malformed_one_admits_all(self, requires, python, accepted):
        assert release("3.9.0", requires_python=requires).accepts_python(python) is accepted


class TestRange:
    def test_without_ends_it_is_every_usable_stable_release(self):
        assert span().versions == ("3.10.0", "3.11.0", "3.12.0", "3.12.4", "3.13.0", "3.14.1", "3.15.0")

    def test_both_ends_belong_to_it(self):
        assert span("3.11.0", "3.13.0").versions == ("3.11.0", "3.12.0", "3.12.4", "3.13.0")

    def test_one_release_is_a_range(self):
        assert span("3.13.0", "3.13.0").versions == ("3.13.0",)

    def test_equal_versions_in_other_words_are_the_same_release(self):
        assert span("3.13", "3.15.0.0").versions == ("3.13.0", "3.14.1", "3.15.0")

    def test_latest_is_the_newest_stable_release_never_a_pre_release(self):
        assert span(last="latest").versions[-1] == "3.15.0"

    def test_what_is_left_out_is_named_with_its_reason(self):
        left_out = {x.release.version: x.reason for x in span().excluded}
        assert left_out == {
            "3.12.0rc1": "pre-release",
            "3.12.1": "yanked: forgot a file",
            "3.12.2": "yanked",
            "3.14.0.dev20250101": "pre-release",
        }

    @pytest.mark.parametrize("end", ["3.12.1", "3.12.0rc1", "4.0.0a1"])
    def test_an_end_that_was_asked_for_by_name_is_in_even_if_yanked_or_a_pre_release(self, end):
        made = span("3.11.0", end)
        assert end in made.versions
        assert end not in {x.release.version for x in made.excluded}

    def test_what_is_left_out_stands_in_the_order_of_versions(self):
        shuffled = [PUBLISHED[i] for i in (7, 5, 4, 2, 0, 10, 3)]
        made = stable_timeline(shuffled, first=None, last="latest", order=Order.DATE)
        assert [x.release.version for x in made.excluded] == ["3.12.0rc1", "3.12.1", "3.12.2", "3.14.0.dev20250101"]

    def test_what_lies_outside_is_not_listed_as_left_out(self):
        assert [x.release.version for x in span("3.13.0").excluded] == ["3.14.0.dev20250101"]

    @given(published)
    def test_every_release_of_the_range_is_kept_or_left_out_with_a_reason(self, known):
        """Nothing disappears: kept and excluded together are the range, and each exclusion says why."""
        if all(r.yanked is not None or r.parsed.is_prerelease for r in known):
            assert "no stable release" in refused(stable_timeline, known, first=None, last="latest").what
            return
        made = stable_timeline(known, first=None, last="latest")
        usable = [r for r in known if r.yanked is None and not r.parsed.is_prerelease]
        low, high = min(r.parsed for r in usable), max(r.parsed for r in usable)
        inside = {r.version for r in known if low <= r.parsed <= high}
        excluded = {x.release.version for x in made.excluded}
        assert set(made.versions) | excluded == inside
        assert not set(made.versions) & excluded
        assert all(x.reason for x in made.excluded)

    @given(published, st.data())
    def test_the_order_in_which_the_index_lists_releases_does_not_matter(self, known, data):
        """The index promises no order, so shuffling its page changes nothing."""
        if all(r.yanked is not None or r.parsed.is_prerelease for r in known):
            return
        shuffled = data.draw(st.permutations(known))
        for order in Order:
            one = stable_timeline(known, first=None, last="latest", order=order)
            assert one == stable_timeline(shuffled, first=None, last="latest", order=order)


class TestRefusals:
    def test_an_unknown_version_is_refused_with_the_releases_near_it(self):
        error = refused(span, "3.12.9")
        assert error.what == "keras 3.12.9 is not on the index"
        assert error.where == "--from"
        assert error.hint == "releases near it: 3.11.0, 3.12.0, 3.12.4; `harness releases --package keras` lists all"

    def test_an_unknown_end_names_its_own_option(self):
        assert refused(span, "3.11.0", "3.12.9").where == "--to"
        assert refused(span, "3.11.0", "3.x").where == "--to"
        assert refused(find, PUBLISHED, "3.12.9", where="--release").where == "--release"

    def test_the_suggestions_are_those_that_differ_least_in_the_first_numbers(self):
        known = [release(version) for version in ("2.9.0", "3.1.9", "3.2.0", "3.2.4", "3.3.0", "4.2.5.1")]
        hint = refused(find, known, "3.2.5", where="--to").hint or ""
        assert hint == "releases near it: 3.1.9, 3.2.0, 3.2.4; `harness releases --package keras` lists all"
        hint = refused(find, known, "4.2", where="--to").hint or ""
        assert hint.startswith("releases near it: 3.2.0, 3.2.4, 4.2.5.1;")
        known = [release(version) for version in ("4.0.7", "4.0.8", "4.0.9", "4.2.0")]
        assert (refused(find, known, "4", where="--to").hint or "").startswith("releases near it: 4.0.7, 4.0.8, 4.0.9;")

    @given(published, versions)
    def test_the_suggestions_are_usable_in_order_and_at_most_three(self, known, wanted):
        """A suggestion that cannot be typed next would be no help, nor would one that was yanked."""
        if any(r.parsed == Version(wanted) for r in known):
            return
        hint = refused(find, known, wanted, where="--to").hint or ""
        named = [Version(text) for text in hint.removeprefix("releases near it: ").split("; ")[0].split(", ")]
        assert named == sorted(named)
        usable = {r.parsed for r in known if r.yanked is None and not r.parsed.is_prerelease}
        assert len(named) == min(3, len(usable or known))
        assert set(named) <= (usable or {r.parsed for r in known})

    def test_a_version_that_is_none_names_the_option(self):
        error = refused(span, "3.x")
        assert (error.what, error.where, error.hint) == (
            "'3.x' is not a version",
            "--from",
            "give one such as 3.9.0, or 'latest'",
        )

    def test_latest_is_understood_wherever_it_is_suggested(self):
        """The hint is the same at both ends, so both ends must take it."""
        assert span("latest", "latest").versions == ("3.15.0",)
        assert find(PUBLISHED, "latest", where="--release").version == "3.15.0"

    def test_a_reversed_range_says_to_swap(self):
        error = refused(span, "3.14.1", "3.11.0")
        assert error.what == "--from 3.14.1 comes after --to 3.11.0"
        assert error.hint == "swap the two versions"

    @pytest.mark.parametrize("known", [[], [release("4.0.0a1")], [release("1.0", yanked="")]])
    def test_a_package_without_a_usable_release_is_refused(self, known):
        error = refused(stable_timeline, known, first=None, last="latest")
        assert error.what == "no stable release is published"
        assert error.hint == "check --package and the index address"

    @pytest.mark.parametrize("version", ["1.0", "latest"])
    def test_an_empty_page_is_refused_in_the_same_words(self, version):
        assert refused(find, [], version, where="--release").what == "no stable release is published"

    def test_a_pre_release_is_found_by_name_even_where_nothing_else_is_published(self):
        only = release("4.0.0a1")
        assert find([only], "4.0.0a1", where="--release") is only

    def test_of_all_yanked_releases_the_near_ones_are_suggested(self):
        """Nothing usable is published, but something has to be named."""
        known = [release("1.0", yanked=""), release("2.0a1")]
        hint = refused(find, known, "1.1", where="--release").hint or ""
        assert hint.startswith("releases near it: 1.0, 2.0a1;")

    def test_parse_version_reads_what_pep_440_knows(self):
        assert parse_version("3.9.0", where="--to") == Version("3.9")


class TestOrder:
    def test_by_date_3_12_4_comes_after_3_14_1(self):
        assert span(order=Order.DATE).versions == ("3.10.0", "3.11.0", "3.12.0", "3.13.0", "3.14.1", "3.12.4", "3.15.0")

    def test_the_timeline_says_how_it_is_sorted(self):
        assert span(order=Order.DATE).order is Order.DATE

    def test_an_undated_release_before_all_others_comes_first_by_date(self):
        known = [release("0.2", day=1), release("0.1"), release("0.3", day=0)]
        assert [r.version for r in sort(known, Order.DATE)] == ["0.1", "0.3", "0.2"]

    def test_of_one_moment_the_lower_version_comes_first(self):
        known = [release("2.0", day=3), release("10.0", day=3), release("1.0", day=4)]
        assert [r.version for r in sort(known, Order.DATE)] == ["2.0", "10.0", "1.0"]

    def test_an_undated_release_keeps_its_place_by_version(self):
        known = [release("1.0", day=5), release("1.1"), release("1.2", day=9), release("0.9", day=7), release("0.1")]
        assert [r.version for r in sort(known, Order.DATE)] == ["0.1", "1.0", "1.1", "0.9", "1.2"]

    @given(published)
    def test_sorting_loses_and_invents_nothing(self, known):
        """Both orders are permutations of what was given."""
        for order in Order:
            assert sorted(r.version for r in sort(known, order)) == sorted(r.version for r in known)

    @given(published)
    def test_by_version_means_as_pep_440_orders_it(self, known):
        """3.10.0 comes after 3.9.0, and a release candidate before its release."""
        made = [r.parsed for r in sort(known, Order.VERSION)]
        assert made == sorted(made)

    @given(published)
    def test_by_date_no_dated_release_stands_before_an_older_one(self, known):
        """Undated releases between them do not matter."""
        dates = [r.released for r in sort(known, Order.DATE) if r.released is not None]
        assert dates == sorted(dates)


class TestNeighbours:
    def test_a_later_version_that_was_published_earlier_need_not_contain_the_other(self):
        made = span("3.12.4", "3.13.0")
        assert made.neighbours_diverge(0, 1) == (
            "3.13.0 (2024-01-31) was published before 3.12.4 (2024-02-20): different release branches, "
            "so 3.13.0 need not contain the changes of 3.12.4"
        )

    def test_neighbours_of_one_branch_are_not_marked(self):
        assert span("3.11.0", "3.12.0").neighbours_diverge(0, 1) is None

    def test_the_same_moment_is_no_divergence(self):
        same = Timeline(releases=(release("1.0", day=3), release("1.1", day=3)))
        assert same.neighbours_diverge(0, 1) is None

    @pytest.mark.parametrize("days", [(None, 3), (3, None), (None, None)])
    def test_without_both_dates_nothing_is_claimed(self, days):
        undated = Timeline(releases=tuple(release(f"1.{n}", day=day) for n, day in enumerate(days)))
        assert undated.neighbours_diverge(0, 1) is None

    @given(published)
    def test_sorted_by_date_no_dated_neighbours_diverge(self, known):
        """The mark is about the order by version; by date it can never be needed."""
        dated = [r for r in known if r.released is not None]
        made = Timeline(releases=tuple(sort(dated, Order.DATE)), order=Order.DATE)
        assert all(made.neighbours_diverge(i, i + 1) is None for i in range(len(dated) - 1))


@given(published)
def test_the_ends_of_a_timeline_ask_for_the_same_timeline_again(known):
    """By date the first release need not be the lowest version; --from and --to speak of versions."""
    usable = [r for r in known if r.yanked is None and not r.parsed.is_prerelease]
    if usable:
        for order in Order:
            made = stable_timeline(known, first=None, last="latest", order=order)
            first, last = made.ends
            assert stable_timeline(known, first=first, last=last, order=order) == made


def test_the_versions_of_a_timeline_stand_in_its_order():
    assert timeline(["2.0", "1.0"]).versions == ("2.0", "1.0")


@given(published)
def test_a_usable_stable_release_is_neither_yanked_nor_a_pre_release(releases: list[Release]) -> None:
    """What nobody named takes part only if its makers offer it to everybody; the order is that of the versions."""
    usable = usable_stable(releases)
    assert [r.parsed for r in usable] == sorted(r.parsed for r in usable)
    assert {id(r) for r in usable} == {
        id(r) for r in releases if yanked(r) is None and not r.parsed.is_prerelease and not r.parsed.is_devrelease
    }


@pytest.mark.parametrize(("reason", "text"), [(None, None), ("", "yanked"), ("forgot a file", "yanked: forgot a file")])
def test_a_yanked_release_says_why(reason: str | None, text: str | None) -> None:
    assert yanked(release("3.12.1", yanked=reason)) == text


def test_the_stable_releases_before_one_begin_with_the_nearest():
    """The control of a fix is the last release that was good: whoever looks for it walks backwards."""
    before = stable_before(PUBLISHED, find(PUBLISHED, "3.13.0", where="--release"))
    assert [r.version for r in before] == ["3.12.4", "3.12.0", "3.11.0", "3.10.0"]
    assert stable_before(PUBLISHED, PUBLISHED[0]) == []

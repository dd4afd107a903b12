"""What git prints, read as releases, and the moments between two builds."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.releases.commits import MOST_CHANGES, built, parse_log, whole_days, window
from harness.domain.releases.release import Channel, Release

HASH = "28d39c0cc766767f4db54edc8b8ce68d3a05d4b4"
RECORD = f"{HASH}\0001732381375\0Propagate aggregation (#20541)\0\n2\t1\tkeras/a.py\0-\t-\tlogo.png\0"


def record(subject: str = "x", changes: str = "", seconds: str = "0") -> str:
    """One commit as git writes it; `changes` are numstat lines."""
    lines = changes.replace("\n", "\0")
    return f"{HASH}\0{seconds}\0{subject}\0" + (f"\n{lines}" if lines else "")


def nightly(version: str, uploaded: datetime | None = None) -> Release:
    return Release(package="keras-nightly", version=version, channel=Channel.NIGHTLY, released=uploaded)


class TestLog:
    def test_a_record(self) -> None:
        (found,) = parse_log(RECORD, "keras", "git+file:///clone")
        assert found == Release(
            package="keras",
            version=HASH,
            channel=Channel.COMMIT,
            released=datetime(2024, 11, 23, 17, 2, 55, tzinfo=timezone.utc),
            source=f"git+file:///clone@{HASH}",
            title="Propagate aggregation (#20541)",
            link="https://github.com/keras-team/keras/pull/20541",
            changes=("keras/a.py +2 -1", "logo.png"),
        )

    def test_several_in_order_with_and_without_changes(self) -> None:
        other, last = RECORD.replace(HASH, "0" * 40), record().replace(HASH, "f" * 64)
        found = parse_log(f"{record()}{RECORD}{other}{last}", "keras", "x")
        assert [r.version for r in found] == [HASH, HASH, "0" * 40, "f" * 64]
        assert [len(r.changes) for r in found] == [0, 2, 2, 0]

    @given(
        st.lists(
            st.tuples(
                st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
                st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1)),
            )
        )
    )
    def test_no_subject_and_no_file_name_adds_or_hides_a_commit(self, commits: list[tuple[str, list[str]]]) -> None:
        written = [
            record(subject) + "\n" * bool(paths) + "".join(f"1\t2\t{path}\0" for path in paths)
            for subject, paths in commits
        ]
        found = parse_log("".join(written), "keras", "x")
        assert [r.title for r in found] == [subject.strip() for subject, _ in commits]
        for release, (_, paths) in zip(found, commits, strict=True):
            assert list(release.changes[:MOST_CHANGES]) == [f"{path} +1 -2" for path in paths[:MOST_CHANGES]]

    def test_a_subject_with_the_separators_of_old_is_one_commit(self) -> None:
        (found,) = parse_log(record(f"x\x1e{'0' * 40}\x1f1\x1fy"), "keras", "x")
        assert found.version == HASH

    def test_a_renamed_file_has_both_names(self) -> None:
        (found,) = parse_log(record(changes="3\t1\t\0old name\0new\0") + RECORD, "keras", "x")[:1]
        assert found.changes == ("old name => new +3 -1",)

    @pytest.mark.parametrize("seconds", ["999999999999", "253402300799", "-99999999999999", "9" * 24])
    def test_a_moment_that_no_calendar_has_is_none(self, seconds: str) -> None:
        (found,) = parse_log(record(seconds=seconds), "keras", "x")
        assert (found.version, found.released) == (HASH, None)

    def test_a_moment_before_1970(self) -> None:
        (found,) = parse_log(record(seconds="-86400"), "keras", "x")
        assert found.released == datetime(1969, 12, 31, tzinfo=timezone.utc)

    @pytest.mark.parametrize(
        "text", ["", "fatal: bad revision\n", "nonsense\0001\0x\0", f"{HASH}\0soon\0x\0", f"{HASH}\0001"]
    )
    def test_what_is_no_record_is_left_out(self, text: str) -> None:
        assert parse_log(text, "keras", "x") == ()

    @pytest.mark.parametrize(
        ("package", "subject", "link"),
        [
            ("keras", "Fix CI", ""),
            ("keras", "Reland #20541", ""),
            ("keras", 'Revert "x (#1)" (#2)', "https://github.com/keras-team/keras/pull/2"),
            ("toykeras", "x (#7)", ""),
            ("tf-keras", "x (#7)", "https://github.com/keras-team/tf-keras/pull/7"),
        ],
    )
    def test_the_pull_request_of_a_subject(self, package: str, subject: str, link: str) -> None:
        (found,) = parse_log(record(subject), package, "x")
        assert (found.title, found.link) == (subject, link)

    def test_many_changed_files_are_counted(self) -> None:
        changes = "".join(f"1\t0\tfile{n}.py\n" for n in range(MOST_CHANGES + 3))
        (found,) = parse_log(record(changes=changes), "keras", "x")
        assert len(found.changes) == MOST_CHANGES + 1
        assert found.changes[-1] == "3 more files"
        exactly = "".join(f"1\t0\tfile{n}.py\n" for n in range(MOST_CHANGES))
        (full,) = parse_log(record(changes=exactly), "keras", "x")
        assert full.changes == found.changes[:-1]
        (two_more,) = parse_log(record(changes=exactly + "1\t0\ta.py\n1\t0\tb.py\n"), "keras", "x")
        assert two_more.changes[-1] == "2 more files"
        (one_more,) = parse_log(record(changes=exactly + "1\t0\tlast.py\n"), "keras", "x")
        assert one_more.changes == (*full.changes, "1 more file")
        (whole,) = parse_log(record(changes=changes[: len("1\t0\tfile0.py\n") * 2]), "keras", "x")
        assert whole.changes == ("file0.py +1 -0", "file1.py +1 -0")

    def test_a_subject_is_stripped_and_a_package_keeps_its_own_source(self) -> None:
        (found,) = parse_log(record(" x ", seconds="60"), "toy", "git+https://example.org/x")
        assert found == Release(
            package="toy",
            version=HASH,
            channel=Channel.COMMIT,
            released=datetime(1970, 1, 1, 0, 1, tzinfo=timezone.utc),
            source=f"git+https://example.org/x@{HASH}",
            title="x",
        )


class TestMoments:
    def test_a_build_is_as_old_as_its_version_says(self) -> None:
        late = datetime(2024, 11, 24, 9, tzinfo=timezone.utc)
        assert built(nightly("3.7.0.dev2024112403", late)) == datetime(2024, 11, 24, 3, tzinfo=timezone.utc)
        assert built(nightly("2.5.0.dev20240230", late)) == late  # a day, and none that exists
        assert built(nightly("3.7.0.dev2024113103", late)) == late
        assert built(nightly("3.7.0.dev2024113103")) is None

    def test_a_window_has_an_hour_at_either_end(self) -> None:
        sides = nightly("3.7.0.dev2024112303"), nightly("3.7.0.dev2024112403")
        assert window(*sides) == (
            datetime(2024, 11, 23, 2, tzinfo=timezone.utc),
            datetime(2024, 11, 24, 4, tzinfo=timezone.utc),
        )
        assert window(*sides, timedelta(days=1)) == (
            datetime(2024, 11, 22, 2, tzinfo=timezone.utc),
            datetime(2024, 11, 25, 4, tzinfo=timezone.utc),
        )
        assert window(nightly("3.7.0"), sides[1]) is None
        assert window(sides[0], nightly("3.7.0")) is None

    def test_whole_days(self) -> None:
        since, until = whole_days((date(2024, 11, 23), date(2024, 11, 24)))
        assert since == datetime(2024, 11, 22, 23, 59, 59, 999999, tzinfo=timezone.utc)
        assert until == datetime(2024, 11, 24, 23, 59, 59, 999999, tzinfo=timezone.utc)

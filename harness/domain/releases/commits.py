"""Commits of a git history as a timeline, and the stretch of it that lies behind two nightly builds."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, datetime, timedelta, timezone

from harness.domain.releases.nightlies import end_of
from harness.domain.releases.release import Channel, Release

HOMES: Mapping[str, str] = {
    "keras": "https://github.com/keras-team/keras",
    "tf-keras": "https://github.com/keras-team/tf-keras",
}
"""Where a number in a commit's subject is a pull request: ``Propagate aggregation (#20541)``."""

LOG_FORMAT = "%H%x00%ct%x00%s"
"""What `parse_log` reads, in the words of ``git log -z --format``; ``--numstat`` may follow each record.

The parts end with NUL, the only character that neither a subject nor the name of a file can hold.
"""

MOST_CHANGES = 12
"""So many changed files of a commit are named; more are counted."""

BUILD_TIME = timedelta(hours=1)
"""A nightly build may be stamped that much before or after its sources were fetched."""

_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_SECONDS = re.compile(r"-?\d{1,24}")
_CHANGE = re.compile(r"\n?(\d+|-)\t(\d+|-)\t(.*)", re.DOTALL)
_PULL = re.compile(r"\(#(\d{1,7})\)")
_STAMP = re.compile(r"(\d{4})(\d{2})(\d{2})(\d{2})")


def parse_log(text: str, package: str, repository: str) -> tuple[Release, ...]:
    """Read what ``git log -z`` wrote for `LOG_FORMAT`, with or without ``--numstat``.

    Args:
        text: What it wrote, without warnings.
        package: Distribution that the repository builds.
        repository: Address that it is installed from (``git+file:///clone``).
    """
    return tuple(_release(record, package, repository) for record in _records(text))


def window(earlier: Release, later: Release, slack: timedelta = timedelta()) -> tuple[datetime, datetime] | None:
    """The moments between which the sources of two builds were fetched; None when one has no moment."""
    began, ended = built(earlier), built(later)
    if began is None or ended is None:
        return None
    return began - BUILD_TIME - slack, ended + BUILD_TIME + slack


def built(release: Release) -> datetime | None:
    """When a nightly was built: the hour in its version (3.7.0.dev2024112403, UTC), else when it was uploaded."""
    stamp = _STAMP.fullmatch(str(release.parsed.dev or ""))
    if stamp:
        try:
            return datetime(*(int(part) for part in stamp.groups()), tzinfo=timezone.utc)  # type: ignore[misc,arg-type]
        except ValueError:
            pass
    return release.released


def whole_days(span: tuple[date, date]) -> tuple[datetime, datetime]:
    """From the first moment of one day to the last of another, UTC."""
    return end_of(span[0] - timedelta(days=1)), end_of(span[1])


@dataclass(frozen=True, kw_only=True)
class _Record:
    """One commit as git writes it."""

    commit: str
    seconds: str
    subject: str
    changes: tuple[str, ...]


def _records(text: str) -> Iterator[_Record]:
    """Commits with their changes. The first part of each is a hash, and no part that tells of a change looks so."""
    parts = deque(text.split("\0"))
    while len(parts) >= 3:
        commit = parts.popleft().strip()
        if _HASH.fullmatch(commit) and _SECONDS.fullmatch(parts[0]):
            seconds, subject = parts.popleft(), parts.popleft()
            yield _Record(commit=commit, seconds=seconds, subject=subject, changes=tuple(_changed(parts)))


def _changed(parts: deque[str]) -> Iterator[str]:
    """Take the changed files from the front: ``path +added -removed``; a binary one has no lines to count."""
    while parts and (found := _CHANGE.fullmatch(parts[0])):
        parts.popleft()
        added, removed, path = found.groups()
        if not path and len(parts) >= 2:  # renamed: both names follow
            path = f"{parts.popleft()} => {parts.popleft()}"
        yield path if added == "-" else f"{path} +{added} -{removed}"


def _release(record: _Record, package: str, repository: str) -> Release:
    pulls = _PULL.findall(record.subject)
    home = HOMES.get(package)
    return Release(
        package=package,
        version=record.commit,
        channel=Channel.COMMIT,
        released=_moment(int(record.seconds)),
        source=f"{repository}@{record.commit}",
        title=record.subject.strip(),
        link=f"{home}/pull/{pulls[-1]}" if pulls and home else "",
        changes=_first(record.changes),
    )


def _moment(seconds: int) -> datetime | None:
    """The moment that a commit says; None for one that no calendar has, such as the year 33658."""
    try:
        moment = datetime.fromtimestamp(seconds, tz=timezone.utc)
    except (ValueError, OverflowError, OSError):
        return None
    return moment if MINYEAR < moment.year < MAXYEAR else None  # a day more or less must be a moment too


def _first(changes: Sequence[str]) -> tuple[str, ...]:
    more = len(changes) - MOST_CHANGES
    return (*changes[:MOST_CHANGES], f"{more} more file{'s' if more > 1 else ''}") if more > 0 else tuple(changes)

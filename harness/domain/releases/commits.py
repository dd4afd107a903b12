"""Commits of a git history as a timeline, and the stretch of it that lies behind two nightly builds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta, timezone

from harness.domain.releases.nightlies import end_of
from harness.domain.releases.release import Channel, Release

HOMES: Mapping[str, str] = {
    "keras": "https://github.com/keras-team/keras",
    "tf-keras": "https://github.com/keras-team/tf-keras",
}
"""Where a number in a commit's subject is a pull request: ``Propagate aggregation (#20541)``."""

LOG_FORMAT = "%x1e%H%x1f%ct%x1f%s"
"""What `parse_log` reads, in the words of ``git log --format``; each record is followed by ``--numstat`` lines."""

MOST_CHANGES = 12
"""So many changed files of a commit are named; more are counted."""

BUILD_TIME = timedelta(hours=1)
"""A nightly build may be stamped that much before or after its sources were fetched."""

_RECORD = re.compile(r"\A([0-9a-f]{40})\x1f(\d{1,12})\x1f([^\n]*)")
_CHANGE = re.compile(r"^(\d+|-)\t(\d+|-)\t(.+)$", re.MULTILINE)
_PULL = re.compile(r"\(#(\d{1,7})\)")
_STAMP = re.compile(r"(\d{4})(\d{2})(\d{2})(\d{2})")


def parse_log(text: str, package: str, repository: str) -> tuple[Release, ...]:
    """Read what git printed for `LOG_FORMAT` with ``--numstat``; whatever is no record is left out.

    Args:
        text: Standard output of ``git log``, possibly with warnings before it.
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


def _records(text: str) -> Iterator[tuple[re.Match[str], str]]:
    for part in text.split("\x1e")[1:]:
        if record := _RECORD.match(part):
            yield record, part[record.end() :]


def _release(record: tuple[re.Match[str], str], package: str, repository: str) -> Release:
    (commit, seconds, subject), rest = record[0].groups(), record[1]
    pulls = _PULL.findall(subject)
    home = HOMES.get(package)
    return Release(
        package=package,
        version=commit,
        channel=Channel.COMMIT,
        released=datetime.fromtimestamp(int(seconds), tz=timezone.utc),
        source=f"{repository}@{commit}",
        title=subject.strip(),
        link=f"{home}/pull/{pulls[-1]}" if pulls and home else "",
        changes=_changes(rest),
    )


def _changes(text: str) -> tuple[str, ...]:
    """``path +added -removed`` for each changed file; a binary one has no lines to count."""
    files = [
        path if added == "-" else f"{path} +{added} -{removed}"
        for added, removed, path in (match.groups() for match in _CHANGE.finditer(text))
    ]
    more = len(files) - MOST_CHANGES
    return (*files[:MOST_CHANGES], f"{more} more file{'s' if more > 1 else ''}") if more > 0 else tuple(files)

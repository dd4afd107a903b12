"""Nightly timelines: which builds a question ranges over, which days have none, and what existed on a given night."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta, timezone

from packaging.utils import canonicalize_name
from packaging.version import Version

from harness.domain.errors import UsageError
from harness.domain.releases.release import Channel, Exclusion, Order, Release, Timeline, usable_stable, yanked

NIGHTLIES = {"keras": "keras-nightly", "tensorflow": "tf-nightly", "tensorflow-cpu": "tf-nightly-cpu"}
"""The distribution with the nightly builds of each package; of those without GPU there is one of its own."""

BRANCH_DAYS = 14
"""A release branch is cut some days before its first release; a change on the main line may be older by that."""

_STAMP = re.compile(r"(\d{4})(\d{2})(\d{2})(?:\d{2})?")


def nightly_package(package: str) -> str:
    """The distribution that carries the nightly builds of a package.

    Raises:
        UsageError: none is known.
    """
    name = canonicalize_name(package)
    if is_nightly(name):
        return str(name)
    if name not in NIGHTLIES:
        raise UsageError(
            f"no nightly builds of {package!r} are known",
            where="--channel nightly",
            hint=f"name their distribution with --package; known are {', '.join(sorted(NIGHTLIES))}",
        )
    return NIGHTLIES[name]


def stable_package(nightly: str) -> str:
    """The distribution whose nightly builds these are; that is also what its repository builds."""
    name = canonicalize_name(nightly)
    return next((own for own, builds in NIGHTLIES.items() if builds == name), name.removesuffix("-nightly"))


def is_nightly(package: str) -> bool:
    """Whether a distribution carries nightly builds."""
    name = canonicalize_name(package)
    return name in NIGHTLIES.values() or name.endswith("-nightly")


def day_of(release: Release) -> date | None:
    """The day of a build: what its version says (3.7.0.dev2024112803), else when it was uploaded."""
    stamp = _STAMP.fullmatch(str(release.parsed.dev or ""))
    if stamp:
        try:
            return date(*(int(part) for part in stamp.groups()))
        except ValueError:
            pass
    return release.released.date() if release.released else None


def existing(published: Iterable[Release], moment: datetime) -> tuple[Release, ...]:
    """Those releases that one could install at `moment`; one without an upload time cannot be placed."""
    return tuple(r for r in published if r.released is not None and r.released <= moment)


def nightly_timeline(published: Sequence[Release], *, first: str, last: str) -> Timeline:
    """Select the nightly builds from `first` to `last`, both included, ordered by their day.

    Args:
        published: All builds that the index lists.
        first: A day (2024-11-18), which need not have a build, or a version, which must exist.
        last: The same, or "latest".

    Returns:
        The timeline; `absent` names the days of the range that have no build at all.

    Raises:
        UsageError: nothing in the range, a reversed range, an unknown version.
    """
    dated = sorted(((day, r) for r in published if (day := day_of(r)) is not None), key=lambda x: (x[0], x[1].parsed))
    if not dated:
        raise UsageError("no nightly build is published", hint="check --package and the index address")
    lower = _bound(dated, first, "--from")
    upper = (dated[-1][0], dated[-1][1].parsed) if last == "latest" else _bound(dated, last, "--to")
    if lower[0] > upper[0]:
        raise UsageError(f"--from {first} comes after --to {last}", hint="swap the two")
    inside = [(d, r) for d, r in dated if _above(lower, d, r) and _below(upper, d, r)]
    if not inside:
        raise UsageError(
            f"no nightly build of {dated[0][1].package} from {first} to {last} is published",
            where="--from, --to",
            hint=f"builds are published from {dated[0][0]} to {dated[-1][0]}",
        )
    named = {lower[1], upper[1]}
    kept = [r for _, r in inside if r.yanked is None or r.parsed in named]
    if not kept:
        raise UsageError(f"every nightly build from {first} to {last} is yanked", hint="widen --from and --to")
    excluded = [Exclusion(release=r, reason=yanked(r) or "") for _, r in inside if r not in kept]
    return Timeline(
        releases=tuple(kept),
        excluded=tuple(excluded),
        order=Order.DATE,
        absent=_absent(max(lower[0], dated[0][0]), min(upper[0], dated[-1][0]), {day for day, _ in inside}),
    )


def nights_between(published: Sequence[Release], earlier: date, later: date) -> Timeline:
    """Builds of the days from `earlier` to `later`, cut to the days for which builds exist at all."""
    days = sorted(day for r in published if (day := day_of(r)) is not None)
    if not days:
        raise UsageError("no nightly build is published", hint="check --package and the index address")
    first, last = max(earlier, days[0]), min(later, days[-1])
    if first > last:
        raise UsageError(
            f"no nightly build between {earlier} and {later} is published any more",
            hint=f"the index has builds from {days[0]} to {days[-1]}",
        )
    return nightly_timeline(published, first=first.isoformat(), last=last.isoformat())


def spans_behind(stable: Sequence[Release], before: str, after: str) -> list[tuple[date, date]]:
    r"""Days in which the change between two stable releases came to the main line, the likely span first.

        main    --o-----X------------o--------->     X: the change
                   \            \    \
        stable      3.9.0 . 3.9.2  . .  3.10.0       3.9.2 is younger than X and does not have it

    The second span begins before the branch of the earlier release was cut: the change may be older than
    a patch release that does not contain it.
    """
    dated = {r.version: (r.parsed.release[:2], r.released.date()) for r in stable if r.released is not None}
    if before not in dated or after not in dated:
        return []
    (minor, early), (_, end) = dated[before], dated[after]
    opened = min(day for series, day in dated.values() if series == minor) - timedelta(days=BRANCH_DAYS)
    spans = [(early, end), (opened, end)]
    return [span for span in dict.fromkeys(spans) if span[0] <= span[1]]


def newest(published: Iterable[Release], channel: Channel) -> Release | None:
    """The newest release of a channel that is not yanked: a nightly by its day, a stable one by its version."""
    if channel is not Channel.NIGHTLY:
        return next(reversed(usable_stable(published)), None)
    kept = (r for r in published if r.yanked is None)
    return max(kept, key=lambda r: (day_of(r) or date.min, r.parsed), default=None)


def end_of(day: date) -> datetime:
    """The last moment of a day, UTC."""
    return datetime.combine(day, time.max, timezone.utc)


def parse_day(text: str, *, where: str) -> date:
    """Read a day given by the user; raises `UsageError`."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is not a day", where=where, hint="write it as 2024-11-18") from None


def _bound(dated: Sequence[tuple[date, Release]], text: str, where: str) -> tuple[date, Version | None]:
    """A day alone, or the day and version of an existing build."""
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text):
        return parse_day(text, where=where), None
    for day, release in dated:
        if text in (release.version, str(release.parsed)):
            return day, release.parsed
    alike = [r.version for _, r in dated if r.version.startswith(text[:14])][:3]
    near = alike or [dated[0][1].version, dated[-1][1].version]
    raise UsageError(
        f"{dated[0][1].package} {text} is not on the index",
        where=where,
        hint=f"give a day such as 2024-11-18, or a build such as {', '.join(near)}",
    )


def _above(lower: tuple[date, Version | None], day: date, release: Release) -> bool:
    return day > lower[0] or (day == lower[0] and (lower[1] is None or release.parsed >= lower[1]))


def _below(upper: tuple[date, Version | None], day: date, release: Release) -> bool:
    return day < upper[0] or (day == upper[0] and (upper[1] is None or release.parsed <= upper[1]))


def _absent(first: date, last: date, present: set[date]) -> tuple[str, ...]:
    days = (first + timedelta(days=n) for n in range((last - first).days + 1))
    return tuple(day.isoformat() for day in days if day not in present)

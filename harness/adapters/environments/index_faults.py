"""What uv said of the index when it failed, held against what the index itself says.

"there is no version of a==1"     the new page of a lists it?           yes: the index failed   no: it is so
"HTTP 404 for a-1.whl"            the new page of a lists the file?     yes: the index failed   no: it is gone
"a==1 has an invalid format"      do the files have their hashes?       no: the index failed    yes: it is so
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)

from harness.adapters.index.listings import HINT, Listings, name_in
from harness.domain.errors import InfrastructureError

_NAME = r"(?P<name>[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(?:\[[^\]]*\])?"
_WANTED = r"(?P<wanted>(?:(?:===|[<>=!~]=|[<>])[^\s,`]+,?)*)"
_UNKNOWN = re.compile(_NAME + r" (?:was|were) not found in the package registry")
_NONE = re.compile(r"there (?:is|are) no versions? of " + _NAME + _WANTED)
_NOT_SENT = re.compile(r"HTTP status client error \((?:404|410) [^)]*\) for url \((?P<url>[^)\s]+)\)")
_BROKEN = re.compile(_NAME + r"==(?P<version>[^\s,`)]+) has (?:an )?(?:invalid|inconsistent)")
_NAMED = re.compile(_NAME + r"==(?P<version>[^\s,`)]+)")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._!+-]*?\.(?:whl|tar\.gz|zip)\b")
AS_PUBLISHED = "its files are those that were published"
_NO_SOLUTION = "No solution found"


class Kind(str, Enum):
    """What uv says is wrong with the index or a file of it."""

    ABSENT = "absent"
    GONE = "gone"
    BROKEN = "broken"


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One thing that uv says of the index.

    Attributes:
        kind: What is wrong.
        name: Canonical name of the package.
        wanted: Specifier of what was sought ("" for any version); of files the version alone.
        file: Name of the file, where uv names it.
    """

    kind: Kind
    name: str
    wanted: str = ""
    file: str = ""


@dataclass(frozen=True, kw_only=True)
class Examination:
    """What came of holding the claims against the index.

    Attributes:
        failure: The failure of the index; None where everything that uv said is so.
        confirmed: The claims that the index itself confirms, with what it says.
        stale: Packages whose valid pages are not what uv read: with a new page it may succeed at once.
        read_anew: Packages whose cached pages must not be used again.
    """

    failure: InfrastructureError | None = None
    confirmed: Mapping[Claim, str] = field(default_factory=dict)
    stale: tuple[str, ...] = ()
    read_anew: tuple[str, ...] = ()


def claims(text: str) -> list[Claim]:
    """What uv says of the index, in the text with which it failed (without the output of builds)."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith(("hint:", "warning:", "nox >"))]
    return list(dict.fromkeys(_claims(" ".join(" ".join(lines).split()))))


def _claims(text: str) -> Iterator[Claim]:
    for found in _UNKNOWN.finditer(text):
        yield Claim(kind=Kind.ABSENT, name=canonicalize_name(found["name"]))
    for found in _NONE.finditer(text):
        yield Claim(kind=Kind.ABSENT, name=canonicalize_name(found["name"]), wanted=found["wanted"].rstrip(",."))
    for found in _NOT_SENT.finditer(text):
        named = _of_file(name_in(found["url"]), Kind.GONE)
        yield named or Claim(kind=Kind.GONE, name=canonicalize_name(name_in(found["url"])))
    if _NOT_SENT.search(text):
        return
    solving = _NO_SOLUTION in text
    named_files = {made.name: made for found in _FILE.findall(text) if (made := _of_file(found, Kind.BROKEN))}
    for found in (_BROKEN if solving else _NAMED).finditer(text):
        name = canonicalize_name(found["name"])
        yield named_files.get(name) or Claim(kind=Kind.BROKEN, name=name, wanted=found["version"].rstrip("."))


def _of_file(last: str, kind: Kind) -> Claim | None:
    """The claim about a file; None for the name of something else, such as a page."""
    filename = last.removesuffix(".metadata")
    try:
        if filename.endswith(".whl"):
            name, version = parse_wheel_filename(filename)[:2]
        else:
            name, version = parse_sdist_filename(filename)
    except (InvalidWheelFilename, InvalidSdistFilename):
        return None
    return Claim(kind=kind, name=name, wanted=str(version), file=filename)


def examine(text: str, listings: Listings, *, before: datetime | None = None) -> Examination:
    """Hold all that uv says of the index against what the index says now.

    Args:
        text: With what uv failed, without the output of builds.
        listings: New pages of the index.
        before: What was uploaded later does not exist for uv.
    """
    confirmed: dict[Claim, str] = {}
    failures: dict[Claim, InfrastructureError] = {}
    stale = []
    for claim in claims(text):
        try:
            reason, denied = _held(claim, listings, before)
        except InfrastructureError as failure:
            failures[claim] = failure
            continue
        if denied:
            failures[claim] = InfrastructureError(denied, where=_where(claim), hint=HINT)
            stale += [claim.name] if claim.kind is Kind.ABSENT else []
        else:
            confirmed[claim] = reason
    return Examination(
        failure=next(iter(failures.values()), None),
        confirmed=confirmed,
        stale=tuple(stale) if len(stale) == len(failures) else (),
        read_anew=tuple(dict.fromkeys(claim.name for claim in failures)),
    )


def _held(claim: Claim, listings: Listings, before: datetime | None) -> tuple[str, str]:
    """What the index says that confirms a claim, and what it says that denies it: one of the two is ""."""
    listing = listings.of(claim.name)
    match claim.kind:
        case Kind.ABSENT:
            if listing.has(claim.wanted, before=before):
                return "", f"the index lists {claim.name}{claim.wanted}, and the installer does not find it there"
            return f"the index lists no {claim.name}{claim.wanted}", ""
        case Kind.GONE:
            if not claim.file:
                return "", f"the package index refuses the page of {claim.name}"
            if listing.file(claim.file) is not None:
                return "", f"the package index lists {claim.file} and does not send it"
            return f"the index no longer lists {claim.file}", ""
        case Kind.BROKEN:
            named = listing.file(claim.file) if claim.file else None
            files = [named] if named is not None else listing.of(claim.wanted)
            if not files:
                return f"the index no longer lists {claim.name} {claim.wanted}", ""
            why = listings.damaged(files, whole=named is not None)
            return ("", f"the package index sent another file than it promised: {why}") if why else (AS_PUBLISHED, "")


def _where(claim: Claim) -> str:
    return claim.file or f"the page of {claim.name}"

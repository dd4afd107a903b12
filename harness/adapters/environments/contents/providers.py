"""One module, one distribution: where two of a lock bring the same module, one is installed and the others left out.

Which of them do is read from their wheels (their lists of files, cached). Only those are compared whose names make it
possible: they share a word, or are known to bring the same module. What escapes this is found when an environment is
sealed.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import combinations

import requests
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from pypi_simple import NoSuchProjectError

from harness.adapters.index.listings import Listings
from harness.adapters.index.wheel_names import names, wheel_of
from harness.adapters.storage.files import write_whole
from harness.adapters.storage.home import Home
from harness.domain.errors import HarnessError
from harness.domain.releases.companions import Wanted, name_of, version_of
from harness.domain.releases.distributions import import_name
from harness.domain.releases.modules import code_files, overlap

NEVER = 'sys_platform == "never"'
Lock = tuple[str, ...]
Resolve = Callable[[Sequence[str], Sequence[str]], Lock]
"""Resolves with further overrides and further constraints; raises `Unsatisfiable`."""


class Providers:
    """Finds distributions that bring the same module, and resolves without all but one of them.

    Args:
        listings: Says where the wheel of a locked version lies.
        home: Keeps which files a wheel has.
    """

    def __init__(self, listings: Listings, home: Home) -> None:
        self._listings = listings
        self._home = home
        self._notes: dict[Lock, tuple[str, ...]] = {}
        self._guard = threading.Lock()

    def single(self, resolve: Resolve, wanted: Wanted) -> Lock:
        """Resolve so that no two distributions bring the same module; `resolve` raises where that cannot be done.

        What others require of one that is left out is required of the one that is taken, where it has that version.
        """
        lock = resolve((), ())
        notes: list[str] = []
        left_out: list[str] = []
        while group := self._same_module(lock):
            versions = _versions(lock)
            taken, *others = self._preferred(group, versions, wanted)
            version = versions[taken]
            same = [f"{other}=={version}" for other in others if self._listed(other, version)]
            if same:
                resolve([f"{name} ; {NEVER}" for name in left_out], same)
            left_out += others
            lock = resolve([f"{name} ; {NEVER}" for name in left_out], ())
            notes.append(_note(taken, version, others, same))
        with self._guard:
            self._notes[lock] = tuple(notes)
        return lock

    def notes(self, lock: Lock) -> tuple[str, ...]:
        """What was decided for a lock that was made here."""
        with self._guard:
            return self._notes.get(lock, ())

    def _same_module(self, lock: Sequence[str]) -> tuple[str, ...]:
        """Two or more distributions of a lock that bring the same module; () when none do."""
        versions = _versions(lock)
        for one, other in combinations(sorted(versions), 2):
            if _comparable(one, other) and self._overlap(one, other, versions):
                more = (name for name in versions if name not in (one, other) and _comparable(one, name))
                return (one, other, *(name for name in more if self._overlap(one, name, versions)))
        return ()

    def _overlap(self, one: str, other: str, versions: Mapping[str, str]) -> bool:
        """By their files; by what is known of their names where a wheel cannot be read."""
        files = [self._files(name, versions[name]) for name in (one, other)]
        if files[0] and files[1]:
            return overlap(files[0], files[1])
        return import_name(one) == import_name(other)

    def _files(self, name: str, version: str) -> frozenset[str]:
        """The code of a wheel; empty where there is none or it cannot be read."""
        with suppress(HarnessError, requests.RequestException, ValueError, OSError, NoSuchProjectError):
            place = hashlib.sha256(f"{self._listings.folder_name} {name} {version}".encode()).hexdigest()[:24]
            file = self._home.folder("wheel-names") / f"{place}.json"
            if file.exists():
                return frozenset(json.loads(file.read_text(encoding="utf-8")))
            wheel = wheel_of(self._listings.of(name).files, version)
            if wheel is not None:
                found = code_files(names(wheel.url))
                write_whole(file, json.dumps(sorted(found)))
                return found
        return frozenset()

    def _preferred(self, group: Iterable[str], versions: Mapping[str, str], wanted: Wanted) -> list[str]:
        """What is under test first, then what was asked for by name, then what has all files of the others."""
        own = canonicalize_name(wanted.package)
        named = {str(canonicalize_name(Requirement(text).name)) for text in wanted.requirements}
        files = {name: self._files(name, versions[name]) for name in group}
        every = frozenset[str]().union(*files.values())
        return sorted(files, key=lambda name: (name != own, name not in named, files[name] != every, len(name), name))

    def _listed(self, name: str, version: str) -> bool:
        with suppress(HarnessError):
            return self._listings.of(name).has(f"=={version}")
        return False


def _comparable(one: str, other: str) -> bool:
    """Whether two names may belong to distributions of one module."""
    return bool(set(one.split("-")) & set(other.split("-"))) or import_name(one) == import_name(other)


def _versions(lock: Iterable[str]) -> dict[str, str]:
    """Version by name of what a lock pins."""
    return {name: found for line in lock if (found := version_of(line, name := name_of(line))) is not None}


def _note(taken: str, version: str, others: Sequence[str], same: Sequence[str]) -> str:
    unchecked = "" if len(same) == len(others) else ", whatever version of it is required"
    return f"{taken} {version} stands in for {', '.join(others)}{unchecked}: they bring the same module"

"""Choose interpreter and companions for a timeline, and resolve a release with them."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name
from packaging.version import Version

from harness import codec
from harness.adapters.environments.companions import by_own_name, doubled, framework_package
from harness.adapters.environments.interpreters import Interpreters
from harness.adapters.environments.pinning import Lock, PinnedSet, Resolve, over_all, over_most
from harness.adapters.environments.resolver import Resolver, Unsatisfiable
from harness.adapters.index.address import index_address
from harness.adapters.index.package_index import FRESH_SECONDS
from harness.adapters.storage.checksums import read_checked, write_checked
from harness.adapters.storage.home import Home
from harness.domain.errors import HarnessError, UsageError
from harness.domain.releases.companions import Companions, Interpreter, Mode, Wanted, name_of, pin_of, version_of
from harness.domain.releases.distributions import import_name
from harness.domain.releases.release import Channel, Release, Timeline

_PLAN_FORMAT = 2  # plans of the first version name the boundary by another word, and would be read without it
FETCHABLE = ("3.12", "3.11")  # interpreters for which most TensorFlow releases have wheels


def _recent(file: Path) -> Companions | None:
    """A cached plan, if it is no older than an index page may be and its interpreter is still there."""
    try:
        if not 0 <= time.time() - file.stat().st_mtime < FRESH_SECONDS:
            return None
        plan = codec.loads(Companions, read_checked(file, file.name))
    except (OSError, ValueError):
        return None
    return plan if Path(plan.interpreter.path).exists() else None


def _overriding(release: Release) -> tuple[str, ...]:
    """A commit carries the number of the last release, so what companions require of that number means nothing."""
    return (release.exact_requirement,) if release.channel is Channel.COMMIT else ()


def _boundary(versions: Sequence[str], pinned: PinnedSet) -> str:
    """Describe where a set of companions no longer fits, and how to see the other side; "" when it fits all."""
    boundaries = []
    if pinned.first > 0:
        before, after = versions[pinned.first - 1], versions[pinned.first]
        boundaries.append(
            f"the compatibility boundary lies between {before} and {after} (use --to {before} for the other side)"
        )
    if pinned.last < len(versions) - 1:
        before, after = versions[pinned.last], versions[pinned.last + 1]
        boundaries.append(
            f"the compatibility boundary lies between {before} and {after} (use --from {after} for the other side)"
        )
    if not boundaries:
        return ""
    span = f"{versions[pinned.first]} to {versions[pinned.last]}"
    return (
        f"one set of companions fits only {span}: {'; '.join(boundaries)}. The other releases are skip; "
        "--companions as-of chooses companions for each release"
    )


def check_locked(release: Release, lock: Sequence[str]) -> None:
    """Raise where a lock holds another version than the release under test: local versions count."""
    if release.source is not None:
        return
    found = [version for line in lock if (version := version_of(line, release.package)) is not None]
    if [release.parsed] != [Version(version) for version in found]:
        raise HarnessError(
            f"the installer resolved {release.package} {', '.join(found) or 'not at all'} instead of {release.version}",
            where=f"{release.package} {release.version}",
            hint="this is a fault of the harness: please report it with the versions that the index lists",
        )


class Planner:
    """Chooses interpreter and companions for a timeline."""

    def __init__(self, resolver: Resolver, interpreters: Interpreters, home: Home) -> None:
        self._resolver = resolver
        self._interpreters = interpreters
        self._home = home

    def plan(self, timeline: Timeline, wanted: Wanted, mode: Mode, python: str | None = None) -> Companions:
        """Return the plan made within the last hour for the same question, or make one (see `_plan_anew`)."""
        parts = [
            _PLAN_FORMAT,
            wanted,
            timeline.versions,
            mode.value,
            python,
            index_address(),
            framework_package(),
            sys.executable,
        ]
        file = self._home.folder("plans") / f"{hashlib.sha256(repr(parts).encode()).hexdigest()[:20]}.json"
        if (known := _recent(file)) is not None:
            return known
        made = self._plan_anew(timeline, wanted, mode, python)
        write_checked(file, codec.dumps(Companions, made), file.name)
        return made

    def _plan_anew(self, timeline: Timeline, wanted: Wanted, mode: Mode, python: str | None) -> Companions:
        """Find the newest companions that resolve with the whole timeline, on the first interpreter that does.

        Where no set fits both ends, the one that fits the most releases is pinned, and the plan names the boundary.

        Raises:
            UsageError: no release of the timeline resolves; names the pair that clashes.
        """
        tried: list[tuple[Interpreter, Unsatisfiable]] = []
        for interpreter in self._interpreters_for(timeline, python):
            try:
                return self._plan_on(interpreter, timeline, wanted, mode, over_all)
            except Unsatisfiable as failure:
                tried.append((interpreter, failure))
        partial = []
        for interpreter, _ in tried if mode is Mode.FIXED else ():
            with suppress(Unsatisfiable):
                self._companions_alone(wanted, interpreter)
                partial.append(self._plan_on(interpreter, timeline, wanted, mode, over_most))
        if partial:
            return max(partial, key=lambda plan: plan.takes)
        raise self._nothing_fits(timeline, wanted, tried)

    def _companions_alone(self, wanted: Wanted, interpreter: Interpreter) -> None:
        """Raise `Unsatisfiable` where the companions resolve with no release at all: then none needs to be tried."""
        if wanted.requirements:
            self._resolver.lock(wanted.requirements, python=interpreter.path, overrides=wanted.overrides)

    def _interpreters_for(self, timeline: Timeline, python: str | None) -> Iterator[Interpreter]:
        """Those of this machine, then those that can be fetched."""
        suitable = self._suitable(timeline, python)
        yield from suitable
        known = {interpreter.minor for interpreter in suitable}
        for minor in FETCHABLE if python is None else ():
            if minor not in known and (fetched := self._interpreters.fetch(minor)):
                yield fetched

    def lock_for(
        self, companions: Companions, release: Release, notify: Callable[[str], None] = lambda _: None
    ) -> tuple[str, ...]:
        """Resolve one release with its companions; raises `Unsatisfiable`. `notify` gets each attempt that failed."""
        as_of = companions.mode is Mode.AS_OF and release.released is not None
        limit = (release.released + timedelta(days=1)).isoformat() if as_of and release.released else None
        return self._resolve(
            release,
            companions.wanted,
            companions.interpreter,
            constraints=[pin_of(line) for line in companions.lock],
            exclude_newer=limit,
            prefer_offline=companions.mode is Mode.FIXED,
            notify=notify,
        )

    def _resolve(self, release: Release, wanted: Wanted, interpreter: Interpreter, **settings: Any) -> tuple[str, ...]:
        """Resolve; where the release itself requires the framework under another name, that name is used."""
        lock: tuple[str, ...] = ()
        for requirements in (wanted.requirements, by_own_name(wanted.requirements)):
            lock = self._resolver.lock(
                [release.exact_requirement, *requirements],
                python=interpreter.path,
                overrides=(*wanted.overrides, *_overriding(release)),
                **settings,
            )
            if not doubled(name_of(line) for line in lock):
                break
        check_locked(release, lock)
        return lock

    def _suitable(self, timeline: Timeline, python: str | None) -> list[Interpreter]:
        """Interpreters that the most releases accept, in the order of preference."""
        found = [self._interpreters.named(python)] if python else self._interpreters.candidates()
        accepted = {i.path: sum(r.accepts_python(i.version) for r in timeline.releases) for i in found}
        most = max(accepted.values(), default=0)
        return [i for i in found if accepted[i.path] == most] if most else []

    def _plan_on(
        self,
        interpreter: Interpreter,
        timeline: Timeline,
        wanted: Wanted,
        mode: Mode,
        pin: Callable[[int, Resolve], PinnedSet],
    ) -> Companions:
        data_lock = (
            self._resolver.lock(wanted.data_packages, python=interpreter.path, without_dependencies=True)
            if wanted.data_packages
            else ()
        )
        if mode is Mode.AS_OF:
            return Companions(wanted=wanted, mode=mode, interpreter=interpreter, data_lock=data_lock)
        usable = [r for r in timeline.releases if r.accepts_python(interpreter.version)]
        siblings = {canonicalize_name(wanted.package), canonicalize_name(import_name(wanted.package))}

        def resolve(place: int, pins: Lock) -> Lock:
            others = [line for line in pins if name_of(line) != canonicalize_name(wanted.package)]
            return self._resolve(usable[place], wanted, interpreter, constraints=others)

        pinned = pin(len(usable), resolve)
        return Companions(
            wanted=wanted,
            mode=mode,
            interpreter=interpreter,
            lock=tuple(line for line in pinned.lock if name_of(line) not in siblings),
            data_lock=data_lock,
            takes=pinned.last - pinned.first + 1,
            boundary=_boundary([release.version for release in usable], pinned),
        )

    def _nothing_fits(
        self, timeline: Timeline, wanted: Wanted, tried: Sequence[tuple[Interpreter, Unsatisfiable]]
    ) -> UsageError:
        companions = ", ".join(wanted.requirements) or "no companions"
        span = f"{wanted.package} {timeline.versions[0]} to {timeline.versions[-1]}"
        if not tried:
            needs = sorted({r.requires_python or "any" for r in timeline.releases})
            found = ", ".join(i.version for i in self._interpreters.candidates())
            return UsageError(
                f"no Python of this machine is accepted by {span}",
                where=f"requires-python {'; '.join(needs)}; found {found}",
                hint="install a fitting Python (for example `uv python install 3.11`) and name it with --python",
            )
        pythons = ", ".join(interpreter.minor for interpreter, _ in tried)
        hint = (
            f"change --with, or install a Python for which wheels exist (tried {pythons}; most TensorFlow "
            "releases have wheels for 3.11: `uv python install 3.11`)"
        )
        return UsageError(
            f"the companions ({companions}) cannot be resolved with {span} on Python {pythons}",
            where=tried[0][1].what[:1200],
            hint=hint,
        )

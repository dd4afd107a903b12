"""Choose interpreter and companions for a timeline, and resolve a release with them."""

from __future__ import annotations

import hashlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from packaging.utils import canonicalize_name
from packaging.version import Version

from harness import codec
from harness.adapters.environments.companions import framework_package
from harness.adapters.environments.contents.providers import Providers
from harness.adapters.environments.interpreters import Interpreters
from harness.adapters.environments.pinning import Lock, PinnedSet, Resolve, least_moved, over_most, reference_set
from harness.adapters.environments.resolver import Resolver, Unsatisfiable
from harness.adapters.index.package_index import FRESH_SECONDS
from harness.adapters.index.settings import described, index_settings
from harness.adapters.processes.redaction import clean
from harness.adapters.storage.checksums import read_checked, write_checked
from harness.adapters.storage.home import Home
from harness.domain.errors import Untestable, UsageError
from harness.domain.releases.companions import Companions, Interpreter, Mode, Wanted, name_of, pin_of, version_of
from harness.domain.releases.distributions import import_name
from harness.domain.releases.release import Release, Timeline

_PLAN_FORMAT = 3  # a plan of an earlier version was made to be held whole: its releases beyond the boundary are skip
T = TypeVar("T")
FETCHABLE = ("3.12", "3.11")  # interpreters for which most TensorFlow releases have wheels

OLDER = ("3.10", "3.9")  # fetched only for a script that takes nothing newer


def _recent(kind: type[T], file: Path) -> T | None:
    """What was kept in a file, if it is no older than an index page may be."""
    try:
        if not 0 <= time.time() - file.stat().st_mtime < FRESH_SECONDS:
            return None
        return codec.loads(kind, read_checked(file, file.name))
    except (OSError, ValueError):
        return None


def _boundary(versions: Sequence[str], pinned: PinnedSet) -> str:
    """Say over which releases the reference set holds as it is; "" when it fits both ends."""
    if (pinned.first, pinned.last) == (0, len(versions) - 1):
        return ""
    return (
        f"one set of companions holds from {versions[pinned.first]} to {versions[pinned.last]}; beyond, companions "
        "move where they must, and each that moved is shown; a release that nothing resolves with is skip"
    )


def check_locked(release: Release, lock: Sequence[str]) -> None:
    """Raise `Untestable` where a lock holds another version than the release under test: local versions count."""
    if release.source is not None:
        return
    found = [version for line in lock if (version := version_of(line, release.package)) is not None]
    if [release.parsed] != [Version(version) for version in found]:
        raise Untestable(
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
        self.providers = Providers(resolver.listings, home)

    def plan(self, timeline: Timeline, wanted: Wanted, mode: Mode, python: str | None = None) -> Companions:
        """Return the plan made within the last hour for the same question, or make one (see `_plan_anew`)."""
        file = self._file("plan", wanted, timeline.versions, mode.value, python, framework_package(), sys.executable)
        known = _recent(Companions, file)
        if known is not None and Path(known.interpreter.path).exists():
            return known
        made = self._plan_anew(timeline, wanted, mode, python)
        made = replace(made, indexes=clean(tuple(described(index_settings()))))
        write_checked(file, codec.dumps(Companions, made), file.name)
        return made

    def _file(self, kind: str, *parts: object) -> Path:
        """Where the answer to a question is kept for an hour."""
        text = repr([kind, _PLAN_FORMAT, index_settings(), *parts])
        return self._home.folder("plans") / f"{hashlib.sha256(text.encode()).hexdigest()[:20]}.json"

    def _plan_anew(self, timeline: Timeline, wanted: Wanted, mode: Mode, python: str | None) -> Companions:
        """Find the reference set of companions, on the first interpreter on which both ends of the timeline resolve.

        Where there is none such, the set that fits the most releases is taken, and the plan says which.

        Raises:
            UsageError: no release of the timeline resolves; names the pair that clashes.
        """
        tried: list[tuple[Interpreter, Unsatisfiable]] = []
        for interpreter in self._interpreters_for(timeline, wanted, python):
            try:
                return self._plan_on(interpreter, timeline, wanted, mode, partial(reference_set, named=wanted.names))
            except Unsatisfiable as failure:
                tried.append((interpreter, failure))
        found = []
        for interpreter, _ in tried if mode is Mode.FIXED else ():
            with suppress(Unsatisfiable):
                self._companions_alone(wanted, interpreter)
                found.append(self._plan_on(interpreter, timeline, wanted, mode, over_most))
        if found:
            return max(found, key=lambda plan: plan.takes)
        raise self._nothing_fits(timeline, wanted, tried)

    def _companions_alone(self, wanted: Wanted, interpreter: Interpreter) -> None:
        """Raise `Unsatisfiable` where the companions resolve with no release at all: then none needs to be tried."""
        if wanted.requirements:
            self._resolver.lock(wanted.requirements, python=interpreter.path, overrides=wanted.overrides)

    def _interpreters_for(self, timeline: Timeline, wanted: Wanted, python: str | None) -> Iterator[Interpreter]:
        """Those of this machine that the case takes, then those that can be fetched; `python` alone where given."""
        suitable = self._suitable(timeline, wanted, python)
        yield from suitable
        known = {interpreter.minor for interpreter in suitable}
        older = OLDER if wanted.requires_python and not known else ()
        for minor in (*FETCHABLE, *older) if python is None else ():
            asked = minor not in known and wanted.accepts_python(f"{minor}.99")
            if asked and (fetched := self._interpreters.fetch(minor)):
                yield fetched

    def lock_for(
        self, companions: Companions, release: Release, notify: Callable[[str], None] = lambda _: None
    ) -> tuple[str, ...]:
        """Resolve one release with its companions; raises `Unsatisfiable`. `notify` gets each attempt that failed."""
        if companions.mode is Mode.FIXED:
            return self._least_moved(companions, release, notify)
        limit = (release.released + timedelta(days=1)).isoformat() if release.released else None
        return self._resolve(release, companions.wanted, companions.interpreter, exclude_newer=limit, notify=notify)

    def _least_moved(self, companions: Companions, release: Release, notify: Callable[[str], None]) -> Lock:
        """The whole reference set where the release takes it, else a set that departs from it as little as possible.

        What moved is kept for an hour, as plans are: it costs a call of uv for each companion that moved.
        """
        resolve = partial(self._resolve, release, companions.wanted, companions.interpreter, notify=notify)
        held = [pin_of(line) for line in companions.lock]
        with suppress(Unsatisfiable):
            return resolve(constraints=held, prefer_offline=True, pages_are_new=True)
        file = self._file("moved", companions, release)
        if (known := _recent(tuple[str, ...], file)) is not None:
            return known
        try:
            lock = least_moved(
                companions.lock,
                companions.wanted.names,
                lambda pins, liked: resolve(constraints=pins, preferred=liked),
                lambda pins, liked: resolve(constraints=pins, preferred=liked, pages_are_new=True),
            )
        except Unsatisfiable as failure:
            raise Unsatisfiable(f"{self._clash(companions, release)}{failure.what}") from failure
        write_checked(file, codec.dumps(tuple[str, ...], lock), file.name)
        return lock

    def _clash(self, companions: Companions, release: Release) -> str:
        """Name the one requirement that the release does not resolve with, or that it resolves with nothing."""
        wanted = companions.wanted
        for requirements in ((), *((one,) for one in wanted.requirements)):
            alone = replace(wanted, requirements=requirements)
            try:
                self._resolve(release, alone, companions.interpreter, pages_are_new=True)
            except Unsatisfiable:
                under_test = f"{release.package} {release.version}"
                return f"{under_test} and {requirements[0]} clash: " if requirements else f"{under_test} by itself: "
        return ""

    def _resolve(
        self,
        release: Release,
        wanted: Wanted,
        interpreter: Interpreter,
        constraints: Sequence[str] = (),
        **settings: Any,
    ) -> tuple[str, ...]:
        """Resolve; where two distributions would bring the same module, one of them stands in for the other."""

        def resolve(overrides: Sequence[str], pins: Sequence[str]) -> tuple[str, ...]:
            return self._resolver.lock(
                [wanted.installs(release), *wanted.requirements],
                python=interpreter.path,
                overrides=(*wanted.overrides_for(release), *overrides),
                constraints=(*constraints, *pins),
                **settings,
            )

        lock = self.providers.single(resolve, wanted)
        check_locked(release, lock)
        return lock

    def _suitable(self, timeline: Timeline, wanted: Wanted, python: str | None) -> list[Interpreter]:
        """Interpreters that the case and the most releases accept, in the order of preference."""
        named = [self._interpreters.named(python)] if python else None
        found = named or [one for one in self._interpreters.candidates() if wanted.accepts_python(one.version)]
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
            needs += [f"the script {wanted.requires_python}"] if wanted.requires_python else []
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

"""Build one layer of an environment with nox and uv, and seal it once its files are those that were published."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import harness
from harness import codec
from harness.adapters.environments import isolation, sealing
from harness.adapters.environments.failures import Stale, explanation, machine_failure, release_failure, retried
from harness.adapters.environments.index_faults import Kind
from harness.adapters.environments.isolation import Isolation
from harness.adapters.environments.resolver import uv_program
from harness.adapters.index.listings import Listings
from harness.adapters.processes import child_env
from harness.adapters.processes.process import Ended, Processes
from harness.adapters.processes.redaction import redacted, restored
from harness.adapters.processes.room import check_room, installer_cache
from harness.adapters.storage.checksums import read_checked, write_checked
from harness.adapters.storage.home import Home
from harness.domain.errors import EnvironmentChanged, HarnessError, InfrastructureError, Untestable
from harness.domain.releases.companions import exact, name_of, pin_of
from harness.domain.trials.trial import Environment

BUILD_SECONDS = 1800.0  # a cold download of TensorFlow on a slow line
REASON_LIMIT = 500  # characters of the installer's explanation
SESSION_FILE = Path(harness.__file__).parent / "environment_noxfile.py"
SEAL = "sealed.json"
_MOST_LAYERS = 2


@dataclass(frozen=True, kw_only=True)
class Layer:
    """One sealed folder.

    Attributes:
        key: Its name.
        executable: Its interpreter.
        site: Where its packages lie.
        root: Everything that belongs to it.
        fingerprint: Hash of the state of its files.
        newest_ns: When the last of them was changed.
        files: How many there are.
        contents: Hash of their contents.
        base: Where the packages of the layer below lie; "" for none.
        base_key: The name of that layer.
    """

    key: str
    executable: str
    site: str
    root: str
    fingerprint: str
    newest_ns: int
    files: int
    contents: str
    base: str = ""
    base_key: str = ""


@dataclass(frozen=True, kw_only=True)
class Built:
    """What the nox session answers."""

    executable: str
    site: str


class Installer:
    """Installs layers for one interpreter.

    Args:
        processes: Starts nox and uv.
        python: Path of the interpreter.
        home: The cache folder.
        kind: What keeps trials from changing the layers.
    """

    def __init__(self, processes: Processes, python: str, home: Home, kind: Isolation = Isolation.CHECKS) -> None:
        self._processes = processes
        self._python = python
        self._home = home
        self._kind = kind
        self._listings = Listings(home)

    def build(
        self, key: str, folder: Path, lock: Sequence[str], base: Layer | None, notify: Callable[[str], None]
    ) -> Layer:
        """Install, check that all is there, as published, and belongs to one distribution alone, and seal.

        Raises:
            Untestable: it cannot be installed, or two distributions claim one file.
            InfrastructureError: index, disk or installer failed.
        """
        anew: list[str] = []  # packages of which uv holds a wrong page
        install = partial(retried, partial(self._install, key, folder, lock, base, anew), self._processes, notify)
        built = install()
        sealing.check([Path(one) for one in (base.site if base else "", built.site) if one])  # two owners look edited
        if edited := sealing.altered(Path(built.site)):
            notify(f"the installer's cache holds edited files of {', '.join(edited)}: fetching them again")
            self._forget(edited, folder)
            built = install()
            if edited := sealing.altered(Path(built.site)):  # fetched anew and compared with its hash
                notify(f"published with files that are not those of its own list: {', '.join(edited)}")
        root = Path(built.executable).parents[1]
        self._check_whole(root, Path(built.site), lock)
        if self._kind is Isolation.CHECKS:
            sealing.make_read_only(root)
        layer = _described(key, built, base)
        write_checked(folder / SEAL, codec.dumps(Layer, layer), key)
        return layer

    def _check_whole(self, root: Path, site: Path, lock: Sequence[str]) -> None:
        """Every locked distribution is there, and nothing of it lies elsewhere."""
        hint = "run the same command again; if it stays so, clean the cache of uv: uv cache clean"
        if missing := sealing.absent(site, required(lock)):
            raise InfrastructureError(
                f"the installer ended well, but did not install {', '.join(missing)}", where=str(site), hint=hint
            )
        if links := sealing.stray_links(root):
            raise InfrastructureError(
                f"the installer made links that lead out of the environment: {links[0]}", where=str(root), hint=hint
            )

    def _install(self, key: str, folder: Path, lock: Sequence[str], base: Layer | None, anew: list[str]) -> Built:
        """Run the nox session in a new folder: a process of a killed harness may still write to the old one."""
        check_room(self._home, "installing", [installer_cache()])
        (folder / SEAL).unlink(missing_ok=True)
        for old in folder.iterdir():
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
        log = folder / f"build-{len(list(folder.glob('build-*.log'))) + 1}.log"
        attempt = Path(tempfile.mkdtemp(dir=folder))
        answer = attempt / "built.json"
        locked = attempt / "lock.txt"
        locked.touch(mode=0o600)  # for the time of the installation it holds the credentials of its addresses
        locked.write_text("\n".join(restored(exact(line)) for line in lock) + "\n", encoding="utf-8")
        recipe = {
            "key": key,
            "python": self._python,
            "requirements": str(locked),
            "flags": ["--quiet", *(word for name in dict.fromkeys(anew) for word in ("--refresh-package", name))],
            "base": base.site if base else "",
            "answer": str(answer),
        }
        (attempt / "recipe.json").write_text(json.dumps(recipe), encoding="utf-8")
        try:
            ended = self._run_nox(attempt, log)
        finally:
            locked.write_text("\n".join(lock) + "\n", encoding="utf-8")
        if ended.exit_code != 0 or not answer.exists():
            raise self._build_failure(ended, lock, base, anew)
        return codec.loads(Built, answer.read_bytes())

    def _run_nox(self, folder: Path, log: Path) -> Ended:
        command = [
            sys.executable, "-m", "nox", "-f", str(SESSION_FILE), "--envdir", str(folder), "-s", "repro",
            "--install-only", "--error-on-missing-interpreters", "--no-stop-on-first-error",
        ]  # fmt: skip
        settings = {
            **isolation.settings(self._kind),
            "HARNESS_RECIPE": str(folder / "recipe.json"),
            "NO_COLOR": "1",
        }
        ended = self._processes.run(
            command,
            log=log,
            env=child_env.for_installer(settings),
            cwd=folder,
            deadline_seconds=BUILD_SECONDS,
        )
        printed = log.read_text(encoding="utf-8", errors="replace")
        if redacted(printed) != printed:
            log.write_text(redacted(printed), encoding="utf-8")
        return ended

    def _forget(self, names: Sequence[str], folder: Path) -> None:
        """Drop distributions from the installer's cache."""
        command = [uv_program(), "cache", "clean", "--quiet", *names]
        env = child_env.for_installer()
        log = folder / "forget.log"
        ended = self._processes.run(command, log=log, env=env, cwd=folder, deadline_seconds=BUILD_SECONDS)
        if ended.exit_code != 0:
            raise machine_failure(ended, "cleaning the installer's cache") or InfrastructureError(
                f"the installer's cache holds edited files of {', '.join(names)} and cannot be cleaned",
                where=explanation(ended.tail)[:REASON_LIMIT],
                hint=f"clean it by hand: uv cache clean {' '.join(names)}",
            )

    def _build_failure(self, ended: Ended, lock: Sequence[str], base: Layer | None, anew: list[str]) -> HarnessError:
        check_room(self._home, "installing", [installer_cache()])
        if not Path(self._python).exists():
            return InfrastructureError(
                "the interpreter is gone", where=self._python, hint="install it again, or use --python"
            )
        try:
            explained, confirmed = release_failure(ended, "installing", self._listings)
        except Stale as stale:
            anew += stale.packages
            return stale
        for claim, reason in confirmed.items():
            if claim.kind is not Kind.BROKEN and any(name_of(line) == claim.name for line in lock):
                return self._gone(reason, explained, base)
        return Untestable(f"cannot be installed: {explained[:REASON_LIMIT]}")

    @staticmethod
    def _gone(reason: str, explained: str, base: Layer | None) -> HarnessError:
        """What was locked is listed no more: of the release that is its own fault, of a companion it is not."""
        if base is not None:
            return Untestable(f"cannot be installed: {reason}")
        return InfrastructureError(
            f"a companion cannot be installed any more: {reason}",
            where=explained[:REASON_LIMIT],
            hint="choose others (--with), or start the search anew in an hour: then companions are chosen again",
        )


def layer_key(lock: Sequence[str], base_key: str, python: str) -> str:
    """Name of a layer: a hash of its lock, the layer below it, the interpreter, the platform and this version."""
    parts = [*sorted(lock), base_key, python, sys.platform, platform.machine(), harness.__version__]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:20]


def required(lock: Sequence[str]) -> dict[str, str]:
    """Version by canonical name of what a lock installs for sure; "" where a line names a place and no version."""
    lines = [Requirement(pin_of(line)) for line in lock]
    return {
        str(canonicalize_name(line.name)): next((one.version for one in line.specifier), "")
        for line in lines
        if line.marker is None
    }


def _described(key: str, built: Built, base: Layer | None) -> Layer:
    root = Path(built.executable).parents[1]
    contents = sealing.contents(root)
    seen = sealing.state(root)
    return Layer(
        key=key,
        executable=built.executable,
        site=built.site,
        root=str(root),
        fingerprint=seen.fingerprint,
        newest_ns=seen.newest_ns,
        files=seen.files,
        contents=contents,
        base=base.site if base else "",
        base_key=base.key if base else "",
    )


def read_seal(folder: Path) -> Layer | None:
    """What the seal of a folder says, if it is the folder's own; its files are not looked at."""
    try:
        layer = codec.loads(Layer, read_checked(folder / SEAL, folder.name))
    except (OSError, ValueError):
        return None
    own = layer.key == folder.name and Path(layer.root).parents[1].name == folder.name
    return layer if own and Path(layer.site).is_relative_to(layer.root) else None


def sealed(folder: Path, base: str) -> Layer | None:
    """Return the layer if it was finished, no file was changed since, and its base is still in the same place.

    Files that were only moved, or linked to from elsewhere, are compared by their contents; the seal is then renewed.
    """
    layer = read_seal(folder)
    if layer is None or layer.base != base:
        return None
    root = Path(layer.root)
    try:
        seen = sealing.state(root)
        if not Path(layer.executable).exists():
            return None
        if seen.fingerprint == layer.fingerprint:
            return layer
        if sealing.contents(root) != layer.contents:
            return None
    except OSError:
        return None
    renewed = replace(layer, fingerprint=seen.fingerprint, newest_ns=seen.newest_ns)
    write_checked(folder / SEAL, codec.dumps(Layer, renewed), folder.name)
    return renewed


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The layers that an environment stands on, as they were sealed, for the time in which it is used."""

    layers: Mapping[Path, Layer]

    @property
    def folders(self) -> list[Path]:
        """The folder of each layer's files."""
        return [Path(layer.root) for layer in self.layers.values()]

    def changed(self, most_files: int | None = None, *, viewed: bool = False) -> list[str]:
        """Names of what is not as it was sealed; a layer with changed files is built anew before its next use.

        Args:
            most_files: Larger layers are left out.
            viewed: No trial could write there, so nothing was changed and changed back: the contents decide.
        """
        found = []
        for folder, layer in self.layers.items():
            if most_files is not None and layer.files > most_files:
                continue
            names = _changed(folder, layer, viewed=viewed)
            if names and read_seal(folder) == layer:  # else somebody has built it anew already
                (folder / SEAL).unlink(missing_ok=True)
            found += names
        return found


def standing(home: Home, environment: Environment) -> Standing | None:
    """The layers of an environment; None for one that the harness did not build.

    Raises:
        EnvironmentChanged: it was built, and has lost its seal since.
    """
    place = home.root / "environments"
    layers: dict[Path, Layer] = {}
    key = environment.key
    while key and len(layers) < _MOST_LAYERS:
        folder = place / key
        if not layers and not folder.is_dir():
            return None
        layer = read_seal(folder)
        if layer is None or (not layers and layer.executable != environment.executable):
            raise EnvironmentChanged("its environment was changed before the trial began", where=str(folder))
        layers[folder] = layer
        key = layer.base_key
    return Standing(layers=layers)


def _changed(folder: Path, layer: Layer, *, viewed: bool) -> list[str]:
    """Files of a layer that are not as they were, by name as far as that can be told."""
    root, site = Path(layer.root), Path(layer.site)
    try:
        seen = sealing.state(root)
        if seen.fingerprint == layer.fingerprint:
            return []
        names = sealing.changed_since(root, layer.newest_ns)
        if (viewed or sealing.only_linked(root, layer.newest_ns)) and sealing.contents(root) == layer.contents:
            return []  # another environment was built from the same files of the cache, or they were dropped there
    except OSError as error:
        return [f"{folder.name}: {error.strerror}"]
    inside = [str((root / name).relative_to(site)) if (root / name).is_relative_to(site) else name for name in names]
    return inside or ["a file was removed"]

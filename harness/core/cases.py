"""A case: a minimal repro whose inline metadata says how it is run and what would be wrong."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from enum import Enum
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version

from harness.core.errors import UsageError


class Symptom(str, Enum):
    """What can be wrong with a trial. Order: the earlier ones hide the later ones."""

    EXCEPTION = "exception"
    KILLED = "killed"
    TIMEOUT = "timeout"
    NONFINITE_METRIC = "nonfinite-metric"
    NONFINITE_WEIGHTS = "nonfinite-weights"
    WRONG_METRIC = "wrong-metric"
    WRONG_WEIGHTS = "wrong-weights"


class Level(str, Enum):
    """How a case speaks: by its exit code, or by a model that the probe trains."""

    SCRIPT = "script"
    MODEL = "model"


STRATEGIES = ("mirrored", "multi-worker", "tpu", "parameter-server")
FRAMEWORK = "tensorflow"
DEFAULT_TOLERANCE = 1e-3


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """Relative tolerance against the one-replica reference; None: not compared."""

    metric: float | None = DEFAULT_TOLERANCE
    weights: float | None = DEFAULT_TOLERANCE


@dataclass(frozen=True, kw_only=True)
class Remedy:
    """What a report recommends, as settings of the case's switches.

    Attributes:
        name: Short name.
        title: What is done, in one line.
        options: Switch settings that apply it.
        against: Settings of the fault that it is meant to cure.
        origin: Where it is recommended.
    """

    name: str
    title: str
    options: Mapping[str, str] = field(default_factory=dict)
    against: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A sentence of a report, as something that can be measured.

    Attributes:
        says: The claim in one sentence.
        origin: Where it is made.
        predicts: ``good`` or the symptom that must show if the claim holds; "" when it cannot be tested here.
        release: The release that it speaks of; "" for the one under test.
        replicas: Number of replicas that it speaks of; 0 for the case's own.
        options: Switch settings that it speaks of.
        untestable: Why this machine cannot answer it.
    """

    says: str
    origin: str = ""
    predicts: str = ""
    release: str = ""
    replicas: int = 0
    options: Mapping[str, str] = field(default_factory=dict)
    untestable: str = ""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A parsed case.

    Attributes:
        name: File name without its ending.
        path: Where it was read, as given.
        text: The whole source; its hash identifies the case.
        level: Script or model.
        title: One line.
        origin: URLs of the reports it stands for.
        package: Distribution under test.
        since: Where a search begins when nothing else is said; "" when that must be said.
        companions: Requirements installed beside it; ``tensorflow`` is asked for by that name.
        data_packages: Requirements that only carry files and are installed without dependencies.
        expects: The symptom that the case was written for.
        replicas: Replicas of the trial that is compared with the reference.
        strategy: Distribution strategy of that trial.
        timeout_seconds: Deadline of one trial.
        repeats: Least number of trials per release.
        seed: Given to ``keras.utils.set_random_seed`` before the model is built.
        tolerance: How close values must be to the reference.
        fixes: Names of fixes worth trying.
        fit: Options of ``fit``.
        switches: Keyword arguments of ``model()`` and ``data()`` with their allowed values, the default first; a
            script gets them as arguments, ``--name=value``.
        remedies: What the reports recommend.
        claims: What the reports say.
    """

    name: str
    path: str
    text: str
    level: Level
    title: str = ""
    origin: tuple[str, ...] = ()
    package: str = "keras"
    since: str = ""
    companions: tuple[str, ...] = ()
    data_packages: tuple[str, ...] = ()
    expects: Symptom | None = None
    replicas: int = 2
    strategy: str = "mirrored"
    timeout_seconds: float = 120.0
    repeats: int = 1
    seed: int = 0
    tolerance: Tolerance = field(default_factory=Tolerance)
    fixes: tuple[str, ...] = ()
    fit: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    switches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    remedies: tuple[Remedy, ...] = ()
    claims: tuple[Claim, ...] = ()

    @property
    def digest(self) -> str:
        """Hash of the text: a changed case is another question."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]

    @property
    def import_name(self) -> str:
        """Module that the package under test installs."""
        return import_name(self.package)

    @property
    def uses_framework(self) -> bool:
        """Whether TensorFlow belongs to its environment, under whichever name it is installed."""
        return FRAMEWORK in {import_name(Requirement(text).name) for text in (self.package, *self.companions)}


def import_name(package: str) -> str:
    """Module that a distribution installs; nightly builds install over their stable sibling."""
    name = canonicalize_name(package)
    known = {
        "tf-nightly": "tensorflow",
        "tf-nightly-cpu": "tensorflow",
        "tensorflow-cpu": "tensorflow",
        "tf-keras": "tf_keras",
    }
    return known.get(name, name.removesuffix("-nightly").replace("-", "_"))


_OPENING = re.compile(r"# /// ([a-zA-Z0-9-]+)")
_MEANT = re.compile(r"#\s*///\s*script\s*")
EXAMPLE_BLOCK = """\
# /// script
# dependencies = ["keras", "tensorflow"]
# [tool.harness]
# title = "what goes wrong, in one line"
# ///"""


def metadata_text(text: str, *, where: str) -> str | None:
    """Return the TOML of the PEP 723 ``script`` block, or None when there is none.

    Raises:
        UsageError: more than one block, or one that PEP 723 does not read as a block.
    """
    lines = text.split("\n")
    blocks = [body for kind, body in _blocks(lines) if kind == "script"]
    if len(blocks) > 1:
        raise UsageError("more than one '# /// script' block", where=where, hint="keep one (PEP 723 allows no more)")
    if blocks:
        return "".join((line[2:] if line.startswith("# ") else line[1:]) + "\n" for line in blocks[0])
    meant = [number for number, line in enumerate(lines, start=1) if _MEANT.fullmatch(line)]
    if meant:
        raise UsageError(
            f"the '# /// script' block that line {meant[0]} opens is not closed",
            where=where,
            hint="begin it with '# /// script', start each line with '# ', end it with '# ///'; no spaces behind",
        )
    return None


def _blocks(lines: Sequence[str]) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield (type, body) of every block, as the regular expression of PEP 723 finds them but in linear time.

    A block ends at the last "# ///" that only comment lines separate from its opening line.
    """
    place = 0
    while place < len(lines):
        opening = _OPENING.fullmatch(lines[place])
        place += 1
        if opening is None:
            continue
        end = place
        while end < len(lines) and (lines[end] == "#" or lines[end].startswith("# ")):
            end += 1
        closing = next((n for n in range(end - 1, place, -1) if lines[n] == "# ///"), None)
        if closing is not None:
            yield opening[1], lines[place:closing]
        place = end


def build_case(*, name: str, path: str, text: str, metadata: Mapping[str, Any], defines_model: bool) -> Case:
    """Check the metadata of one case and build it.

    Args:
        name: File name without its ending.
        path: Where the file lies, for messages.
        text: Its source.
        metadata: The parsed PEP 723 block.
        defines_model: Whether the source defines ``model()`` and ``data()``.

    Raises:
        UsageError: naming the file, the key and what was expected.
    """
    table = harness_table(metadata, path=path) or {}
    if unknown := sorted(set(table) - set(_READERS)):
        near = get_close_matches(unknown[0], _READERS, n=1)
        known = f"known keys: {', '.join(sorted(_READERS))}"
        raise UsageError(
            f"unknown key {unknown[0]!r} in [tool.harness]",
            where=path,
            hint=f"did you mean {near[0]!r}? {known}" if near else known,
        )
    read = {key: _READERS[key](path, key, value) for key, value in table.items()}
    package = read.setdefault("package", "keras")
    dependencies = _requirements(path, "dependencies", metadata.get("dependencies", []))
    if "companions" not in read:
        own = {canonicalize_name(package)} | {
            canonicalize_name(Requirement(t).name) for t in read.get("data_packages", ())
        }
        read["companions"] = tuple(d for d in dependencies if canonicalize_name(Requirement(d).name) not in own)
    level = read.setdefault("level", Level.MODEL if defines_model else Level.SCRIPT)
    if level is Level.MODEL and not defines_model:
        raise UsageError(
            "level = 'model' needs the functions model() and data()",
            where=path,
            hint="define both, or use level = 'script'",
        )
    return Case(name=name, path=path, text=text, **read)


def harness_table(metadata: Mapping[str, Any], *, path: str) -> Mapping[str, Any] | None:
    """Return ``[tool.harness]``, or None when there is none; raises `UsageError` where it is no table."""
    tools = metadata.get("tool", {})
    if not isinstance(tools, Mapping):
        raise _bad(path, "tool", "a table", tools)
    table = tools.get("harness")
    if table is not None and not isinstance(table, Mapping):
        raise _bad(path, "tool.harness", "a table", table)
    return table


def _bad(path: str, key: str, expected: str, got: object) -> UsageError:
    shown = repr(got)
    return UsageError(
        f"bad value for {key!r}: expected {expected}, got {shown if len(shown) < 80 else shown[:77] + '...'}",
        where=path,
        hint=f"correct {key!r} in the '# /// script' block at the top of the file",
    )


def _string(path: str, key: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise _bad(path, key, "a non-empty string", value)
    return value


def _strings(path: str, key: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _bad(path, key, "a list of strings", value)
    return tuple(value)


def _requirements(path: str, key: str, value: object) -> tuple[str, ...]:
    for text in _strings(path, key, value):
        try:
            Requirement(text)
        except InvalidRequirement:
            raise _bad(path, key, "requirements such as 'numpy<2.1'", text) from None
    return _strings(path, key, value)


def _package(path: str, key: str, value: object) -> str:
    text = _string(path, key, value)
    if not re.fullmatch(r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?", text):
        raise _bad(path, key, "a distribution name", value)
    return text


def _version(path: str, key: str, value: object) -> str:
    text = _string(path, key, value)
    try:
        Version(text)
    except InvalidVersion:
        raise _bad(path, key, "a version such as '3.5.0'", value) from None
    return text


def _count(path: str, key: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise _bad(path, key, "a whole number from 1", value)
    return value


def _seed(path: str, key: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**32:
        raise _bad(path, key, "a whole number from 0 to 2**32 - 1", value)
    return value


def _seconds(path: str, key: str, value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= 86_400:
        raise _bad(path, key, "seconds, above 0 and at most 86400", value)
    return float(value)


def _choice(kind: type[Enum]) -> Callable[[str, str, object], Enum]:
    def read(path: str, key: str, value: object) -> Enum:
        try:
            return kind(value)
        except ValueError:
            raise _bad(path, key, "one of " + ", ".join(member.value for member in kind), value) from None

    return read


def _strategy(path: str, key: str, value: object) -> str:
    if value not in STRATEGIES:
        raise _bad(path, key, "one of " + ", ".join(STRATEGIES), value)
    return str(value)


def _tolerance(path: str, key: str, value: object) -> Tolerance:
    def one(part: str, given: object) -> float | None:
        if given == "not compared":
            return None
        if not isinstance(given, int | float) or isinstance(given, bool) or not 0 <= given < float("inf"):
            raise _bad(path, part, "a relative tolerance such as 1e-3, or 'not compared'", given)
        return float(given)

    if not isinstance(value, Mapping):
        both = one(key, value)
        return Tolerance(metric=both, weights=both)
    if extra := set(value) - {"metric", "weights"}:
        raise _bad(path, f"{key}.{sorted(extra)[0]}", "only 'metric' and 'weights'", value)
    return Tolerance(**{part: one(f"{key}.{part}", given) for part, given in value.items()})


def _fit(path: str, key: str, value: object) -> dict[str, bool | int | float | str]:
    if not isinstance(value, Mapping) or not all(isinstance(item, bool | int | float | str) for item in value.values()):
        raise _bad(path, key, "a table of numbers, strings and booleans", value)
    return dict(value)


def _switches(path: str, key: str, value: object) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, Mapping):
        raise _bad(path, key, "a table of switch = [default, other, ...]", value)
    read = {}
    for name, values in value.items():
        read[name] = _strings(path, f"{key}.{name}", values)
        if not read[name] or not name.isidentifier():
            raise _bad(path, f"{key}.{name}", "a Python identifier with at least one value", values)
    return read


def _options(path: str, key: str, value: object) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(item, str) for item in value.values()):
        raise _bad(path, key, "a table of switch = 'value'", value)
    return dict(value)


def _remedies(path: str, key: str, value: object) -> tuple[Remedy, ...]:
    if not isinstance(value, Mapping):
        raise _bad(path, key, "a table of remedies by name", value)
    return tuple(
        Remedy(name=name, **_fields(path, f"{key}.{name}", table, _REMEDY_READERS, required=("title",)))
        for name, table in value.items()
    )


def _claims(path: str, key: str, value: object) -> tuple[Claim, ...]:
    if not isinstance(value, list):
        raise _bad(path, key, "a list of tables ([[tool.harness.claims]])", value)
    claims = tuple(
        Claim(**_fields(path, f"{key}[{number}]", table, _CLAIM_READERS, required=("says",)))
        for number, table in enumerate(value)
    )
    for number, claim in enumerate(claims):
        if bool(claim.predicts) == bool(claim.untestable):
            raise _bad(path, f"{key}[{number}]", "exactly one of 'predicts' and 'untestable'", claim.says)
    return claims


def _fields(
    path: str,
    key: str,
    table: object,
    readers: Mapping[str, Callable[[str, str, Any], Any]],
    *,
    required: tuple[str, ...],
) -> dict[str, Any]:
    if not isinstance(table, Mapping) or not set(required) <= set(table) <= set(readers):
        raise _bad(path, key, f"a table with {', '.join(required)} and no other keys than {', '.join(readers)}", table)
    return {name: readers[name](path, f"{key}.{name}", value) for name, value in table.items()}


def _prediction(path: str, key: str, value: object) -> str:
    allowed = ("good", *(symptom.value for symptom in Symptom))
    if value not in allowed:
        raise _bad(path, key, "one of " + ", ".join(allowed), value)
    return str(value)


_REMEDY_READERS: dict[str, Callable[[str, str, Any], Any]] = {
    "title": _string,
    "options": _options,
    "against": _options,
    "origin": _string,
}
_CLAIM_READERS: dict[str, Callable[[str, str, Any], Any]] = {
    "says": _string,
    "origin": _string,
    "predicts": _prediction,
    "release": _version,
    "replicas": _count,
    "options": _options,
    "untestable": _string,
}
_READERS: dict[str, Callable[[str, str, Any], Any]] = {
    "claims": _claims,
    "companions": _requirements,
    "data_packages": _requirements,
    "expects": _choice(Symptom),
    "fit": _fit,
    "fixes": _strings,
    "level": _choice(Level),
    "origin": _strings,
    "package": _package,
    "remedies": _remedies,
    "repeats": _count,
    "replicas": _count,
    "seed": _seed,
    "since": _version,
    "strategy": _strategy,
    "switches": _switches,
    "timeout_seconds": _seconds,
    "title": _string,
    "tolerance": _tolerance,
}

"""A case: a minimal repro whose inline metadata says how it is run and what would be wrong."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from packaging.requirements import Requirement

from harness.domain.cases import backends
from harness.domain.cases.backends import Backend
from harness.domain.cases.inline_metadata import code_text
from harness.domain.cases.shapes.runners import Runner
from harness.domain.cases.symptoms import Symptom
from harness.domain.releases.distributions import FRAMEWORK, import_name


class Level(str, Enum):
    """How a case speaks: by its exit code, or by a model that the probe trains."""

    SCRIPT = "script"
    MODEL = "model"


STRATEGIES = ("mirrored", "multi-worker", "tpu", "parameter-server")
DEFAULT_TOLERANCE = 1e-3
NUMPY = "numpy"
_ASKED = (
    "level",
    "package",
    "companions",
    "data_packages",
    "expects",
    "replicas",
    "strategy",
    "timeout_seconds",
    "repeats",
    "seed",
    "tolerance",
    "fit",
    "parameters",
)
"""Fields beside the code that an answer depends on."""
_ADDED = (
    "runner",
    "node",
    "arguments",
    "beside_digest",
    "backend",
    "env",
    "extras",
    "overrides",
    "requires_python",
    "python_flags",
)
"""Such fields that came later: they count where they are set, so that the digest of an older case is what it was."""
_SOUGHT = ("value", "equals", "reference", "warning", "match")
"""The same for what is looked for in what a trial showed: a trial does not depend on it, its meaning does."""


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """Relative tolerance against the one-replica reference; None: not compared."""

    metric: float | None = DEFAULT_TOLERANCE
    weights: float | None = DEFAULT_TOLERANCE


@dataclass(frozen=True, kw_only=True)
class Workaround:
    """What a report recommends, as settings of the case's parameters.

    Attributes:
        name: Short name.
        title: What is done, in one line.
        options: Settings that apply it.
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
        predicts: ``good``, ``finite`` or the symptom that must show if the claim holds; "" when it cannot be tested.
        release: The release that it speaks of; "" for the one under test.
        replicas: Number of replicas that it speaks of; 0 for the case's own.
        options: Settings that it speaks of.
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
        text: The whole source, metadata included.
        level: Script or model.
        title: One line.
        origin: URLs of the reports it stands for.
        package: Distribution under test.
        extras: Its extras that are installed with it: ``cpu`` for ``jax[cpu]``.
        module: Module that it was found to install; "" where its name tells.
        overrides: Requirements that stand in for what other packages ask for: ``name==version``, or the name of the
            package under test alone, of which then every release is taken.
        requires_python: Interpreters that the script takes; "" for any.
        since: Where a search begins when nothing else is said; "" when that must be said.
        companions: Requirements installed beside it; ``tensorflow`` is asked for by that name.
        data_packages: Requirements that only carry files and are installed without dependencies.
        expects: The symptom that the case was written for.
        replicas: Replicas of the trial that is compared with the reference.
        strategy: Distribution strategy of that trial.
        backend: Backend of Keras that it asks for; None: the one whose framework is among its companions.
        env: Environment variables of its trials.
        timeout_seconds: Deadline of one trial.
        repeats: Least number of trials per release.
        seed: Given to ``keras.utils.set_random_seed`` before the model is built.
        tolerance: How close values must be to the reference.
        fixes: Names of fixes worth trying.
        fit: Options of ``fit``.
        parameters: Keyword arguments of ``model()`` and ``data()`` with their allowed values, the default first; a
            script gets them as arguments, ``--name=value``.
        workarounds: What the reports recommend.
        claims: What the reports say.
        value: Where in the output the value stands that is compared: a regular expression, or ``json:KEY``.
        equals: What it should be; "": what it is on one replica, in the release `reference` or in the oldest one.
        reference: Release whose numbers are the right ones.
        warning: Regular expression of the warning that should not come.
        match: Regular expression over type and message of the failure in question; others are ``skip``.
        python_flags: Options of the interpreter that runs a script.
        runner: What runs a script.
        node: The test that is meant, as pytest names it below its file; "" for all.
        arguments: Handed on to a script.
        files: Patterns of files that it reads, relative to its own folder.
        folder: Where the user stood when it was read; a script is run in a private copy of what it names there.
        beside_digest: Hash of what these files hold, and those that its text names; "" where there are none.
        assumed: What was taken for granted when it was read, for the user.
    """

    name: str
    path: str
    text: str
    level: Level
    title: str = ""
    origin: tuple[str, ...] = ()
    package: str = "keras"
    extras: tuple[str, ...] = ()
    module: str = ""
    overrides: tuple[str, ...] = ()
    requires_python: str = ""
    since: str = ""
    companions: tuple[str, ...] = ()
    data_packages: tuple[str, ...] = ()
    expects: Symptom | None = None
    replicas: int = 2
    strategy: str = "mirrored"
    backend: Backend | None = None
    env: Mapping[str, str] = field(default_factory=dict)
    timeout_seconds: float = 120.0
    repeats: int = 1
    seed: int = 0
    tolerance: Tolerance = field(default_factory=Tolerance)
    fixes: tuple[str, ...] = ()
    fit: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    workarounds: tuple[Workaround, ...] = ()
    claims: tuple[Claim, ...] = ()
    value: str = ""
    equals: str = ""
    reference: str = ""
    warning: str = ""
    match: str = ""
    python_flags: tuple[str, ...] = ()
    runner: Runner = Runner.SCRIPT
    node: str = ""
    arguments: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    folder: str = ""
    beside_digest: str = ""
    assumed: tuple[str, ...] = ()

    @property
    def word(self) -> str:
        """What a command line names it by: its path, and the test in it that is meant."""
        return f"{self.path}::{self.node}" if self.node else self.path

    @property
    def code(self) -> str:
        """The source without its metadata: what a trial runs."""
        return code_text(self.text)

    @property
    def digest(self) -> str:
        """Hash of what an answer depends on: the code and the settings; a case changed in these is another question.

        Title, origin, workarounds and claims are about the answer, and so are comments in the metadata.
        """
        parts = [self.code, *(repr(_plain(getattr(self, name))) for name in _ASKED)]
        parts += [f"{name}={value!r}" for name, value in self.added.items()]
        parts += [f"{name}={given!r}" for name in _SOUGHT if (given := getattr(self, name))]
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:16]

    @property
    def added(self) -> dict[str, object]:
        """Those of the fields an answer depends on that the first version did not have, as far as they are set."""
        first = {"runner": Runner.SCRIPT}
        given = {name: getattr(self, name) for name in _ADDED}
        return {name: _as_data(value) for name, value in given.items() if value and value is not first.get(name)}

    @property
    def import_name(self) -> str:
        """Module that the package under test installs."""
        return self.module or import_name(self.package)

    @property
    def frameworks(self) -> tuple[Backend, ...]:
        """The frameworks that belong to its environment, under whichever name they are installed."""
        return backends.frameworks_among((self.package, *self.companions))

    @property
    def keras_backend(self) -> Backend | None:
        """The backend that Keras has in its trials: as asked for, else the first that its environment has."""
        return self.backend or backends.named_in(self.env) or next(iter(self.frameworks), None)

    @property
    def foreign_frameworks(self) -> tuple[Backend, ...]:
        """The frameworks other than its backend that it imports itself, wherever it runs."""
        found = backends.imported_frameworks(self.code)
        return tuple(other for other in found if other is not self.keras_backend)

    @property
    def prerequisites(self) -> tuple[str, ...]:
        """Modules below the package under test: an environment that cannot import them says nothing of it."""
        backend = self.keras_backend
        if backend is None or self.import_name == NUMPY:
            return ()
        below = () if backend is Backend.TORCH else (NUMPY,)
        under_test = self.import_name in {other.value for other in Backend}
        return below if under_test else (*below, backend.value)

    @property
    def trial_env(self) -> dict[str, str]:
        """Environment variables of its trials.

        A script starts as on its reporter's machine: where nothing is said and the default backend is there, it
        chooses for itself.
        """
        backend = self.keras_backend
        default = self.level is Level.SCRIPT and self.backend is None and Backend.TENSORFLOW in self.frameworks
        own = {} if default or backend is None else {backends.VARIABLE: backend.value}
        return {**own, **self.env}

    def on(self, backend: Backend | None, env: Mapping[str, str] | None = None) -> Case:
        """The same case with another backend, whose framework becomes its companion, and more variables.

        A framework that the case imports itself stays beside it.
        """
        variables = {**self.env, **(env or {})}
        wanted = backend or backends.named_in(env or {})
        if backend is not None and backends.VARIABLE in variables:
            del variables[backends.VARIABLE]
        if wanted is None or wanted is self.backend or (self.backend is None and self.frameworks == (wanted,)):
            return replace(self, env=variables)
        keep = backends.imported_frameworks(self.code)
        return replace(self, backend=wanted, env=variables, companions=backends.moved(self.companions, wanted, keep))

    @property
    def uses_framework(self) -> bool:
        """Whether TensorFlow belongs to its environment, under whichever name it is installed."""
        return FRAMEWORK in {import_name(Requirement(text).name) for text in (self.package, *self.companions)}


def _plain(value: object) -> object:
    """The same for equal values, in whatever order a table was written."""
    return sorted(value.items()) if isinstance(value, Mapping) else value


def _as_data(value: object) -> object:
    """The same as plain data: the value of an enumeration, a table in the order of its keys."""
    if isinstance(value, Enum):
        return value.value
    return dict(sorted(value.items())) if isinstance(value, Mapping) else value

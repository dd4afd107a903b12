"""One frozen request per command: what is asked, checked once; the command line and Python make the same ones."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from harness.domain.cases.backends import VARIABLE, Backend
from harness.domain.cases.metadata_values import is_variable
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from harness.domain.releases.channels import is_commit
from harness.domain.releases.companions import Mode
from harness.domain.releases.release import Channel, Order

MOST_REPLICAS = 64
WEEK = 7
"""Default of the longest stretch of nights that a replay takes over: an island of bad nights shorter than a week can
hide in it."""


def default_jobs() -> int:
    """One job per core, at most four: a TensorFlow trial takes a core and a gigabyte."""
    return max(1, min(4, os.cpu_count() or 1))


def check_pins(pins: Sequence[str]) -> None:
    """Refuse a ``--with`` that is a name alone: it pins nothing, and may be a typing error that installs a stranger."""
    for text in pins:
        try:
            pinned = bool(Requirement(text).specifier) or Requirement(text).url is not None
        except InvalidRequirement:
            pinned = False
        if not pinned:
            raise UsageError(f"{text!r} pins nothing", where="--with", hint="write it as tensorflow==2.18.1")


def check_overrides(overrides: Sequence[str]) -> None:
    """Refuse an ``--override`` that is no requirement."""
    for text in overrides:
        try:
            Requirement(text)
        except InvalidRequirement:
            raise UsageError(
                f"{text!r} is no requirement", where="--override", hint="write it as protobuf==6.31.1"
            ) from None


@dataclass(frozen=True, kw_only=True)
class EnvironmentRequest:
    """What stands beside the package under test.

    Attributes:
        pins: Companions with their versions, as ``name==version``.
        mode: One set of companions for the whole timeline, or those of each release's day.
        python: Version or path of the interpreter; None: the best one of this machine.
        backend: Backend of Keras instead of the case's; its framework becomes the companion.
        env: Environment variables of the trials, as ``NAME=VALUE``, beside those of the case.
        overrides: ``name==version`` in the place of what other packages require of it; the package under test by its
            name alone.
    """

    pins: tuple[str, ...] = ()
    mode: Mode = Mode.FIXED
    python: str | None = None
    backend: Backend | None = None
    env: tuple[str, ...] = ()
    overrides: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_pins(self.pins)
        check_overrides(self.overrides)
        variables = self.variables
        if self.backend and VARIABLE in variables:
            raise UsageError(f"--backend and --env {VARIABLE} say the same", where="--backend", hint="keep --backend")

    @property
    def variables(self) -> dict[str, str]:
        """The environment variables by name; raises `UsageError`."""
        parted = [text.partition("=") for text in self.env]
        for name, sign, value in parted:
            if not sign or not is_variable(name) or "\0" in value:
                hint = "write it as NAME=VALUE; names that begin with HARNESS_ are not handed on"
                raise UsageError(f"{name!r} is set for no trial", where="--env", hint=hint)
        return {name: value for name, _, value in parted}


@dataclass(frozen=True, kw_only=True)
class RangeRequest:
    """Which releases a question ranges over.

    Attributes:
        first: First version (a day for nightlies, a commit or a day in a clone); None: where the case begins.
        last: Last version, or ``latest``.
        order: By version or by date.
    """

    first: str | None = None
    last: str = "latest"
    order: Order = Order.VERSION


@dataclass(frozen=True, kw_only=True)
class RunRequest:
    """How a run goes on.

    Attributes:
        jobs: Releases tried at once.
        output: Folder of the run; None: a new one below ``reports/``.
        resume: Folder of an earlier run to go on with.
        fresh: Run everything anew, whatever the cache holds.
    """

    jobs: int = field(default_factory=default_jobs)
    output: Path | None = None
    resume: Path | None = None
    fresh: bool = False


@dataclass(frozen=True, kw_only=True)
class SoughtRequest:
    """What is looked for beside how a trial ends; each stands in for what the case says.

    Attributes:
        value: Where a value stands in the output: a regular expression, or ``json:KEY``.
        equals: What it should be.
        warning: Regular expression of a warning that should not come.
        match: Regular expression over type and message of the failure in question.
        python_flags: Options of the interpreter that runs a script, each as it would be typed.
    """

    value: str | None = None
    equals: str | None = None
    warning: str | None = None
    match: str | None = None
    python_flags: tuple[str, ...] = ()

    @property
    def sought(self) -> dict[str, str | tuple[str, ...]]:
        """What of it is given, by the names of a case's metadata."""
        texts = {"value": self.value, "equals": self.equals, "warning": self.warning, "match": self.match}
        given: dict[str, str | tuple[str, ...]] = {name: text for name, text in texts.items() if text is not None}
        flags = tuple(word for text in self.python_flags for word in shlex.split(text))
        return {**given, "python_flags": flags} if flags else given


@dataclass(frozen=True, kw_only=True)
class BisectRequest(EnvironmentRequest, RangeRequest, RunRequest, SoughtRequest):
    """Find in which release each symptom of a case begins and ends.

    Attributes:
        case: Name or path.
        package: Distribution under test instead of the case's.
        channels: How fine the search goes: it goes on from each transition to the next of them.
        clone: Git clone of the package, for commits.
        symptoms: Those asked for; empty: every symptom that is seen.
        replicas: Replicas instead of the case's.
        strategy: Strategy instead of the case's.
        repeats: Least number of trials per release instead of the case's.
        max_trials: Budget of trials over all releases; None: no limit.
        confidence: How sure each transition must be, below 1.
        max_gap: Most releases in a row that may stay unrun between two equal ones; None: the channel's default.
        memory_bytes: Memory limit of a trial.
        settings: Parameters of the case, as ``name=value``.
        reference: Release whose value, or whose numbers, are the right ones.
        arguments: Handed on to a script.
    """

    case: str
    package: str | None = None
    channels: tuple[Channel, ...] = (Channel.STABLE,)
    clone: Path | None = None
    symptoms: tuple[Symptom, ...] = ()
    replicas: int | None = None
    strategy: str | None = None
    repeats: int | None = None
    max_trials: int | None = None
    confidence: float = 0.99
    max_gap: int | None = None
    memory_bytes: int | None = None
    settings: tuple[str, ...] = ()
    reference: str | None = None
    arguments: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.channels[0] is Channel.HUNK:
            hint = "search a coarser channel first, such as (Channel.STABLE, Channel.HUNK)"
            raise UsageError("hunks lie between two releases", where="--channel", hint=hint)
        if (Channel.COMMIT in self.channels) != (self.clone is not None):
            raise UsageError(
                "commits and a clone go together", where="--clone", hint="give --channel commit --clone PATH"
            )

    @property
    def widest_gap(self) -> int | None:
        """Every stable release is run; of nightlies and commits only those that the search needs, unless asked."""
        default = 0 if self.channels[0] is Channel.STABLE else None
        return default if self.max_gap is None else self.max_gap


@dataclass(frozen=True, kw_only=True)
class GridRequest(BisectRequest):
    """Find where the border between good and bad runs through the releases of two packages.

    Attributes:
        also: Distribution of the other axis.
        also_first: Its first version.
        also_last: Its last version, or ``latest``.
    """

    also: str
    also_first: str
    also_last: str = "latest"

    def __post_init__(self) -> None:
        super().__post_init__()
        if canonicalize_name(self.also) in {canonicalize_name(Requirement(pin).name) for pin in self.pins}:
            raise UsageError(f"{self.also} is an axis and pinned", where="--with", hint="leave out one of the two")

    def column(self, version: str, folder: Path) -> BisectRequest:
        """The search beside one version of the other package, with its own folder below that of the grid."""
        own = {one.name: getattr(self, one.name) for one in fields(BisectRequest)}
        pins = (*self.pins, f"{self.also}=={version}")
        output = folder / f"{canonicalize_name(self.also)}-{version}"
        return BisectRequest(**{**own, "pins": pins, "output": output, "resume": None})


@dataclass(frozen=True, kw_only=True)
class VerifyRequest(EnvironmentRequest, RangeRequest, RunRequest):
    """Verify a fix: is the symptom gone, are the values right, does it break something?

    Attributes:
        case: Name or path.
        fixes: Named fixes, or files with apply(); each is tried alone.
        patch: A diff that is applied to a copy of the package.
        fixed_in: A release, ``nightly``, or ``commit:REF`` that is said to be the fix.
        clone: Git clone that has the commit or pull request.
        sweep_mapping: Try every change of one key of _map_aggregation.
        symptoms: What the fix should cure; empty: what the case expects.
        replicas: Replicas instead of the case's.
        repeats: Runs of each trial instead of the case's.
        settings: Parameters of the case, as ``name=value``.
    """

    case: str
    fixes: tuple[str, ...] = ()
    patch: Path | None = None
    fixed_in: str | None = None
    clone: Path | None = None
    sweep_mapping: bool = False
    symptoms: tuple[Symptom, ...] = ()
    replicas: int | None = None
    repeats: int | None = None
    settings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.fixes or self.patch or self.sweep_mapping) == bool(self.fixed_in):
            raise UsageError(
                "say what should be verified",
                hint="one of --fix NAME, --patch FILE, --sweep-mapping, or --fixed-in RELEASE alone",
            )
        if self.fixed_in and is_commit(self.fixed_in) and self.clone is None:
            hint = "give --clone PATH of a git clone of the package"
            raise UsageError("a commit needs a clone", where="--fixed-in", hint=hint)


@dataclass(frozen=True, kw_only=True)
class WorkaroundsRequest(EnvironmentRequest, RunRequest):
    """Measure what the reports of a case recommend and claim.

    Attributes:
        case: Name or path.
        releases: Versions to try; empty: the latest.
        replicas: Numbers of replicas to try; empty: one and the case's own.
    """

    case: str
    releases: tuple[str, ...] = ()
    replicas: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TrialRequest(EnvironmentRequest, SoughtRequest):
    """Run a case once in the environment of one release.

    Attributes:
        case: Name or path.
        release: Version, or ``latest``.
        package: Distribution under test instead of the case's.
        replicas: Replicas instead of the case's.
        strategy: Strategy instead of the case's.
        settings: Parameters of the case, as ``name=value``.
        fresh: Run it even if the cache has it.
        arguments: Handed on to a script.
    """

    case: str
    release: str = "latest"
    package: str | None = None
    replicas: int | None = None
    strategy: str | None = None
    settings: tuple[str, ...] = ()
    fresh: bool = False
    arguments: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DiagnoseRequest(TrialRequest):
    """Find the first place where a case goes wrong.

    Attributes:
        policy: Dtype policy instead of the case's, for example ``float32``.
    """

    policy: str | None = None


@dataclass(frozen=True, kw_only=True)
class ReproRequest(EnvironmentRequest):
    """Run all cases, or those named, in the environment of one release.

    Attributes:
        release: Version, or ``latest``.
        cases: Names or paths; empty: all that are known.
        package: Distribution under test.
        fresh: Run everything anew.
    """

    release: str
    cases: tuple[str, ...] = ()
    package: str = "keras"
    fresh: bool = False


@dataclass(frozen=True, kw_only=True)
class ReproduceRequest:
    """Rebuild the environment of one release of a run from its recorded lock and repeat its trials.

    Attributes:
        run: Folder or id of the run.
        release: Version whose trials are repeated.
    """

    run: Path
    release: str


@dataclass(frozen=True, kw_only=True)
class ReportRequest:
    """Write the reports of a run again.

    Attributes:
        run: Folder or id of the run.
    """

    run: Path


@dataclass(frozen=True, kw_only=True)
class AggregationRequest(EnvironmentRequest, RangeRequest):
    """Say what _map_aggregation and the variables are in each release.

    Attributes:
        package: ``keras`` or ``keras-nightly``.
        live: Also train the identity model in each release and compare its variables.
    """

    package: str = "keras"
    live: bool = False


@dataclass(frozen=True, kw_only=True)
class ReleasesRequest(RangeRequest):
    """List the timeline of a package as the harness sees it.

    Attributes:
        package: Distribution.
    """

    package: str = "keras"


@dataclass(frozen=True, kw_only=True)
class NightlyRequest(EnvironmentRequest):
    """Look at the newest nightly beside the newest stable release, or replay nights of the past.

    Attributes:
        cases: Names or paths; empty: all that are known.
        package: Distribution of the nightlies.
        state: Folder of the journal, the history, the alerts and a folder per night.
        expectations: What is known and expected; None: the file beside the cases.
        stale_after: Days after which the newest build is too old, which is an alert of its own.
        confirmations: Agreeing fresh trials that a change needs to be believed.
        jobs: Nightlies tried at once.
        since: First night of a replay, as a day; "": tonight is run.
        until: Last night of a replay.
        max_gap: Most nights in a row that a replay may take over from two equal neighbours; 0: every one is run.
    """

    cases: tuple[str, ...] = ()
    package: str = "keras-nightly"
    state: Path = Path("reports/nightly")
    expectations: Path | None = None
    stale_after: int = 3
    confirmations: int = 3
    jobs: int = field(default_factory=default_jobs)
    since: str = ""
    until: str = ""
    max_gap: int = WEEK

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.since) != bool(self.until):
            raise UsageError("a replay needs its nights", where="--simulate, --since, --until", hint="give all three")

    @property
    def simulated(self) -> bool:
        """Whether nights of the past are replayed."""
        return bool(self.since)

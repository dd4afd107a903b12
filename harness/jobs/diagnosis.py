"""Where does a case first go wrong: the training is watched, and its first bad step repeated piece by piece."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace

from harness.domain.cases import parameters
from harness.domain.cases.backends import Backend
from harness.domain.cases.case import Case, Level
from harness.domain.diagnosis.diagnosis import Controls, Diagnosis, diagnose
from harness.domain.errors import UsageError
from harness.domain.releases.release import Release
from harness.domain.trials.observation import Observation
from harness.domain.trials.trial import Environment, Trial
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.judgement import judge
from harness.jobs.events import Listener
from harness.jobs.executor import unchanged
from harness.jobs.preparation import find_release, read_case, variant_of, warn, with_changes
from harness.jobs.protocols import Services, Trials
from harness.jobs.requests import DiagnoseRequest
from harness.jobs.trials import prepare_release

POLICIES = ("float32", "mixed_float16", "mixed_bfloat16", "float16", "bfloat16", "float64")


@dataclass(frozen=True, kw_only=True)
class DiagnosedTrial:
    """A diagnosis, and what it is about.

    Attributes:
        case: The case as it was run.
        release: Where.
        variant: The trial that was watched.
        diagnosis: What was found.
    """

    case: Case
    release: Release
    variant: Variant
    diagnosis: Diagnosis


def diagnose_case(services: Services, request: DiagnoseRequest, listener: Listener) -> DiagnosedTrial:
    """Find the first place where a case goes wrong: data, compute, optimisation or metric state.

    Raises:
        UsageError: the case is a script, or there is no such release or parameter.
        Untestable: the release cannot be tested here.
        InfrastructureError: machine, index or disk failed.
    """
    case = read_case(services, request.case, request)
    if case.level is not Level.MODEL:
        raise UsageError(
            "only a case with model() and data() can be diagnosed", where=case.path, hint="see docs/cases.md"
        )
    if case.keras_backend not in (None, Backend.TENSORFLOW):
        hint = "harness run shows what was observed; --backend tensorflow diagnoses it there"
        raise UsageError("a step is replayed with TensorFlow's means alone", where="the case's backend", hint=hint)
    case = with_changes(case, replicas=request.replicas)
    plain = plain_variant(case, request)
    release = find_release(services, case.package, request.release, listener, where="--release")

    def attempt() -> Diagnosis:
        environment = prepare_release(services, [case], release, request, listener)
        (found,) = diagnoses(services.trials(fresh=request.fresh), environment, case, release.version, [plain])
        return found

    found = unchanged(attempt, lambda change: warn(listener, f"{change.what}: diagnosing it once more"))
    word = services.cases.callable_as(case)
    found = replace(found, next_change=complete_command(found.next_change, word, release.version, plain))
    return DiagnosedTrial(case=case, release=release, variant=plain, diagnosis=found)


def plain_variant(case: Case, request: DiagnoseRequest) -> Variant:
    """The trial that is diagnosed; a policy also sets the case's parameter of that name."""
    chosen = dict(parameters.parse(case, request.settings))
    if request.policy and "policy" in case.parameters:
        chosen["policy"] = request.policy
    return replace(variant_of(case), options=tuple(sorted(chosen.items())), policy=request.policy)


def diagnoses(
    trials: Trials, environment: Environment, case: Case, version: str, plain: Sequence[Variant], *, bare: bool = False
) -> list[Diagnosis]:
    """Diagnose several trials of one case; those without a control in float32 share one process tree.

    Args:
        trials: Runs them.
        environment: Of the release.
        case: Their case.
        version: The release.
        plain: The trials, unwatched.
        bare: Leave out the controls that only add evidence: the unwatched trial and one replica.
    """
    first = {one: [replace(one, watched=True), *([] if bare else (one, alone(one)))] for one in plain}
    seen = _run(trials, environment, case, version, [one for group in first.values() for one in group])
    watched = {one: seen[group[0]] for one, group in first.items()}
    low = {one: in_float32(case, one) for one, observed in watched.items() if _failed_low(observed)}
    seen |= _run(trials, environment, case, version, list(low.values()))
    found = []
    for one, observed in watched.items():
        single_replica = None if bare or one.replicas == 1 else seen[alone(one)]
        controls = Controls(
            plain=None if bare else seen[one],
            baseline=seen[low[one]] if one in low else None,
            alone=single_replica,
            verdicts=judge(case, observed, single_replica) if single_replica else None,
        )
        found.append(diagnose(observed, controls))
    return found


def _run(
    trials: Trials, environment: Environment, case: Case, version: str, variants: Sequence[Variant]
) -> dict[Variant, Observation]:
    wanted = [Trial(release=version, variant=one) for one in dict.fromkeys(variants)]
    if not wanted:
        return {}
    return {done.trial.variant: done.observation for done in trials.run(environment, case, wanted)}


def _failed_low(watched: Observation) -> bool:
    """Whether something went wrong that float32 could cure."""
    facts = watched.diagnosis
    return facts is not None and facts.step is not None and facts.compute_dtype != "float32"


def alone(plain: Variant) -> Variant:
    """The same trial on one replica."""
    return replace(plain, replicas=1, strategy="none")


def in_float32(case: Case, plain: Variant) -> Variant:
    """The same trial with everything in float32."""
    chosen = dict(plain.options) | ({"policy": "float32"} if "policy" in case.parameters else {})
    return replace(plain, options=tuple(sorted(chosen.items())), policy="float32")


def complete_command(change: str, case: str, version: str, plain: Variant) -> str:
    """Fill in the placeholders of the commands in an advice, so that they can be typed; `case` is the case's word."""
    settings = " ".join(f"--set {shlex.quote(f'{name}={value}')}" for name, value in plain.options)
    written = {"CASE": shlex.quote(case), "SETTINGS": settings, "RANGE": f"--from {version} --to {version}"}
    words = (written.get(word, word) for word in change.split(" "))
    return " ".join(word for word in words if word)

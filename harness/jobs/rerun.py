"""The command that asks the same again, from the request and what was made of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from harness.domain.cases import parameters
from harness.domain.cases.sought import SOUGHT
from harness.domain.findings.question import Question
from harness.domain.releases.companions import Mode
from harness.domain.releases.release import Channel, Order, Release
from harness.jobs.requests import BisectRequest, EnvironmentRequest, GridRequest, VerifyRequest, WorkaroundsRequest

Option = tuple[str, object, object]
"""Name, value, default."""


def of_bisect(case: str, request: BisectRequest, question: Question) -> str:
    """The command of a search; `case` is the word that finds it again."""
    words = ["harness", "bisect", case, "--from", question.first, "--to", question.last]
    if request.channels != (Channel.STABLE,):
        words += ["--channel", ",".join(channel.value for channel in request.channels)]
    words += _options([("--clone", request.clone, None), ("--package", request.package, None)])
    words += _repeated("--with", request.pins)
    words += _of_case(request)
    words += _repeated("--symptom", (symptom.value for symptom in question.symptoms))
    words += parameters.words(question.options)
    words += _of_sought(request)
    words += _options(
        [
            ("--replicas", request.replicas, None),
            ("--strategy", request.strategy, None),
            ("--repeats", request.repeats, None),
            ("--max-trials", request.max_trials, None),
            ("--confidence", request.confidence, 0.99),
            ("--max-gap", request.max_gap, None),
            ("--python", request.python, None),
            ("--companions", request.mode.value, Mode.FIXED.value),
            ("--order", request.order.value, Order.VERSION.value),
        ]
    )
    words += ["--", *request.arguments] if request.arguments else []
    return shlex.join(words)


def of_grid(case: str, request: GridRequest, ends: tuple[str, str], also: tuple[str, str]) -> str:
    """The command of a grid; `ends` and `also` are the first and last version of each axis."""
    words = ["harness", "grid", case, "--from", ends[0], "--to", ends[1], "--also", request.also]
    words += ["--also-from", also[0], "--also-to", also[1]]
    words += _options([("--package", request.package, None)])
    words += [*_repeated("--with", request.pins), *_of_case(request)]
    words += _repeated("--symptom", (symptom.value for symptom in request.symptoms))
    words += _repeated("--set", request.settings)
    words += _options([("--replicas", request.replicas, None), ("--repeats", request.repeats, None)])
    words += _of_sought(request)
    words += _options([("--max-gap", request.max_gap, None), *_of_environment(request)])
    return shlex.join([*words, *_options([("--order", request.order.value, Order.VERSION.value)])])


def of_verify_fix(case: str, request: VerifyRequest, question: Question) -> str:
    """The command that verifies fixes over a range."""
    words = ["harness", "verify-fix", case, "--from", question.first, "--to", question.last]
    words += _repeated("--fix", request.fixes)
    words += _options([("--patch", request.patch, None)])
    words += ["--sweep-mapping"] if request.sweep_mapping else []
    return shlex.join([*words, *_of_verifying(request, question)])


def of_fixed_in(case: str, request: VerifyRequest, question: Question) -> str:
    """The command that compares a release that is said to be fixed with one that is not."""
    words = ["harness", "verify-fix", case, "--fixed-in", request.fixed_in or ""]
    words += _options([("--clone", request.clone, None), ("--from", request.first, None)])
    return shlex.join([*words, *_of_verifying(request, question)])


def of_workarounds(case: str, request: WorkaroundsRequest, releases: Iterable[Release]) -> str:
    """The command that measures workarounds and claims."""
    words = ["harness", "workarounds", case]
    words += _repeated("--release", (release.version for release in releases))
    words += _options([("--replicas", ",".join(map(str, request.replicas)), "")])
    words += [*_repeated("--with", request.pins), *_of_case(request)]
    return shlex.join([*words, *_options(_of_environment(request))])


def _of_verifying(request: VerifyRequest, question: Question) -> list[str]:
    """The options that both ways of verifying share, as far as they were given."""
    words = [*_repeated("--with", request.pins), *_of_case(request)]
    words += _repeated("--symptom", (symptom.value for symptom in request.symptoms))
    words += parameters.words(question.options)
    return words + _options(
        [
            ("--replicas", request.replicas, None),
            ("--repeats", request.repeats, None),
            *_of_environment(request),
            ("--order", request.order.value, Order.VERSION.value),
        ]
    )


def _of_sought(request: BisectRequest) -> list[str]:
    """What is looked for beside how a trial ends."""
    words = _options([(f"--{name}", getattr(request, name), None) for name in SOUGHT if name != "python_flags"])
    return words + [f"--python-flag={flag}" for flag in request.python_flags]


def _of_case(request: EnvironmentRequest) -> list[str]:
    """What the trials have beside what the case says."""
    backend = request.backend.value if request.backend else None
    words = [*_options([("--backend", backend, None)]), *_repeated("--env", request.env)]
    return [*words, *_repeated("--override", request.overrides)]


def _of_environment(request: EnvironmentRequest) -> list[Option]:
    return [("--companions", request.mode.value, Mode.FIXED.value), ("--python", request.python, None)]


def _options(options: Iterable[Option]) -> list[str]:
    """What differs from its default."""
    return [word for name, value, default in options if value != default for word in (name, str(value))]


def _repeated(name: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (name, value)]

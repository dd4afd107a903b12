"""Small real values for tests of the adapters."""

from __future__ import annotations

import collections.abc
from typing import get_args

from hypothesis import strategies as st

from harness.domain.cases.case import Case, Level
from harness.domain.findings.question import Question
from harness.domain.findings.run import RunHeader, SharedEnvironment
from harness.domain.releases.release import Release, Timeline
from harness.domain.search.policy import Policy
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import Ending, EndingKind, Observation, Stage
from harness.domain.trials.trial import Environment, FinishedTrial, Trial
from harness.domain.trials.variant import Variant

VARIANT = Variant(replicas=1)


def script(text: str = "pass\n", **changes: object) -> Case:
    values: dict[str, object] = {"name": "toy", "path": "/x/toy.py", "level": Level.SCRIPT, "package": "toykeras"}
    return Case(text=text, **{**values, **changes})  # type: ignore[arg-type]


def timeline(*versions: str) -> Timeline:
    return Timeline(releases=tuple(Release(package="toykeras", version=v) for v in versions))


def header(*versions: str, **changes: object) -> RunHeader:
    case, line = script(), timeline(*(versions or ("1.0", "1.1")))
    asked: dict[str, object] = {
        "case": case.name,
        "case_digest": case.digest,
        "package": "toykeras",
        "first": line.versions[0],
        "last": line.versions[-1],
        "releases": line.versions,
        "replicas": 1,
        "strategy": "none",
    }
    return RunHeader(
        question=Question(**{**asked, **changes}),  # type: ignore[arg-type]
        case=case,
        timeline=line,
        policy=Policy(),
        setting=SharedEnvironment(harness="0", python="3.11.7", platform="linux", mode="fixed"),
        reproduce="harness bisect toy",
    )


def observation(exit_code: int = 0, **changes: object) -> Observation:
    ending = Ending(kind=EndingKind.EXITED, stage=Stage.SCRIPT, exit_code=exit_code)
    return Observation(ending=ending, **changes)  # type: ignore[arg-type]


def entry(release: str = "1.0", exit_code: int = 0, repeat: int = 0, key: str = "0" * 20) -> Entry:
    trial = Trial(release=release, variant=VARIANT, repeat=repeat)
    return Entry(
        release=release,
        environment=Environment(key=key, executable="/x/bin/python", python="3.11.7", lock=("toykeras==1.0",)),
        finished=FinishedTrial(
            trial=trial, observation=observation(exit_code, final={"loss": float("nan")}), seconds=1.0
        ),
    )


def _mappings(kind: object) -> st.SearchStrategy[dict[object, object]]:
    keys, values = get_args(kind)
    return st.dictionaries(st.from_type(keys), st.from_type(values), max_size=3)


st.register_type_strategy(collections.abc.Mapping, _mappings)

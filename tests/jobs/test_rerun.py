"""The command that asks the same again: the command line itself parses it and makes the same request."""

from __future__ import annotations

import shlex
from dataclasses import fields
from pathlib import Path

import pytest

from harness.cli.commands import bisection, verify_fix, workarounds
from harness.domain.cases.backends import Backend
from harness.domain.cases.case import Case
from harness.domain.cases.sought import SOUGHT
from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.question import Question
from harness.domain.releases.channels import parse_channels
from harness.domain.releases.companions import Companions, Interpreter, Mode, Wanted
from harness.domain.releases.release import Channel, Order, stable_timeline
from harness.domain.search.policy import Policy
from harness.jobs import rerun
from harness.jobs.preparation import Plan
from harness.jobs.requests import BisectRequest, VerifyRequest, WorkaroundsRequest
from tests.examples import case, release
from tests.offline import PUBLISHED

CASE = "/somewhere/my case.py"
ABOUT = case(path=CASE, name="my case", parameters={"fault": ("none", "on")})
FAULT = (("fault", "on"),)


def question(request: BisectRequest | VerifyRequest, settings: tuple[tuple[str, str], ...] = ()) -> Question:
    plan = Plan(
        case=ABOUT,
        timeline=stable_timeline(PUBLISHED, first=None, last="latest", order=request.order),
        companions=Companions(
            wanted=Wanted(package="keras", requirements=("numpy",)),
            mode=request.mode,
            interpreter=Interpreter(version="3.11.7", path="/python"),
            lock=("numpy==2.0.2 --hash=sha256:0",),
        ),
        policy=Policy(symptoms=request.symptoms),
        settings=settings,
    )
    return plan.question


def words_of_bisect(**given: object) -> list[str]:
    request = BisectRequest(case=CASE, **given)  # type: ignore[arg-type]
    settings = FAULT if request.settings else ()
    return shlex.split(rerun.of_bisect(CASE, request, question(request, settings)))


def words_of_verify_fix(**given: object) -> list[str]:
    request = VerifyRequest(case=CASE, **given)  # type: ignore[arg-type]
    make = rerun.of_fixed_in if request.fixed_in else rerun.of_verify_fix
    return shlex.split(make(CASE, request, question(request, FAULT if request.settings else ())))


class TestBisect:
    def test_the_shortest_command_names_the_case_and_the_range(self):
        assert words_of_bisect() == ["harness", "bisect", CASE, "--from", "3.5.0", "--to", "3.10.0"]

    @pytest.mark.parametrize(
        "given",
        [
            {"pins": ("numpy==2.0.2", "tensorflow==2.18.1")},
            {"symptoms": (Symptom.EXCEPTION, Symptom.WRONG_METRIC)},
            {"replicas": 4},
            {"strategy": "tpu"},
            {"repeats": 3},
            {"max_trials": 30},
            {"max_gap": 5},
            {"confidence": 0.999},
            {"python": "3.11"},
            {"backend": Backend.TORCH},
            {"mode": Mode.AS_OF},
            {"order": Order.DATE},
            {"package": "keras-nightly"},
            {"backend": Backend.JAX},
            {"env": ("A=1", "B=two words")},
            {"settings": ("fault=on",)},
            {"value": "loss: ([0-9.]+)", "equals": "1"},
            {"reference": "3.6.0"},
            {"warning": "odd", "match": "Type.*"},
            {"python_flags": ("-W error::FutureWarning", "-O")},
        ],
        ids=lambda given: next(iter(given)),
    )
    def test_every_option_that_is_part_of_the_question_comes_back(self, given):
        """The command is parsed by the command line itself and gives the same options."""
        again = bisection.command.make_context("bisect", words_of_bisect(**given)[2:]).params
        for name, value in given.items():
            assert again[name] == value, name
        assert (again["case"], again["first"], again["last"]) == (CASE, "3.5.0", "3.10.0")

    def test_channels_and_their_clone_come_back(self, tmp_path: Path):
        channels = (Channel.STABLE, Channel.NIGHTLY, Channel.COMMIT)
        again = bisection.command.make_context("bisect", words_of_bisect(channels=channels, clone=tmp_path)[2:]).params
        assert parse_channels(again["channel"]) == channels
        assert again["clone"] == tmp_path

    def test_by_date_the_range_is_still_the_one_that_was_asked_for(self):
        """3.9.9 is the newest file, 3.10.0 the highest version: --to 3.9.9 would lose a release."""
        assert words_of_bisect(order=Order.DATE)[3:7] == ["--from", "3.5.0", "--to", "3.10.0"]

    def test_how_a_run_goes_on_is_no_part_of_the_question(self, tmp_path: Path):
        """A run that was told where to write, or to forget what is cached, can be asked again elsewhere."""
        changed = words_of_bisect(jobs=7, output=tmp_path, resume=tmp_path, fresh=True, memory_bytes=1 << 30)
        assert changed == words_of_bisect()


class TestVerifyFix:
    BESIDE: tuple[dict[str, object], ...] = (
        {"pins": ("numpy==2.0.2",)},
        {"symptoms": (Symptom.EXCEPTION, Symptom.WRONG_METRIC)},
        {"replicas": 4},
        {"repeats": 3},
        {"python": "3.11"},
        {"mode": Mode.AS_OF},
        {"order": Order.DATE},
        {"settings": ("fault=on",)},
    )

    @pytest.mark.parametrize(
        "given",
        [
            *({"fixes": ("f",), **one} for one in BESIDE),
            {"fixes": ("f", "my fixes/g.py")},
            {"patch": Path("my.diff")},
            {"sweep_mapping": True},
        ],
        ids=lambda given: list(given)[-1],
    )
    def test_over_a_range_every_option_comes_back(self, given):
        again = verify_fix.command.make_context("verify-fix", words_of_verify_fix(**given)[2:]).params
        for name, value in given.items():
            assert again[name] == value, name
        assert (again["case"], again["first"], again["last"]) == (CASE, "3.5.0", "3.10.0")

    @pytest.mark.parametrize(
        "given",
        [*({"fixed_in": "3.10.0", **one} for one in BESIDE), {"fixed_in": "nightly", "first": "3.6.0"}],
        ids=lambda given: list(given)[-1],
    )
    def test_of_a_fixed_release_every_option_comes_back(self, given):
        again = verify_fix.command.make_context("verify-fix", words_of_verify_fix(**given)[2:]).params
        for name, value in given.items():
            assert again[name] == value, name
        assert (again["first"], again["fixes"]) == (given.get("first"), ())

    def test_the_clone_of_a_fixed_commit_comes_back(self, tmp_path: Path):
        words = words_of_verify_fix(fixed_in="pr:21072", clone=tmp_path)
        again = verify_fix.command.make_context("verify-fix", words[2:]).params
        assert (again["fixed_in"], again["clone"]) == ("pr:21072", tmp_path)


class TestWorkarounds:
    def words(self, **given: object) -> list[str]:
        request = WorkaroundsRequest(case=CASE, **given)  # type: ignore[arg-type]
        return shlex.split(rerun.of_workarounds(CASE, request, [release("3.9.2"), release("3.10.0")]))

    def test_latest_becomes_the_versions_that_it_meant(self):
        """Tomorrow the latest release is another one."""
        assert self.words() == ["harness", "workarounds", CASE, "--release", "3.9.2", "--release", "3.10.0"]

    @pytest.mark.parametrize(
        "given",
        [{"pins": ("numpy==2.0.2",)}, {"mode": Mode.AS_OF}, {"python": "3.11"}],
        ids=lambda given: next(iter(given)),
    )
    def test_every_option_comes_back(self, given):
        again = workarounds.command.make_context("workarounds", self.words(**given)[2:]).params
        for name, value in given.items():
            assert again[name] == value, name
        assert tuple(again["releases"]) == ("3.9.2", "3.10.0")

    def test_replicas_are_one_list(self):
        assert self.words(replicas=(1, 4))[-2:] == ["--replicas", "1,4"]


BESIDE = {"pins", "mode", "python", "backend", "env", "overrides", "case"}
OF_RANGE = {"first", "last", "order"}
OF_CASE = {"symptoms", "replicas", "repeats", "settings", "clone"}


@pytest.mark.parametrize(
    ("kind", "shown"),
    [
        (
            BisectRequest,
            BESIDE
            | OF_RANGE
            | OF_CASE
            | set(SOUGHT)
            | {"package", "channels", "strategy", "max_trials", "confidence", "max_gap", "arguments"},
        ),
        (VerifyRequest, BESIDE | OF_RANGE | OF_CASE | {"fixes", "patch", "fixed_in", "sweep_mapping"}),
        (WorkaroundsRequest, BESIDE | {"releases", "replicas"}),
    ],
)
def test_a_new_option_has_to_be_decided_upon(kind, shown):
    """Each field is part of the command, or says only how the run goes on."""
    how = {"jobs", "output", "resume", "fresh", "memory_bytes"}
    assert {f.name for f in fields(kind)} - how == shown


def test_the_case_is_written_as_a_shell_takes_it():
    about: Case = ABOUT
    assert f"'{about.path}'" in rerun.of_bisect(
        about.path, BisectRequest(case=CASE), question(BisectRequest(case=CASE))
    )

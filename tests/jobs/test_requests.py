"""Requests: what is asked is checked once, where it is made."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.backends import Backend
from harness.domain.errors import UsageError
from harness.domain.releases.companions import Mode
from harness.domain.releases.release import Channel, Order
from harness.jobs import requests
from harness.jobs.requests import (
    WEEK,
    AggregationRequest,
    BisectRequest,
    DiagnoseRequest,
    EnvironmentRequest,
    NightlyRequest,
    ReproRequest,
    RunRequest,
    TrialRequest,
    VerifyRequest,
    WorkaroundsRequest,
    check_pins,
    default_jobs,
)

CLONE = Path("clone")


class TestVariables:
    def test_variables_come_by_name_and_may_hold_anything(self):
        assert EnvironmentRequest(env=("A=1", "B=x=y", "C=")).variables == {"A": "1", "B": "x=y", "C": ""}

    @pytest.mark.parametrize("text", ["A", "=1", "A B=1", "HARNESS_HOME=/x", "A=\0"])
    def test_what_no_trial_can_have_is_refused(self, text):
        with pytest.raises(UsageError, match="is set for no trial"):
            BisectRequest(case="c", env=(text,))

    def test_the_backend_is_named_once(self):
        with pytest.raises(UsageError, match="say the same"):
            BisectRequest(case="c", backend=Backend.JAX, env=("KERAS_BACKEND=jax",))


class TestPins:
    @pytest.mark.parametrize("pin", ["numpy==2.0.2", "numpy<2.1", "keras @ git+https://example.org/keras@main"])
    def test_what_pins_a_version_passes(self, pin):
        check_pins([pin])
        assert EnvironmentRequest(pins=(pin,)).pins == (pin,)

    @pytest.mark.parametrize("pin", ["numpy", "numpy=2", "", "numpy ; python_version > '3'", "-r other.txt"])
    def test_what_does_not_is_refused(self, pin):
        with pytest.raises(UsageError, match="pins nothing"):
            check_pins(["numpy==2.0.2", pin])

    @pytest.mark.parametrize(
        "make",
        [
            lambda pins: EnvironmentRequest(pins=pins),
            lambda pins: BisectRequest(case="c", pins=pins),
            lambda pins: VerifyRequest(case="c", fixes=("f",), pins=pins),
            lambda pins: WorkaroundsRequest(case="c", pins=pins),
            lambda pins: TrialRequest(case="c", pins=pins),
            lambda pins: DiagnoseRequest(case="c", pins=pins),
            lambda pins: ReproRequest(release="3.9.2", pins=pins),
            lambda pins: AggregationRequest(pins=pins),
            lambda pins: NightlyRequest(pins=pins),
        ],
    )
    def test_every_request_with_companions_refuses_them(self, make):
        with pytest.raises(UsageError, match="pins nothing"):
            make(("numpy",))

    @given(st.text(max_size=20))
    def test_no_text_ends_in_another_error(self, text):
        """Whatever was typed, it is a pin or it is refused in the same words."""
        try:
            check_pins([text])
        except UsageError as error:
            assert (error.what, error.where) == (f"{text!r} pins nothing", "--with")


@pytest.mark.parametrize(("cores", "jobs"), [(None, 1), (1, 1), (2, 2), (64, 4)])
def test_jobs_follow_the_cores_up_to_four(cores, jobs, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: cores)
    assert default_jobs() == jobs
    assert RunRequest().jobs == jobs


class TestBisect:
    def test_the_shortest_request_names_its_case(self):
        made = BisectRequest(case="identity")
        assert (made.first, made.last, made.order, made.mode) == (None, "latest", Order.VERSION, Mode.FIXED)
        assert (made.channels, made.confidence, made.fresh) == ((Channel.STABLE,), 0.99, False)

    @pytest.mark.parametrize(
        ("channels", "asked", "gap"),
        [
            ((Channel.STABLE,), None, 0),
            ((Channel.STABLE, Channel.NIGHTLY), None, 0),
            ((Channel.NIGHTLY,), None, None),
            ((Channel.STABLE,), 3, 3),
            ((Channel.NIGHTLY,), 0, 0),
        ],
    )
    def test_every_stable_release_is_run_and_of_nightlies_what_the_search_needs(self, channels, asked, gap):
        assert BisectRequest(case="identity", channels=channels, max_gap=asked).widest_gap == gap

    @pytest.mark.parametrize(
        ("channels", "clone"), [((Channel.COMMIT,), None), ((Channel.STABLE,), CLONE), ((Channel.NIGHTLY,), CLONE)]
    )
    def test_commits_and_a_clone_go_together(self, channels, clone):
        with pytest.raises(UsageError, match="commits and a clone go together"):
            BisectRequest(case="identity", channels=channels, clone=clone)

    def test_hunks_need_a_coarser_channel_before_them(self):
        with pytest.raises(UsageError, match="hunks lie between two releases"):
            BisectRequest(case="identity", channels=(Channel.HUNK,))
        assert BisectRequest(case="identity", channels=(Channel.STABLE, Channel.HUNK)).widest_gap == 0

    def test_commits_of_a_clone_pass(self):
        made = BisectRequest(case="identity", channels=(Channel.NIGHTLY, Channel.COMMIT), clone=CLONE)
        assert made.widest_gap is None


class TestVerify:
    @pytest.mark.parametrize(
        "way", [{"fixes": ("f",)}, {"patch": Path("p.diff")}, {"sweep_mapping": True}, {"fixed_in": "3.10.0"}]
    )
    def test_each_way_stands_alone(self, way):
        made = VerifyRequest(case="identity", **way)
        assert {name: getattr(made, name) for name in way} == way

    def test_fixes_go_together_with_each_other(self):
        made = VerifyRequest(case="identity", fixes=("f", "g"), patch=Path("p.diff"), sweep_mapping=True)
        assert (made.fixes, made.patch, made.sweep_mapping) == (("f", "g"), Path("p.diff"), True)

    @pytest.mark.parametrize(
        "way",
        [
            {},
            {"fixes": ("f",), "fixed_in": "3.10.0"},
            {"patch": Path("p.diff"), "fixed_in": "3.10.0"},
            {"sweep_mapping": True, "fixed_in": "3.10.0"},
        ],
    )
    def test_nothing_or_a_release_beside_a_fix_is_refused(self, way):
        with pytest.raises(UsageError, match="say what should be verified"):
            VerifyRequest(case="identity", **way)

    @pytest.mark.parametrize("text", ["commit:HEAD", "pr:21072", "4aae578b7f67"])
    def test_a_commit_needs_a_clone(self, text):
        with pytest.raises(UsageError, match="a commit needs a clone"):
            VerifyRequest(case="identity", fixed_in=text)
        assert VerifyRequest(case="identity", fixed_in=text, clone=CLONE).clone == CLONE

    @pytest.mark.parametrize("text", ["3.10.0", "nightly", "latest"])
    def test_a_release_needs_none(self, text):
        assert VerifyRequest(case="identity", fixed_in=text).fixed_in == text


class TestNightly:
    def test_without_days_it_is_tonight(self):
        made = NightlyRequest()
        assert (made.simulated, made.package, made.max_gap) == (False, "keras-nightly", WEEK)

    def test_with_both_days_it_is_a_replay(self):
        assert NightlyRequest(since="2024-11-18", until="2024-11-30").simulated

    @pytest.mark.parametrize("days", [{"since": "2024-11-18"}, {"until": "2024-11-18"}])
    def test_one_day_alone_is_refused(self, days):
        with pytest.raises(UsageError, match="a replay needs its nights"):
            NightlyRequest(**days)


EVERY = [kind for name, kind in vars(requests).items() if name.endswith("Request")]


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_every_field_is_described(kind):
    """Python users read what the help says on the command line."""
    described = "\n".join(each.__doc__ or "" for each in kind.__mro__)
    assert [f.name for f in fields(kind) if f"{f.name}: " not in described] == []


@pytest.mark.parametrize("kind", EVERY, ids=lambda kind: kind.__name__)
def test_a_request_is_frozen_and_has_no_positional_part(kind):
    with pytest.raises(TypeError, match="positional"):
        kind("identity")


def test_what_was_checked_stays_as_it_was():
    made = BisectRequest(case="identity")
    with pytest.raises(FrozenInstanceError):
        made.case = "other"  # type: ignore[misc]

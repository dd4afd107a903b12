"""What is asked for beside the package under test."""

from __future__ import annotations

import pytest

from harness.adapters.environments import companions as module
from harness.adapters.environments.companions import wanted
from harness.domain.errors import UsageError


def test_pins_lie_over_companions_and_the_package_under_test_is_none() -> None:
    made = wanted("toykeras", ["toynumpy<2", "toykeras"], ["ToyNumpy==1.0"], [])
    assert made.requirements == ("ToyNumpy==1.0",)
    with pytest.raises(UsageError, match="under test"):
        wanted("toykeras", [], ["toykeras==1"], [])


def test_the_stable_sibling_of_a_nightly_is_kept_out() -> None:
    assert wanted("keras-nightly", [], [], []).overrides == ('keras ; sys_platform == "never"',)
    assert wanted("keras", [], [], []).overrides == ()


class TestOtherFrameworks:
    """Builds for the CPU where there is no GPU, unless somebody says otherwise."""

    @pytest.fixture(autouse=True)
    def wheels(self, monkeypatch, tmp_path):
        for version in ("2.9.1+cpu", "2.13.0+cpu", "2.14.0"):
            (tmp_path / f"torch-{version}-cp311-cp311-linux_x86_64.whl").touch()
        monkeypatch.setenv("UV_FIND_LINKS", str(tmp_path))
        monkeypatch.setattr(module, "has_gpu", lambda: False)

    @pytest.mark.parametrize(
        ("asked", "taken"),
        [
            ("jax", "jax[cpu]"),
            ("jax<0.5", "jax[cpu]<0.5"),
            ("jax[cuda12]", "jax[cuda12]"),
            ("torch", "torch==2.13.0+cpu"),
            ("torch<2.10", "torch==2.9.1+cpu"),
            ("torch==2.13.0+cpu", "torch==2.13.0+cpu"),
            ("torch>=2.14", "torch>=2.14"),
        ],
    )
    def test_what_is_asked_for_and_what_is_taken(self, asked, taken):
        assert module.wanted("keras", [asked], [], []).requirements == (taken,)

    def test_with_a_gpu_nothing_is_changed(self, monkeypatch):
        monkeypatch.setattr(module, "has_gpu", lambda: True)
        assert module.wanted("keras", ["jax", "torch"], [], []).requirements == ("jax", "torch")

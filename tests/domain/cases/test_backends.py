"""Which backend a case runs with, and what follows for its companions and variables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.backends import Backend, frameworks_among, imported_frameworks, moved, named_in
from harness.domain.cases.case import Level
from tests.examples import case

REQUIREMENTS = st.lists(
    st.sampled_from(["tensorflow", "tensorflow-cpu==2.18.1", "jax[cpu]", "jax<0.5", "torch", "numpy<2", "h5py"])
)


@given(REQUIREMENTS, st.sampled_from(Backend))
def test_after_a_move_one_framework_is_there_and_all_else_stays(requirements: list[str], backend: Backend) -> None:
    new = moved(requirements, backend)
    assert frameworks_among(new) == (backend,)
    assert [r for r in new if not frameworks_among([r])] == [r for r in requirements if not frameworks_among([r])]
    assert moved(new, backend) == new


@given(REQUIREMENTS, st.sampled_from(Backend))
def test_what_is_kept_is_not_lost(requirements: list[str], backend: Backend) -> None:
    assert set(requirements) <= set(moved(requirements, backend, keep=Backend))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("import tensorflow as tf", [Backend.TENSORFLOW]),
        ("import numpy, jax.numpy as jnp", [Backend.JAX]),
        ("from torch.nn import Linear", [Backend.TORCH]),
        ("try:\n    import jax\nexcept ImportError:\n    pass", [Backend.JAX]),
        ("def f():\n    import tensorflow", []),
        ("if __name__ == '__main__':\n    import tensorflow", []),
        ("from . import torch", []),
        ("import tensorflow_probability", []),
        ("import (", []),
    ],
)
def test_what_a_case_imports_wherever_it_runs(code: str, found: list[Backend]) -> None:
    assert imported_frameworks(code) == tuple(found)


def test_a_backend_of_another_harness_is_none_of_ours() -> None:
    assert named_in({"KERAS_BACKEND": "openvino"}) is None
    assert named_in({}) is None


class TestCase:
    def test_its_companions_say_which_it_is(self) -> None:
        assert case(companions=("jax", "numpy")).keras_backend is Backend.JAX
        assert case(companions=("torch", "tensorflow")).keras_backend is Backend.TENSORFLOW
        assert case(companions=()).keras_backend is None
        assert case(companions=("tensorflow",), env={"KERAS_BACKEND": "jax"}).keras_backend is Backend.JAX

    def test_another_backend_changes_framework_and_question(self) -> None:
        plain = case(companions=("tensorflow==2.18.1", "numpy"))
        changed = plain.on(Backend.JAX)
        assert (changed.keras_backend, changed.companions) == (Backend.JAX, ("numpy", "jax"))
        assert changed.digest != plain.digest
        assert plain.on(Backend.TENSORFLOW) == plain.on(None) == plain
        assert changed.on(Backend.JAX) == changed

    def test_what_it_imports_itself_stays_beside(self) -> None:
        plain = case(text="import tensorflow", companions=("tensorflow",))
        changed = plain.on(Backend.TORCH)
        assert changed.companions == ("tensorflow", "torch")
        assert changed.foreign_frameworks == (Backend.TENSORFLOW,)
        assert plain.foreign_frameworks == ()

    def test_a_variable_may_name_the_backend(self) -> None:
        changed = case(companions=("tensorflow",)).on(None, {"KERAS_BACKEND": "jax", "A": "1"})
        assert (changed.keras_backend, changed.companions, changed.env["A"]) == (Backend.JAX, ("jax",), "1")

    def test_the_option_wins_over_the_variable_of_the_case(self) -> None:
        changed = case(companions=("jax",), env={"KERAS_BACKEND": "jax"}).on(Backend.TORCH)
        assert changed.trial_env == {"KERAS_BACKEND": "torch"}

    @pytest.mark.parametrize(
        ("level", "companions", "backend", "seen"),
        [
            (Level.MODEL, ("tensorflow",), None, "tensorflow"),
            (Level.SCRIPT, ("tensorflow", "jax"), None, None),
            (Level.SCRIPT, ("jax",), None, "jax"),
            (Level.SCRIPT, ("tensorflow", "jax"), Backend.JAX, "jax"),
            (Level.SCRIPT, (), None, None),
        ],
    )
    def test_a_script_chooses_for_itself_where_the_default_is_there(self, level, companions, backend, seen) -> None:
        made = case(level=level, companions=companions, backend=backend)
        assert made.trial_env.get("KERAS_BACKEND") == seen

    @pytest.mark.parametrize(
        ("package", "companions", "below"),
        [
            ("keras", ("tensorflow",), ("numpy", "tensorflow")),
            ("keras", ("torch",), ("torch",)),
            ("tensorflow-cpu", ("keras",), ("numpy",)),
            ("torch", (), ()),
            ("numpy", ("keras", "jax"), ()),
            ("numpy", (), ()),
            ("keras-tuner", ("tensorflow-cpu",), ("numpy", "tensorflow")),
        ],
    )
    def test_what_lies_below_the_package_under_test(self, package, companions, below) -> None:
        assert case(package=package, companions=companions).prerequisites == below

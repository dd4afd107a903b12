"""What is installed beside the package under test, and what is kept out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.releases.companions import Companions, Interpreter, Mode, Wanted
from harness.domain.releases.distributions import import_name
from harness.domain.releases.nightlies import NIGHTLIES


@pytest.mark.parametrize(("version", "minor"), [("3.11.7", "3.11"), ("3.10.0rc1", "3.10"), ("3.13", "3.13")])
def test_an_interpreter_is_named_by_its_minor_version(version: str, minor: str) -> None:
    assert Interpreter(version=version, path="/python").minor == minor


class TestOverrides:
    @pytest.mark.parametrize(
        ("package", "requirements", "kept_out"),
        [
            ("keras", ("tensorflow-cpu",), []),
            ("keras-nightly", ("tensorflow-cpu",), ["keras"]),
            ("Keras_Nightly", (), ["keras"]),
            ("tensorflow", ("keras",), []),
            ("tf-nightly", ("keras>=3",), ["tensorflow", "keras-nightly"]),
            ("tf-nightly-cpu", ("Keras==3.9.0", "numpy"), ["tensorflow", "keras-nightly"]),
            ("tf-nightly", ("numpy",), ["tensorflow"]),
        ],
    )
    def test_siblings_that_install_the_same_module_are_kept_out(
        self, package: str, requirements: tuple[str, ...], kept_out: list[str]
    ) -> None:
        made = Wanted(package=package, requirements=requirements).overrides
        assert made == tuple(f'{name} ; sys_platform == "never"' for name in kept_out)

    @given(st.sampled_from(sorted(NIGHTLIES.values())), st.sets(st.sampled_from(sorted(NIGHTLIES))))
    def test_no_companion_and_not_the_package_itself_is_kept_out(self, nightly: str, companions: set[str]) -> None:
        """An override of what somebody asks for would make every environment unsatisfiable."""
        beside = {name for name in companions if import_name(name) != import_name(nightly)}
        kept_out = {text.split(" ;")[0] for text in Wanted(package=nightly, requirements=tuple(beside)).overrides}
        assert kept_out.isdisjoint({nightly, *beside})


@given(st.lists(st.text()), st.lists(st.text()))
def test_data_packages_are_shared_as_well(lock: list[str], data: list[str]) -> None:
    """What an environment is made of and what its report lists are the same lines."""
    made = Companions(
        wanted=Wanted(package="keras", requirements=()),
        mode=Mode.FIXED,
        interpreter=Interpreter(version="3.11.7", path="/python"),
        lock=tuple(lock),
        data_lock=tuple(data),
    )
    assert made.shared == (*lock, *data)

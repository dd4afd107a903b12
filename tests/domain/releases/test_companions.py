"""What is pinned beside the package under test."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.releases.companions import Companions, Interpreter, Mode, Wanted, exact, name_of, pin_of, version_of
from harness.domain.releases.release import Channel, Release

PYTHON = Interpreter(version="3.11.7", path="/usr/bin/python3.11")


def never(*names: str) -> tuple[str, ...]:
    return tuple(f'{name} ; sys_platform == "never"' for name in names)


class TestOverrides:
    @pytest.mark.parametrize(
        ("package", "requirements", "kept_out"),
        [
            ("keras", ("tensorflow",), ()),
            ("keras-nightly", ("tensorflow",), never("keras")),
            ("Keras_Nightly", ("tensorflow",), never("keras")),
            ("tf-keras", ("tensorflow",), ()),
            ("tensorflow", ("keras",), ()),
            ("tensorflow-cpu", ("numpy",), never("tensorflow")),
            ("tensorflow-cpu", ("keras==3.9.2",), never("tensorflow", "keras-nightly")),
            ("tf-nightly", ("numpy",), never("tensorflow")),
            ("tf-nightly", ("keras==3.9.2",), never("tensorflow", "keras-nightly")),
        ],
    )
    def test_siblings_that_install_the_same_module_are_kept_out(
        self, package: str, requirements: tuple[str, ...], kept_out: tuple[str, ...]
    ) -> None:
        """No file of an environment may belong to two distributions."""
        assert Wanted(package=package, requirements=requirements).overrides == kept_out

    def test_those_of_the_user_and_of_the_package_under_test(self) -> None:
        wanted = Wanted(package="protobuf", requirements=(), laid_aside=("numpy==1.26.4", "protobuf"))
        release = Release(package="protobuf", version="6.31.1")
        assert wanted.overrides_for(release) == ("numpy==1.26.4", "protobuf===6.31.1")
        assert Wanted(package="protobuf", requirements=()).overrides_for(release) == ()

    def test_a_commit_stands_in_for_its_release(self) -> None:
        commit = Release(package="keras", version="c0ffee", channel=Channel.COMMIT, source="git+file:///k@c0ffee")
        assert Wanted(package="keras", requirements=()).overrides_for(commit) == ("keras @ git+file:///k@c0ffee",)

    def test_extras_are_installed_with_the_release(self) -> None:
        release = Release(package="jax", version="0.4.24")
        assert Wanted(package="jax", requirements=(), extras=("cpu",)).installs(release) == "jax[cpu]===0.4.24"
        assert Wanted(package="jax", requirements=()).installs(release) == "jax===0.4.24"

    def test_interpreters_that_the_case_takes(self) -> None:
        assert Wanted(package="jax", requirements=(), requires_python="<3.11").accepts_python("3.10.13")
        assert not Wanted(package="jax", requirements=(), requires_python="<3.11").accepts_python("3.11.7")
        assert Wanted(package="jax", requirements=()).accepts_python("3.11.7")


class TestCompanions:
    MADE = Companions(
        wanted=Wanted(package="keras", requirements=("numpy",)),
        mode=Mode.FIXED,
        interpreter=PYTHON,
        lock=("numpy==2.0.2 --hash=sha256:aa --hash=sha256:bb", "absl-py==2.1.0 --hash=sha256:cc"),
        data_lock=("mlxtend==0.23.4 --hash=sha256:dd",),
    )

    def test_what_is_shared_is_both_locks(self) -> None:
        assert self.MADE.shared == (*self.MADE.lock, *self.MADE.data_lock)

    def test_what_is_pinned_has_no_hashes(self) -> None:
        assert self.MADE.pinned == ("numpy==2.0.2", "absl-py==2.1.0", "mlxtend==0.23.4")

    def test_as_of_mode_shares_nothing(self) -> None:
        made = Companions(wanted=self.MADE.wanted, mode=Mode.AS_OF, interpreter=PYTHON)
        assert (made.shared, made.pinned, made.takes, made.boundary) == ((), (), 0, "")


class TestLines:
    @given(st.lists(st.text("0123456789abcdef", min_size=1), max_size=4))
    def test_the_pin_is_what_stands_before_the_hashes(self, hashes: list[str]) -> None:
        """However many files a release has, its line pins one version."""
        line = " ".join(["Absl_Py==2.1.0", *(f"--hash=sha256:{text}" for text in hashes)])
        assert (pin_of(line), name_of(line)) == ("Absl_Py==2.1.0", "absl-py")

    def test_a_marker_and_an_address_stay_in_the_pin(self) -> None:
        assert pin_of('numpy==2.0.2 ; python_version > "3" --hash=sha256:aa') == 'numpy==2.0.2 ; python_version > "3"'
        assert name_of("keras @ git+https://example.org/keras@main") == "keras"


@pytest.mark.parametrize(("version", "minor"), [("3.11.7", "3.11"), ("3.9.19", "3.9"), ("3.14.0rc1", "3.14")])
def test_an_interpreter_is_known_by_its_minor_version(version: str, minor: str) -> None:
    assert Interpreter(version=version, path="/python").minor == minor


def test_the_words_of_the_modes_are_those_of_the_command_line() -> None:
    assert [mode.value for mode in Mode] == ["fixed", "as-of"]


EXACT = {
    "a==1.1": "a===1.1",
    "a==1.1+cu12 --hash=sha256:0": "a===1.1+cu12 --hash=sha256:0",
    "tensorflow[and-cuda]==2.18.1 ; python_version > '3'": "tensorflow[and-cuda]===2.18.1 ; python_version > '3'",
    "a==1!2.0.post1": "a===1!2.0.post1",
    "a===1": "a===1",
    "a>=1": "a>=1",
    "a @ git+file:///x@1==2": "a @ git+file:///x@1==2",
}


@pytest.mark.parametrize(("line", "expected"), EXACT.items())
def test_a_pinned_line_is_made_exact(line: str, expected: str) -> None:
    assert exact(line) == expected


def test_the_version_of_a_locked_line() -> None:
    assert version_of("Toy_Keras==1.1+cu12 --hash=sha256:0", "toy-keras") == "1.1+cu12"
    assert version_of("other==1.1", "toykeras") is None
    assert version_of("toykeras @ file:///x", "toykeras") is None


def test_what_is_asked_for_by_name_and_by_the_name_that_others_require():
    wanted = Wanted(package="keras", requirements=("tensorflow-cpu", "Num_Py<2"))
    assert wanted.names == {"tensorflow-cpu", "tensorflow", "num-py"}

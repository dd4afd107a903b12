from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.adapters.index.settings import ADDRESS_VARIABLES
from harness.adapters.processes import child_env
from harness.adapters.processes.child_env import case_settings, for_installer, for_trial

USERS = (
    "PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP", "PYTHONDONTWRITEBYTECODE", "PIP_INDEX_URL", "PIP_NO_DEPS", "UV_INDEX",
    "UV_CACHE_DIR", "VIRTUAL_ENV", "CONDA_PREFIX", "KERAS_HOME", "KERAS_BACKEND", "TF_XLA_FLAGS", "TF_CPP_VMODULE",
    "XLA_FLAGS", "NVIDIA_TF32_OVERRIDE", "OMP_NUM_THREADS", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN",
)  # fmt: skip


def test_a_trial_inherits_nothing_that_changes_what_a_model_computes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in USERS:
        monkeypatch.setenv(name, "the user's")
    made = for_trial(tmp_path)
    assert "the user's" not in made.values()
    assert made["PATH"] == os.environ["PATH"]


def test_a_trial_has_folders_of_its_own(tmp_path: Path) -> None:
    made = for_trial(tmp_path)
    own = [Path(made[name]) for name in ("HOME", "TMPDIR", "XDG_CACHE_HOME")]
    assert len(set(own)) == 3
    assert all(folder.is_dir() and folder.parent == tmp_path for folder in own)


def test_settings_of_cases_reach_them_and_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_MNIST", "full")
    assert for_trial(tmp_path)["HARNESS_MNIST"] == "full"
    assert case_settings() == {"HARNESS_MNIST": "full"}


CHANGING = (
    "UV_RESOLUTION", "UV_PRERELEASE", "UV_CONSTRAINT", "UV_OVERRIDE", "UV_NO_VERIFY_HASHES", "UV_PYTHON",
    "UV_NO_BINARY", "UV_EXCLUDE_NEWER", "UV_SYSTEM_PYTHON", "UV_CONFIG_FILE", "VIRTUAL_ENV", "PYTHONPATH", "NOX_ENVDIR",
    "NOXSESSION", "PIP_INDEX_URL", "GIT_DIR",
)  # fmt: skip
REACHING = (
    "UV_CACHE_DIR",
    "UV_INDEX_PRIVATE_PASSWORD",
    "UV_HTTP_TIMEOUT",
    "UV_NATIVE_TLS",
    "SSL_CERT_FILE",
    "HTTPS_PROXY",
)


def test_the_installer_learns_where_the_index_is_and_nothing_that_changes_the_packages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (*CHANGING, *REACHING):
        monkeypatch.setenv(name, "the user's")
    monkeypatch.setenv("HARNESS_INDEX_URL", "http://mine/simple")
    monkeypatch.setenv("UV_INDEX_URL", "http://old/simple")
    made = for_installer({"EXTRA": "1"})
    assert {name for name in made if made[name] == "the user's"} == set(REACHING)
    assert made["UV_DEFAULT_INDEX"] == "http://mine/simple"
    assert "UV_INDEX_URL" not in made
    assert made["EXTRA"] == "1"


def test_how_files_come_into_an_environment_is_not_the_user_s_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UV_LINK_MODE", "symlink")
    assert "UV_LINK_MODE" not in for_installer()


class TestBesideTheIndex:
    """Wheels that the user keeps, and builds of torch without CUDA where nobody said otherwise."""

    @pytest.fixture(autouse=True)
    def plain(self, monkeypatch):
        for name in ("UV_FIND_LINKS", "PIP_FIND_LINKS", "UV_TORCH_BACKEND", *ADDRESS_VARIABLES):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("UV_NO_CONFIG", "1")
        monkeypatch.setattr(child_env, "has_gpu", lambda: False)

    def test_without_a_gpu_uv_takes_torch_from_its_own_index(self, monkeypatch):
        assert for_installer()["UV_TORCH_BACKEND"] == "cpu"
        monkeypatch.setattr(child_env, "has_gpu", lambda: True)
        assert "UV_TORCH_BACKEND" not in for_installer()

    def test_who_has_an_index_or_wheels_is_not_overruled(self, monkeypatch, tmp_path):
        monkeypatch.setenv("UV_DEFAULT_INDEX", "https://example.org/simple")
        assert "UV_TORCH_BACKEND" not in for_installer()
        monkeypatch.setenv("UV_TORCH_BACKEND", "cu128")
        assert for_installer()["UV_TORCH_BACKEND"] == "cu128"
        monkeypatch.delenv("UV_DEFAULT_INDEX")
        monkeypatch.delenv("UV_TORCH_BACKEND")
        (tmp_path / "torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl").touch()
        monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
        assert "UV_TORCH_BACKEND" not in for_installer()
        assert for_installer()["UV_FIND_LINKS"] == str(tmp_path)


def test_what_the_case_sets_wins(tmp_path):
    assert for_trial(tmp_path, {"PYTHONHASHSEED": "1", "OWN": "x"})["PYTHONHASHSEED"] == "1"

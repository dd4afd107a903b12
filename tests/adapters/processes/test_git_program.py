"""The command line and the environment that every call of git has."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.adapters.processes.git_program import for_git, for_trusted_folders, git_command
from harness.adapters.processes.process import Processes


def asked(processes: Processes, folder: Path, key: str, clone: Path | None = None) -> str:
    """What git takes a setting for."""
    ended = processes.run(
        git_command("config", "--get", key, clone=clone),
        log=folder / "log", env=for_git(folder), cwd=folder, deadline_seconds=60,
    )  # fmt: skip
    return ended.log.read_text().strip()


def test_no_setting_of_the_user_is_read(tmp_path: Path, processes: Processes, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / ".gitconfig").write_text("[user]\n\tname = somebody\n[apply]\n\twhitespace = error-all\n")
    monkeypatch.setenv("HOME", str(tmp_path / "own"))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "user.name")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "somebody")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    assert asked(processes, scratch, "user.name") == ""
    assert asked(processes, scratch, "apply.whitespace") == "nowarn"


def test_ours_stand_above_those_of_a_clone(tmp_path: Path, processes: Processes) -> None:
    (tmp_path / "log").unlink(missing_ok=True)
    processes.run(
        git_command("init", "-q", "clone"),
        log=tmp_path / "init", env=for_git(tmp_path), cwd=tmp_path, deadline_seconds=60,
    )  # fmt: skip
    clone = tmp_path / "clone"
    (clone / ".git" / "config").open("a").write("[core]\n\tfsmonitor = /bin/evil\n[include]\n\tpath = more\n")
    (clone / ".git" / "more").write_text("[gpg]\n\tprogram = /bin/evil\n")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    for key in ("core.fsmonitor", "gpg.program"):
        assert asked(processes, scratch, key, clone).splitlines()[-1] == "false"


def test_no_secret_and_no_address_is_handed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("UV_DEFAULT_INDEX", "GITHUB_TOKEN", "HTTPS_PROXY", "GIT_SSH_COMMAND", "GIT_EXTERNAL_DIFF", "GIT_DIR"):
        monkeypatch.setenv(name, "secret-value")
    assert "secret-value" not in for_git(tmp_path).values()
    assert "secret-value" not in for_trusted_folders(tmp_path).values()
    assert for_git(tmp_path)["PATH"] == os.environ["PATH"]


def test_folders_that_the_user_trusts_are_named() -> None:
    words = git_command("log", clone=Path("/clone"), trusted=["/clone"])
    assert words[words.index("safe.directory=/clone") - 1] == "-c"
    assert words[-1] == "log"

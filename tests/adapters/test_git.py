"""Commits of a clone as releases, from tiny real repositories."""

from __future__ import annotations

import os
import subprocess
from datetime import datetime, timezone
from pathlib import Path

import pytest

from harness.adapters.git import Clone
from harness.adapters.processes.process import Processes
from harness.adapters.storage.home import Home
from harness.domain.errors import UsageError
from harness.domain.releases.release import Channel

MOMENT = 1_735_689_600  # 2025-01-01


class Repository:
    """A real repository, written at a fixed time and without the user's settings."""

    def __init__(self, clone: Path) -> None:
        self.clone = clone
        fixed = f"{MOMENT} +0000"
        self._environment = {"GIT_AUTHOR_DATE": fixed, "GIT_COMMITTER_DATE": fixed, "HOME": str(clone.parent)}

    def __call__(self, *words: str) -> str:
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        command = ["git", "-C", str(self.clone), *who, *words]
        environment = {**os.environ, **self._environment}
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()


@pytest.fixture
def run(tmp_path):
    """Two commits in a folder with a space in its name."""
    clone = tmp_path / "my clone"
    clone.mkdir()
    git = Repository(clone)
    git("init", "-q", "-b", "main")
    for number in range(2):
        (clone / "file").write_text(str(number))
        git("add", "-A")
        git("commit", "-q", "-m", f"commit {number}")
    return git


@pytest.fixture
def find(run, tmp_path):
    home = Home(tmp_path / "home")
    return lambda wanted, clone=None: Clone(clone or run.clone, "keras", Processes(), home).commit(wanted)


class TestWhatIsFound:
    def test_a_commit_by_its_hash_or_the_beginning_of_it(self, run, find):
        head = run("rev-parse", "HEAD")
        for wanted in (head, head[:8], f"commit:{head}", "commit:HEAD", "commit:main"):
            assert find(wanted).version == head
        assert find("commit:HEAD~1").version == run("rev-parse", "HEAD~1")

    def test_it_is_a_release_that_is_installed_from_the_clone(self, run, find):
        found = find("commit:HEAD")
        assert (found.package, found.channel) == ("keras", Channel.COMMIT)
        assert found.released == datetime.fromtimestamp(MOMENT, tz=timezone.utc)
        assert found.source == f"git+{run.clone.as_uri()}@{found.version}"
        assert " " not in found.requirement.partition("@")[2].strip()

    def test_a_tag_means_its_commit(self, run, find):
        run("tag", "-a", "v1", "-m", "a tag of its own", "HEAD~1")
        assert find("commit:v1").version == run("rev-parse", "HEAD~1")

    @pytest.mark.parametrize("ref", ["refs/pull/7/head", "refs/remotes/origin/pr/7", "refs/heads/pr/7"])
    def test_a_pull_request_as_people_fetch_them(self, run, find, ref):
        run("update-ref", ref, "HEAD~1")
        assert find("pr:7").version == run("rev-parse", "HEAD~1")

    def test_a_relative_path_is_relative_to_the_user(self, run, find, monkeypatch):
        monkeypatch.chdir(run.clone.parent)
        assert find("commit:HEAD", Path(run.clone.name)).source == find("commit:HEAD").source

    def test_warnings_of_git_are_not_taken_for_the_answer(self, run, find):
        run("tag", "main", "HEAD~1")
        assert find("commit:main").version in (run("rev-parse", "HEAD"), run("rev-parse", "HEAD~1"))


class TestWhatIsNot:
    @pytest.mark.parametrize(
        "wanted", ["commit:nowhere", "0123456789abcdef", "commit:HEAD:file", "commit:main..main", "commit:"]
    )
    def test_no_such_commit(self, find, wanted):
        with pytest.raises(UsageError, match="the clone has no ") as caught:
            find(wanted)
        assert caught.value.hint == "git fetch, or give another REF"

    @pytest.mark.parametrize("wanted", ["commit:--output=x", "commit:-h", "commit:$(id)", "commit:a b", "pr:../../x"])
    def test_a_reference_is_never_an_option(self, find, wanted, run):
        with pytest.raises(UsageError):
            find(wanted)
        assert sorted(path.name for path in run.clone.iterdir()) == [".git", "file"]

    def test_a_pull_request_that_was_not_fetched(self, find):
        with pytest.raises(UsageError) as caught:
            find("pr:21072")
        assert caught.value.hint == "git fetch origin pull/21072/head:pr/21072"

    def test_a_blob_is_no_commit(self, run, find):
        with pytest.raises(UsageError):
            find(run("rev-parse", "HEAD:file"))

    @pytest.mark.parametrize("kind", ["empty", "missing", "file"])
    def test_a_folder_that_is_no_clone(self, find, tmp_path, kind):
        folder = tmp_path / kind
        if kind == "empty":
            folder.mkdir()
        elif kind == "file":
            folder.write_text("")
        with pytest.raises(UsageError) as caught:
            find("commit:HEAD", folder)
        assert caught.value.where == str(folder)

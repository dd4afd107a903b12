"""Commits of a clone as releases, from tiny real repositories."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path

import pytest

from harness.adapters.environments.resolver import Resolver, uv_program
from harness.adapters.git import Clone
from harness.adapters.processes.process import Processes
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError, UsageError
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


@pytest.fixture
def long(tmp_path):
    """Six commits, with a merge in between, and a clone of them over the file protocol."""
    folder = tmp_path / "long"
    folder.mkdir()
    git = Repository(folder)
    git("init", "-q", "-b", "main")
    git("config", "uploadpack.allowFilter", "true")
    for number in range(6):
        (folder / "file").write_text(f"{number}\n" * 50)
        git("add", "-A")
        git("commit", "-q", "-m", f"commit {number}")
    return git


@pytest.fixture
def clone_of(tmp_path):
    home = Home(tmp_path / "home")
    return lambda folder, seconds=60.0: Clone(folder, "keras", Processes(), home, seconds)


def object_of(git: Repository, name: str) -> Path:
    """The file of a loose object."""
    found = git("rev-parse", name)
    return git.clone / ".git" / "objects" / found[:2] / found[2:]


class TestWhatFails:
    """A failing git is said to have failed: a range never shrinks to what could be read of it."""

    def test_the_whole_range(self, long, clone_of):
        found = clone_of(long.clone).timeline("HEAD~5", "HEAD")
        assert [r.title for r in found.releases] == [f"commit {n}" for n in range(6)]
        assert found.releases[-1].changes == ("file +50 -50",)

    @pytest.mark.parametrize("what", ["HEAD~2", "HEAD~2^{tree}", "HEAD~2:file"])
    @pytest.mark.parametrize("how", ["corrupt", "missing"])
    def test_a_damaged_object_inside_the_range(self, long, clone_of, what, how):
        path, first = object_of(long, what), long("rev-parse", "HEAD~5")
        path.chmod(0o644)
        path.unlink() if how == "missing" else path.write_bytes(b"garbage")
        with pytest.raises(InfrastructureError, match="git cannot read the clone") as caught:
            clone_of(long.clone).timeline(first, "HEAD")
        assert caught.value.where == str(long.clone)
        assert "fsck" in str(caught.value.hint)

    def test_a_branch_whose_commit_is_missing_is_damage_and_no_wrong_question(self, long, clone_of):
        object_of(long, "HEAD").unlink()
        with pytest.raises(InfrastructureError, match="git cannot read the clone: main names"):
            clone_of(long.clone).commit("main")

    def test_a_git_that_is_not_done_in_time(self, long, clone_of, tmp_path, monkeypatch):
        slow = tmp_path / "bin" / "git"
        slow.parent.mkdir()
        real = shutil.which("git")
        slow.write_text(f'#!/bin/sh\ncase "$*" in *numstat*) sleep 60;; esac\nexec {real} "$@"\n')
        slow.chmod(0o755)
        monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
        with pytest.raises(InfrastructureError, match="git log was not done after 2 s"):
            clone_of(long.clone, 2.0).timeline("HEAD~5", "HEAD")

    def test_a_git_that_is_killed(self, long, clone_of, tmp_path, monkeypatch):
        killed = tmp_path / "bin" / "git"
        killed.parent.mkdir()
        real = shutil.which("git")
        killed.write_text(f'#!/bin/sh\ncase "$*" in *numstat*) kill -9 $$;; esac\nexec {real} "$@"\n')
        killed.chmod(0o755)
        monkeypatch.setenv("PATH", f"{killed.parent}{os.pathsep}{os.environ['PATH']}")
        with pytest.raises(InfrastructureError):
            clone_of(long.clone).timeline("HEAD~5", "HEAD")

    def test_a_clone_without_the_files_of_its_commits(self, long, clone_of, tmp_path):
        partial = tmp_path / "partial"
        long("clone", "-q", "--no-checkout", "--filter=blob:none", long.clone.as_uri(), str(partial))
        with pytest.raises(UsageError, match="the clone is partial") as caught:
            clone_of(partial).timeline("HEAD~5", "HEAD")
        git = Repository(partial)
        git(*str(caught.value.hint).partition(",")[0].split()[3:])  # what it says to try
        assert len(clone_of(partial).timeline("HEAD~5", "HEAD").releases) == 6

    def test_a_shallow_clone_that_ends_inside_the_range(self, long, clone_of, tmp_path):
        long("checkout", "-q", "-b", "side", "HEAD~4")
        long("commit", "-q", "--allow-empty", "-m", "side")
        long("checkout", "-q", "main")
        long("merge", "-q", "--no-ff", "-m", "merge", "side")
        shallow = tmp_path / "shallow"
        long("clone", "-q", "--depth", "3", long.clone.as_uri(), str(shallow))
        with pytest.raises(UsageError, match="the clone is shallow: its history ends inside the range") as caught:
            clone_of(shallow).timeline("HEAD^2~1", "HEAD")
        assert "--unshallow" in str(caught.value.hint)

    def test_what_a_shallow_clone_lacks_and_what_it_has(self, long, clone_of, tmp_path):
        shallow = tmp_path / "shallow"
        long("clone", "-q", "--depth", "3", long.clone.as_uri(), str(shallow))
        with pytest.raises(UsageError, match="the clone has no HEAD~5") as caught:
            clone_of(shallow).timeline("HEAD~5", "HEAD")
        assert "--unshallow" in str(caught.value.hint)
        assert len(clone_of(shallow).timeline("HEAD~2", "HEAD").releases) == 3

    def test_a_hash_that_begins_several_objects(self, long, clone_of):
        names = long("rev-list", "--objects", "--all").split()
        for number in range(400):
            (long.clone / "many").write_text(str(number))
            names.append(long("hash-object", "-w", "many"))
        starts = [name[:4] for name in names]
        twice = next(start for start in starts if starts.count(start) > 1)
        with pytest.raises(UsageError):
            clone_of(long.clone).commit(twice)

    @pytest.mark.skipif(os.geteuid() != 0, reason="a folder can be given away by root only")
    def test_a_clone_of_another_user(self, long, clone_of, tmp_path, monkeypatch):
        os.chown(long.clone, 12345, 12345)
        os.chown(long.clone / ".git", 12345, 12345)
        with pytest.raises(UsageError, match="the clone belongs to another user"):
            clone_of(long.clone).commit("HEAD")
        own = tmp_path / "own"
        own.mkdir()
        (own / ".gitconfig").write_text(f"[safe]\n\tdirectory = {long.clone}\n")
        monkeypatch.setenv("HOME", str(own))
        assert clone_of(long.clone).commit("HEAD").title == "commit 5"

    def test_a_patch_that_cannot_be_written_leaves_nothing(self, long, clone_of, tmp_path):
        path = object_of(long, "HEAD:file")
        path.chmod(0o644)
        path.write_bytes(b"garbage")
        with pytest.raises(InfrastructureError, match="git cannot read the clone"):
            clone_of(long.clone).save_patch(long("rev-parse", "HEAD"), tmp_path / "kept")
        assert list((tmp_path / "kept").iterdir()) == []


class TestWhatAStrangersCloneRuns:
    """Whatever program a clone's settings name, none of them is run."""

    @pytest.fixture
    def hostile(self, long, tmp_path):
        """Each way in which a clone can name a program, each with a mark of its own."""
        seen = tmp_path / "seen"
        seen.mkdir()

        def program(name: str) -> str:
            path = tmp_path / f"run-{name}"
            path.write_text(f'#!/bin/sh\ntouch {seen}/{name}\nenv > {seen}/{name}\ncat "$1" 2>/dev/null\nexit 0\n')
            path.chmod(0o755)
            return str(path)

        (long.clone / ".gitattributes").write_text("* diff=evil filter=evil\n")
        (long.clone / "file").write_text("changed\n")
        (long.clone / "pyproject.toml").write_text(
            '[build-system]\nrequires = []\nbuild-backend = "b"\nbackend-path = ["."]\n'
            '[project]\nname = "toy"\nversion = "1.0"\n'
        )
        long("add", "-A")
        tree, parent = long("write-tree"), long("rev-parse", "HEAD")
        signed = (
            f"tree {tree}\nparent {parent}\nauthor x <x@example.org> {MOMENT} +0000\n"
            f"committer x <x@example.org> {MOMENT} +0000\n"
            "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ\n -----END PGP SIGNATURE-----\n\nsigned\n"
        )
        (tmp_path / "signed").write_text(signed)
        commit = long("hash-object", "-t", "commit", "-w", str(tmp_path / "signed"))
        long("update-ref", "refs/heads/main", commit)
        names = {
            "gpg.program": "gpg", "gpg.openpgp.program": "openpgp", "diff.evil.textconv": "textconv",
            "diff.evil.command": "command", "diff.external": "external", "filter.evil.clean": "clean",
            "filter.evil.smudge": "smudge", "filter.evil.process": "process", "core.fsmonitor": "fsmonitor",
            "core.pager": "pager", "pager.log": "pagerlog", "core.sshCommand": "ssh", "core.gitProxy": "proxy",
            "credential.helper": "helper", "core.askPass": "askpass", "core.editor": "editor",
            "core.alternateRefsCommand": "alternates", "uploadpack.packObjectsHook": "packobjects",
            "remote.origin.uploadpack": "uploadpack", "alias.log": "alias", "alias.rev-parse": "aliasrev",
        }  # fmt: skip
        for key, name in names.items():
            long("config", key, f"!{program(name)}" if key.startswith("alias") else program(name))
        hooks = tmp_path / "hooks"
        hooks.mkdir()
        for name in ("post-checkout", "reference-transaction", "post-index-change", "pre-auto-gc"):
            shutil.copy(program(name), hooks / name)
        for key, value in {
            "core.hooksPath": str(hooks), "log.showSignature": "true", "protocol.ext.allow": "always",
            "remote.origin.url": "ext::" + program("ext"), "remote.origin.promisor": "true",
            "remote.origin.partialclonefilter": "blob:none",
        }.items():  # fmt: skip
            long("config", key, value)
        return long, seen

    def test_the_settings_do_run_programs_where_nobody_forbids_it(self, hostile):
        git, seen = hostile
        for key in ("remote.origin.promisor", "remote.origin.partialclonefilter", "filter.evil.process"):
            git("config", "--unset-all", key)  # git would end with the first of them
        for words in (["log", "-1", "-p", "--ext-diff"], ["show", "--no-ext-diff"], ["status"]):
            with contextlib.suppress(subprocess.CalledProcessError):
                git(*words)
        assert {"openpgp", "command", "textconv", "fsmonitor"} <= {path.name for path in seen.iterdir()}

    def test_none_of_them_is_run_here(self, hostile, clone_of, tmp_path, monkeypatch):
        git, seen = hostile
        monkeypatch.setenv("UV_DEFAULT_INDEX", "https://user:password@example.org/simple")
        monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(tmp_path / "run-external"))
        monkeypatch.setenv("GIT_CONFIG_PARAMETERS", "'log.showSignature=true'")
        clone = clone_of(git.clone)
        assert clone.commit("HEAD").title == "signed"
        assert len(clone.timeline("HEAD~6", "HEAD").releases) == 7
        patch = clone.save_patch(git("rev-parse", "refs/heads/main"), tmp_path / "kept").read_text()
        assert "+changed" in patch.splitlines()
        clone.commit_at(datetime(2026, 1, 1, tzinfo=timezone.utc))
        git_file = object_of(git, "HEAD~3:file")
        git_file.unlink()  # would be fetched
        with pytest.raises((UsageError, InfrastructureError)):
            clone.timeline("HEAD~6", "HEAD")
        assert [path.name for path in seen.iterdir()] == []

    def test_none_of_them_is_run_when_uv_fetches_from_the_clone(self, hostile, home, tmp_path):
        """uv runs git with the settings of the user, in a repository of its own, and asks the clone for its objects."""
        git, seen = hostile
        commit = git("rev-parse", "refs/heads/main")
        for mark in seen.iterdir():
            mark.unlink()
        locked = Resolver(Processes(), home, uv_program()).lock(
            [f"toy @ git+{git.clone.as_uri()}@{commit}"], python=sys.executable
        )
        assert commit in locked[0]
        assert [path.name for path in seen.iterdir()] == []

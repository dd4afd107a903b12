"""Where fixes come from, and that a patch touches nothing but a copy."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from harness.adapters.processes.process import Processes
from harness.adapters.trials import fixes
from harness.adapters.trials.fixes import (
    KEYS,
    VALUES,
    Patched,
    find,
    known_fixes,
    mapping_sweep,
    patch,
    patched_tree,
)
from harness.domain.errors import InfrastructureError, UsageError

FIX = 'def apply():\n    return "applied"\n'


def written(folder, name="mine.py", text=FIX):
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


class TestFind:
    def test_named_fixes_are_modules_of_the_probe(self):
        assert set(known_fixes()) >= {"aggregation-sum-to-none", "metrics-on-read", "no-aggregation"}
        for name, path in known_fixes().items():
            found = find(name)
            assert (found.name, found.path, found.patches_files) == (name, str(path), False)

    def test_the_machinery_beside_them_is_no_fix(self):
        assert not {"mapping", "--init--", "__init__"} & set(known_fixes())

    def test_near_names_are_offered(self):
        with pytest.raises(UsageError, match="unknown fix 'metric-on-read'") as caught:
            find("metric-on-read")
        assert caught.value.hint == "did you mean metrics-on-read?"

    def test_far_names_are_answered_with_the_list(self):
        with pytest.raises(UsageError) as caught:
            find("qwertz")
        assert caught.value.hint is not None
        assert "known fixes: aggregation-sum-to-none" in caught.value.hint

    def test_a_file(self, tmp_path, monkeypatch):
        path = written(tmp_path)
        monkeypatch.chdir(tmp_path)
        for given in (str(path), "mine.py", "./mine.py"):
            assert find(given).path == str(path)
            assert find(given).name == "mine"

    @pytest.mark.parametrize("name", ["gone.py", "gone/fix", "."])
    def test_no_such_file(self, tmp_path, monkeypatch, name):
        monkeypatch.chdir(tmp_path)
        with pytest.raises(UsageError):
            find(name)

    @pytest.mark.parametrize(
        "text",
        [
            FIX,
            "from elsewhere import apply\n",
            "import elsewhere as apply\n",
            "def patch():\n    pass\n\napply = patch\n",
        ],
    )
    def test_apply_may_come_from_anywhere(self, tmp_path, text):
        assert find(str(written(tmp_path, text=text))).name == "mine"

    @pytest.mark.parametrize(
        ("text", "what"),
        [
            ("", "the fix has no function apply()"),
            ("def other():\n    def apply():\n        pass\n", "the fix has no function apply()"),
            ("x[apply] = 3\n", "the fix has no function apply()"),
            ("def apply(:\n", "the fix is not Python"),
            ("\x00", "the fix is not Python"),
        ],
    )
    def test_a_file_that_is_no_fix_is_found_before_anything_is_built(self, tmp_path, text, what):
        with pytest.raises(UsageError) as caught:
            find(str(written(tmp_path, text=text)))
        assert caught.value.what.startswith(what)
        assert caught.value.where is not None
        assert caught.value.hint

    def test_a_file_that_is_no_text(self, tmp_path):
        path = tmp_path / "mine.py"
        path.write_bytes(b"\xff\xfe\x00")
        with pytest.raises(UsageError, match="the fix is not Python"):
            find(str(path))


class TestDigest:
    def test_it_follows_the_text_and_the_options(self, tmp_path):
        path = written(tmp_path)
        before = find(str(path)).digest
        written(tmp_path, text=FIX + "# changed\n")
        assert find(str(path)).digest != before
        assert len({fix.digest for fix in mapping_sweep()}) == len(mapping_sweep())


class TestSweep:
    def test_one_key_at_a_time_to_each_other_value(self):
        found = mapping_sweep()
        assert len(found) == len(KEYS) * (len(VALUES) - 1)
        assert len({fix.name for fix in found}) == len(found)
        assert {fix.path for fix in found} == {str(fixes.MAPPING)}
        assert dict(found[0].options) == {"key": "none", "value": "SUM"}
        assert not [fix for fix in found if fix.options["key"].upper() == fix.options["value"]]


class TestPatch:
    def test_a_missing_file(self, tmp_path):
        with pytest.raises(UsageError, match="there is no such patch file"):
            patch(tmp_path / "gone.diff")

    def test_the_name_is_that_of_the_file(self, tmp_path):
        found = patch(written(tmp_path, "my.diff", ""))
        assert (found.name, found.patches_files) == ("my.diff", True)


@pytest.fixture
def environment(tmp_path):
    """An installed toy package and its fingerprint."""
    package = tmp_path / "site-packages" / "toy"
    (package / "src").mkdir(parents=True)
    (package / "__init__.py").write_text("from toy.src.core import value\n")
    (package / "src" / "core.py").write_text("def value():\n    return 'broken'\n")
    return package


def fingerprint(folder: Path) -> dict[str, str]:
    return {str(p): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()}


def difference(folder: Path, edits: dict[str, str]) -> str:
    """What `git diff` says of a repository in which these files are changed."""
    repository = folder / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    for name in edits:
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
    base = {"toy/src/core.py": "def value():\n    return 'broken'\n"}
    for name, text in base.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text)
    run = ["git", "-C", str(repository), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run([*run, "add", "-A"], check=True)
    subprocess.run([*run, "commit", "-q", "-m", "base"], check=True)
    for name, new in edits.items():
        (repository / name).write_text(new)
    subprocess.run([*run, "add", "-A"], check=True)
    return subprocess.run([*run, "diff", "--cached"], check=True, capture_output=True, text=True).stdout


def applied(tmp_path, environment, text):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    found = patched_tree(patch(written(tmp_path, "my.diff", text)), environment, scratch, Processes())
    return scratch / "patched", found


FIXED = {"toy/src/core.py": "def value():\n    return 'fixed'\n"}


class TestPatchedTree:
    def test_it_applies_to_a_copy_and_leaves_the_environment_alone(self, tmp_path, environment):
        before = fingerprint(environment)
        tree, found = applied(tmp_path, environment, difference(tmp_path, FIXED))
        assert found == Patched()
        assert (tree / "toy" / "src" / "core.py").read_text() == FIXED["toy/src/core.py"]
        assert fingerprint(environment) == before
        assert (tree / "toy" / "src" / "core.py").stat().st_ino != (environment / "src" / "core.py").stat().st_ino

    def test_tests_are_left_out_and_files_outside_the_package_are_named(self, tmp_path, environment):
        edits = {**FIXED, "toy/src/core_test.py": "x = 1\n", "docs/news.md": "fixed\n", "setup.py": "x = 1\n"}
        tree, found = applied(tmp_path, environment, difference(tmp_path, edits))
        assert found == Patched(left_out=("docs/news.md", "setup.py"))
        assert sorted(path.name for path in tree.rglob("*") if path.is_file()) == ["__init__.py", "core.py"]

    def test_a_patch_that_does_not_fit_is_refused_in_the_words_of_git(self, tmp_path, environment):
        text = difference(tmp_path, FIXED).replace("'broken'", "'something else'")
        _, found = applied(tmp_path, environment, text)
        assert "patch does not apply" in found.refusal

    @pytest.mark.parametrize("edits", [{"docs/news.md": "fixed\n"}, {"toy/src/core_test.py": "x = 1\n"}])
    def test_a_patch_that_changes_nothing_of_the_package_is_refused(self, tmp_path, environment, edits):
        """git calls that a success; taken as one, an untouched copy would be graded as the fix."""
        _, found = applied(tmp_path, environment, difference(tmp_path, edits))
        assert found.refusal == "it changes no file of toy/ other than tests"

    @pytest.mark.parametrize("text", ["", "this is no diff\n", "\x00\x01\x02"])
    def test_what_is_no_diff_is_refused(self, tmp_path, environment, text):
        _, found = applied(tmp_path, environment, text)
        assert found.refusal

    @pytest.mark.parametrize("name", ["toy/../../escaped.py", "../escaped.py", "/escaped.py"])
    def test_no_file_outside_the_copy_is_written(self, tmp_path, environment, name):
        text = (
            f"diff --git a/{name} b/{name}\nnew file mode 100644\n--- /dev/null\n+++ b/{name}\n@@ -0,0 +1 @@\n+evil\n"
        )
        before = set(tmp_path.rglob("*"))
        _, found = applied(tmp_path, environment, text)
        assert found.refusal
        assert set(tmp_path.rglob("escaped.py")) == set()
        assert before <= set(tmp_path.rglob("*"))

    def test_a_repository_around_the_scratch_folder_does_not_matter(self, tmp_path, environment):
        """Inside a repository git apply silently leaves out what is not below it."""
        subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
        _, found = applied(tmp_path, environment, difference(tmp_path, FIXED))
        assert found == Patched()

    @pytest.mark.parametrize(
        "settings",
        ["[apply]\n\twhitespace = error-all\n", "[apply]\n\twhitespace = fix\n", "[core]\n\tautocrlf = true\n"],
    )
    def test_the_settings_of_the_user_change_nothing(self, tmp_path, environment, monkeypatch, settings):
        """A good patch with a blank at the end of a line was refused."""
        own = tmp_path / "own"
        own.mkdir()
        (own / ".gitconfig").write_text(settings)
        text = "def value():\n    return 'fixed'   \n\n\n"
        difference_made = difference(tmp_path, {"toy/src/core.py": text})
        monkeypatch.setenv("HOME", str(own))
        monkeypatch.setenv("XDG_CONFIG_HOME", str(own))
        tree, found = applied(tmp_path, environment, difference_made)
        assert found == Patched()
        assert (tree / "toy" / "src" / "core.py").read_bytes() == text.encode()

    @pytest.mark.parametrize("how", ["kill -9 $$", "echo 'write error: No space left on device'; exit 1"])
    def test_a_git_that_fails_says_nothing_about_the_patch(self, tmp_path, environment, monkeypatch, how):
        git = tmp_path / "bin" / "git"
        git.parent.mkdir()
        text = difference(tmp_path, FIXED)
        git.write_text(f"#!/bin/sh\n{how}\n")
        git.chmod(0o755)
        monkeypatch.setenv("PATH", f"{git.parent}:/usr/bin:/bin")
        with pytest.raises(InfrastructureError):
            applied(tmp_path, environment, text)

"""``harness verify-fix``: bad usage is found before anything is asked of index, disk or environment."""

from __future__ import annotations

import socket

import pytest

from harness.cli import main
from harness.domain.errors import ExitCode
from harness.domain.fixes.grades import FixExit

FIX = 'def apply():\n    return "applied"\n'
SCRIPT = """
# /// script
# dependencies = ["keras", "tensorflow"]
# [tool.harness]
# title = "exits"
# ///
raise SystemExit(0)
"""


@pytest.fixture(autouse=True)
def nowhere(tmp_path, monkeypatch):
    """A home of its own and an index that nobody serves: whatever gets so far ends with exit code 6."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    monkeypatch.setenv("HARNESS_INDEX_URL", f"http://127.0.0.1:{port}/simple/")
    monkeypatch.setenv("HARNESS_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys, *words):
    code = main.run(["verify-fix", *words])
    captured = capsys.readouterr()
    assert captured.out == ""
    return code, captured.err


class TestBadUsage:
    @pytest.mark.parametrize(
        ("words", "what", "hint"),
        [
            ([], "say what should be verified", "one of --fix NAME, --patch FILE, --sweep-mapping, or --fixed-in"),
            (["--fix", "no-aggregation", "--fixed-in", "3.10.0"], "say what should be verified", "--fixed-in RELEASE"),
            (["--fix", "metric-on-read"], "unknown fix 'metric-on-read'", "did you mean metrics-on-read?"),
            (["--fix", "gone.py"], "there is no such fix file", "give a Python file with apply()"),
            (["--fix", "empty.py"], "the fix has no function apply()", "define apply()"),
            (["--fix", "broken.py"], "the fix is not Python", "run it alone first"),
            (["--patch", "gone.diff"], "there is no such patch file", "make one with git diff"),
            (["--fix", "mine.py", "--fix", "other/mine.py"], "two fixes have the same name", "rename one of the files"),
            (["--fixed-in", "commit:HEAD"], "a commit needs a clone", "give --clone PATH"),
            (["--fixed-in", "pr:21072"], "a commit needs a clone", "give --clone PATH"),
            (["--fixed-in", "4aae578b7f67"], "a commit needs a clone", "give --clone PATH"),
        ],
    )
    def test_it_says_what_is_wrong_and_what_to_try(self, nowhere, capsys, words, what, hint):
        (nowhere / "other").mkdir()
        for name, text in (("mine.py", FIX), ("other/mine.py", FIX), ("empty.py", ""), ("broken.py", "def apply(:")):
            (nowhere / name).write_text(text)
        code, told = said(capsys, "identity", *words)
        assert code == ExitCode.USAGE
        assert what in told
        assert f"try:   {hint}" in told or hint in told.split("try:")[1]
        assert "Traceback" not in told
        assert not (nowhere / "home").exists()

    @pytest.mark.parametrize(
        "words",
        [
            ["--fix", "no-aggregation", "--symptom", "slow"],
            ["--fix", "no-aggregation", "--replicas", "0"],
            ["--fix", "no-aggregation", "--repeats", "0"],
            ["--fix", "no-aggregation", "--jobs", "many"],
            ["--unknown"],
        ],
    )
    def test_a_bad_option(self, capsys, words):
        code, told = said(capsys, "identity", *words)
        assert code == ExitCode.USAGE
        assert "Traceback" not in told

    def test_an_unknown_case(self, capsys):
        code, told = said(capsys, "identitiy", "--fix", "no-aggregation")
        assert code == ExitCode.USAGE
        assert "did you mean identity or " in told

    @pytest.mark.parametrize("words", [["--fix", "no-aggregation"], ["--sweep-mapping"], ["--patch", "my.diff"]])
    def test_a_script_takes_no_fix(self, nowhere, capsys, words):
        """It runs in a process of its own, where the fix would never be applied: every pass would be luck."""
        (nowhere / "my.diff").write_text("")
        (nowhere / "exits.py").write_text(SCRIPT)
        code, told = said(capsys, "exits.py", *words)
        assert code == ExitCode.USAGE
        assert "a fix cannot be applied inside a script of its own" in told
        assert "use --fixed-in RELEASE" in told


def test_an_index_that_does_not_answer(capsys):
    code, told = said(capsys, "identity", "--fix", "no-aggregation")
    assert code == ExitCode.SURROUNDINGS
    assert "Traceback" not in told


def test_the_exit_codes_stand_in_the_help(capsys):
    assert main.run(["verify-fix", "--help"]) == 0
    told = capsys.readouterr().out
    for code in (*FixExit, ExitCode.USAGE, ExitCode.SURROUNDINGS):
        assert f"{int(code)} " in told

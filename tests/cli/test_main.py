"""The command line: each bad input ends in one clear message and its exit code, before any environment is built."""

from __future__ import annotations

import errno
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import pytest

from harness import __version__, codec
from harness.adapters.storage.journal import FileJournal
from harness.cli import main
from harness.cli.main import COMMANDS, RENAMED, run
from harness.domain.errors import Interrupted, UsageError
from harness.domain.findings.finding import Finding
from harness.domain.search.policy import Policy
from harness.domain.trials.entry import Entry
from harness.jobs.executor import Runner
from harness.jobs.timeline_search import SearchRequest, run_search
from tests.examples import case, release, timeline
from tests.fakes import TWO, Heard, MemoryJournal, TableEnvironments, TableTrials, header
from tests.offline import Offline, harness

__all__ = ["harness"]

BLOCK = '# /// script\n# dependencies = ["keras", "tensorflow"]\n# [tool.harness]\n{}\n# ///\nprint("hello")\n'


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """The folder of a finished run over fakes."""
    line, journal = timeline(["1.0", "1.1", "1.2"]), MemoryJournal()
    question = SearchRequest(case=case(), timeline=line, policy=Policy(), variant=TWO)
    with ThreadPoolExecutor(1) as pool:
        runner = Runner(
            pool=pool,
            environments=TableEnvironments(),
            trials=TableTrials({"1.0": "good", "1.1": "nan", "1.2": "good"}),
            listener=Heard(),
        )
        run_search(question, runner, journal)
    folder = tmp_path / "reports" / "run"
    folder.mkdir(parents=True)
    written = FileJournal.begin(folder, header(case(), line))
    for entry in journal.entries():
        written.record(entry)
    return folder


class TestCase:
    def test_an_unknown_case_suggests_near_names(self, harness: Offline):
        lines = harness.refused("bisect", "identiti", code=2)
        assert lines[0] == "harness: unknown case 'identiti'"
        assert lines[1].startswith("  where: ")
        assert "repro_cases" in lines[1]
        assert lines[2].startswith("  try:   did you mean identity")

    def test_one_that_resembles_nothing_lists_what_there_is(self, harness: Offline):
        lines = harness.refused("bisect", "qqqqqqq", code=2)
        assert lines[2].startswith("  try:   known cases: ")
        assert "mnist_cnn" in lines[2]

    @pytest.mark.parametrize("command", ["bisect", "verify-fix"])
    def test_a_path_that_is_not_there(self, harness: Offline, command):
        more = ["--fix", "no-aggregation"] if command == "verify-fix" else []
        lines = harness.refused(command, "cases/gone.py", *more, code=2)
        assert lines[:2] == ["harness: there is no such case file", "  where: cases/gone.py"]
        assert lines[2].startswith("  try:   ")

    def test_a_case_that_does_not_say_what_is_under_test_shows_how_to_say_it(self, harness: Offline):
        lines = harness.refused("bisect", harness.case("import json\n"), code=2)
        assert lines[0] == "harness: what is under test? it imports no package"
        assert "--package" in lines[2]

    def test_dependencies_of_which_several_could_be_meant_are_named(self, harness: Offline):
        path = harness.case('# /// script\n# dependencies = ["toya", "toyb"]\n# ///\n')
        lines = harness.refused("bisect", path, code=2)
        assert lines[0] == "harness: what is under test? several dependencies could be meant: toya, toyb"

    def test_what_should_be_run_is_asked_for(self, harness: Offline):
        assert harness.refused("bisect", code=2)[0] == "harness: what should be run?"

    def test_a_file_that_only_defines_things_is_refused_with_what_to_do(self, harness: Offline):
        path = harness.case("import keras\ndef looks_right(model):\n    return model\n")
        lines = harness.refused("bisect", path, code=2)
        assert lines[0] == "harness: the case checks nothing: it defines looks_right() and calls none of it"
        assert "test_" in lines[2]

    @pytest.mark.parametrize(
        ("line", "what"),
        [
            ("# replicas = 0", "bad value for 'replicas': expected a whole number from 1, got 0"),
            ('# since = "new"', "bad value for 'since': expected a version such as '3.5.0', got 'new'"),
            ("# timeout = 3", "unknown key 'timeout' in [tool.harness]"),
            ('# level = "model"', "level = 'model' needs the functions model() and data()"),
        ],
    )
    def test_bad_metadata_names_file_key_and_what_was_expected(self, harness: Offline, line, what):
        path = harness.case(BLOCK.format(line))
        lines = harness.refused("bisect", path, code=2)
        assert lines[:2] == [f"harness: {what}", f"  where: {path}"]
        assert lines[2].startswith("  try:   ")

    @pytest.mark.parametrize(
        ("text", "what"),
        [
            (BLOCK.format("# replicas = two"), "the metadata is not TOML"),
            ("# /// script\n# a = 1\n\nprint()\n", "the '# /// script' block that line 1 opens is not closed"),
            (BLOCK.format("#") * 2, "more than one '# /// script' block"),
            (BLOCK.format("#") + "def f(:\n", "the case is not Python"),
            ("# /// script\n# tool = 3\n# ///\n", "bad value for 'tool': expected a table, got 3"),
            ("# /// script\n# [tool]\n# harness = 3\n# ///\n", "bad value for 'tool.harness': expected a table"),
        ],
    )
    @pytest.mark.parametrize("package", [[], ["--package", "keras"]], ids=["own", "--package"])
    def test_a_file_that_cannot_be_read_as_a_case_says_why(self, harness: Offline, text, what, package):
        path = harness.case(text)
        lines = harness.refused("bisect", path, *package, code=2)
        assert lines[0].startswith(f"harness: {what}")
        assert f"  where: {path}" in lines

    def test_bytes_that_are_no_text(self, harness: Offline):
        (harness.folder / "my.py").write_bytes(b"# caf\xe9\n")
        assert harness.refused("bisect", "my.py", code=2)[0] == "harness: the case is not UTF-8 text"

    def test_a_byte_order_mark_is_no_fault(self, harness: Offline):
        (harness.folder / "my.py").write_bytes(b"\xef\xbb\xbf" + BLOCK.format("# replicas = 0").encode())
        assert "bad value for 'replicas'" in harness.refused("bisect", "my.py", code=2)[0]

    def test_a_folder_is_no_case(self, harness: Offline):
        (harness.folder / "folder.py").mkdir()
        assert harness.refused("bisect", "folder.py", code=2)[0] == "harness: there is no such case file"


class TestRange:
    @pytest.mark.parametrize(
        ("arguments", "where"),
        [
            (["bisect", "identity", "--from", "3.8.0"], "--from"),
            (["bisect", "identity", "--to", "3.8.0"], "--to"),
            (["releases", "--from", "3.8.0"], "--from"),
            (["run", "identity", "--release", "3.8.0"], "--release"),
            (["repro", "3.8.0"], "VERSION"),
        ],
    )
    def test_an_unknown_version_names_the_option_and_the_releases_near_it(self, harness: Offline, arguments, where):
        harness.publish()
        lines = harness.refused(*arguments, code=2)
        assert lines[0] == "harness: keras 3.8.0 is not on the index"
        assert lines[1] == f"  where: {where}"
        assert lines[2].startswith("  try:   releases near it: 3.6.0, 3.7.0, 3.9.9;")

    def test_what_is_no_version_says_how_one_looks(self, harness: Offline):
        harness.publish()
        lines = harness.refused("bisect", "identity", "--from", "three", code=2)
        assert lines == [
            "harness: 'three' is not a version",
            "  where: --from",
            "  try:   give one such as 3.9.0, or 'latest'",
        ]

    def test_a_reversed_range(self, harness: Offline):
        harness.publish()
        lines = harness.refused("bisect", "identity", "--from", "3.9.9", "--to", "3.6.0", code=2)
        assert lines[0] == "harness: --from 3.9.9 comes after --to 3.6.0"

    def test_a_range_without_a_usable_release(self, harness: Offline):
        harness.publish([release("3.5.0", yanked="broken"), release("4.0.0rc1")])
        lines = harness.refused("bisect", "identity", code=2)
        assert lines[0] == "harness: no stable release is published"

    def test_a_case_that_does_not_say_where_to_begin(self, harness: Offline):
        harness.publish()
        path = harness.case(BLOCK.format("#"))
        lines = harness.refused("bisect", path, code=2)
        assert lines[:2] == ["harness: where should the search begin?", "  where: --from"]
        assert "'since'" in lines[2]


class TestOptions:
    @pytest.mark.parametrize("pin", ["tensorflow", "tensorflow=2.18", "==2.18", ""])
    def test_a_companion_without_a_version_pins_nothing(self, harness: Offline, pin):
        lines = harness.refused("bisect", "identity", "--with", pin, code=2)
        assert lines == [f"harness: {pin!r} pins nothing", "  where: --with", "  try:   write it as tensorflow==2.18.1"]

    @pytest.mark.parametrize("size", ["4X", "G", "0", "-1G", "1.5G", ""])
    def test_a_size_that_is_none_is_refused_before_any_work(self, harness: Offline, size):
        lines = harness.refused("bisect", "identity", f"--memory={size}", code=2)
        assert lines == [f"harness: {size!r} is not a size", "  where: --memory", "  try:   write it as 512M or 4G"]
        assert not harness.home.exists()

    @pytest.mark.parametrize(
        "arguments",
        [
            ["--symptom", "nan"],
            ["--replicas", "0"],
            ["--replicas", "many"],
            ["--jobs", "0"],
            ["--strategy", "horovod"],
            ["--order", "size"],
            ["--companions", "none"],
            ["--max-trials", "1"],
            ["--confidence", "1"],
            ["--from"],
            ["--nonsense"],
        ],
    )
    def test_a_bad_value_of_an_option_names_the_option(self, harness: Offline, arguments):
        lines = harness.refused("bisect", "identity", *arguments, code=2)
        assert any(arguments[0] in line for line in lines)

    def test_a_misspelt_command_suggests_the_right_one(self, harness: Offline):
        lines = harness.refused("bisekt", code=2)
        assert "Did you mean 'bisect'?" in lines[-1]

    def test_an_unknown_command_is_named(self, harness: Offline):
        assert "'zzz'" in harness.refused("zzz", code=2)[-1]

    def test_a_fix_must_be_named_somehow(self, harness: Offline):
        lines = harness.refused("verify-fix", "identity", code=2)
        assert lines[0] == "harness: say what should be verified"


class TestIndex:
    @pytest.mark.parametrize(
        "arguments",
        [["bisect", "identity"], ["releases"], ["run", "identity", "--release", "3.9.0"], ["repro", "3.9.0"]],
    )
    def test_unreachable_and_nothing_cached_is_a_failure_of_the_surroundings(self, harness: Offline, arguments):
        lines = harness.refused(*arguments, code=6)
        assert lines[0] == "harness: the package index does not answer (no connection) and no page of keras is cached"
        assert "HARNESS_INDEX_URL" in lines[1]
        assert "check the network" in lines[2]

    def test_unreachable_with_a_cached_page_says_how_old_it_is_and_goes_on(self, harness: Offline):
        harness.publish(age_hours=30)
        said = harness("releases", "--json")
        assert said.code == 0
        assert said.err == (
            "harness: warning: the index does not answer (no connection); "
            "using the page of keras cached 30.0 hours ago\n"
        )
        assert json.loads(said.out)["releases"][0]["version"] == "3.5.0"

    def test_a_fresh_page_is_not_asked_for_again_unless_that_is_wanted(self, harness: Offline):
        harness.publish()
        assert harness("releases", "--json").err == ""
        assert "does not answer" in harness("releases", "--json", "--refresh").err

    def test_an_address_with_a_password_is_not_shown(self, harness: Offline, monkeypatch):
        monkeypatch.setenv("HARNESS_INDEX_URL", "http://user:secret@127.0.0.1:9/simple/")
        said = harness("releases")
        assert said.code == 6
        assert "secret" not in said.err


class TestPlaces:
    def test_an_output_folder_below_a_file_is_refused_before_any_work(self, harness: Offline):
        (harness.folder / "taken").write_text("")
        lines = harness.refused("bisect", "identity", "--output", "taken/run", code=2)
        assert lines[0].startswith("harness: the output folder cannot be written: ")
        assert lines[0].endswith("taken is no folder")
        assert lines[1:] == ["  where: taken/run", "  try:   give another one with --output"]
        assert not harness.home.exists()

    def test_so_is_the_default_one(self, harness: Offline):
        (harness.folder / "reports").write_text("")
        lines = harness.refused("bisect", "identity", code=2)
        assert lines[0].endswith("reports is no folder")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
    def test_so_is_one_without_permission(self, harness: Offline):
        (harness.folder / "closed").mkdir(mode=0o500)
        lines = harness.refused("bisect", "identity", "--output", "closed/run", code=2)
        assert lines[0].endswith("closed is not writable")

    def test_a_home_below_a_file_names_the_variable(self, harness: Offline, monkeypatch):
        (harness.folder / "file").write_text("")
        monkeypatch.setenv("HARNESS_HOME", str(harness.folder / "file" / "home"))
        lines = harness.refused("releases", code=6)
        assert lines[0].startswith("harness: cannot write: ")
        assert "HARNESS_HOME" in lines[2]

    def test_a_full_disk_is_one_message(self, harness: Offline, recorded, monkeypatch):
        def full(descriptor: int) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        lines = harness.refused("report", str(recorded), code=6)
        assert lines[0] == "harness: the disk is full"
        assert "free some space" in lines[2]


class TestRuns:
    def test_a_report_is_written_again_from_the_journal_alone(self, harness: Offline, recorded):
        said = harness("report", str(recorded), "--json")
        assert said.code == 0
        assert json.loads(said.out)["conclusion"]["sentence"] == (
            "nonfinite-metric begins 1.0 -> 1.1; nonfinite-metric ends 1.1 -> 1.2."
        )
        assert said.out == (recorded / "report.json").read_text()
        assert harness("report", "run", "--json").out == said.out

    def test_and_shown_as_tables(self, harness: Offline, recorded):
        said = harness("report", str(recorded))
        assert said.code == 0
        assert "nonfinite-metric begins 1.0 -> 1.1" in said.out
        assert said.err == ""

    def test_a_folder_without_a_run(self, harness: Offline):
        lines = harness.refused("report", "reports/gone", code=2)
        assert lines[0] == "harness: there is no run to read: No such file or directory"
        assert lines[1] == "  where: reports/gone/journal.jsonl"

    def test_a_damaged_journal_names_the_place_and_says_that_nothing_is_lost(self, harness: Offline, recorded):
        journal = recorded / "journal.jsonl"
        lines = journal.read_text().splitlines()
        journal.write_text("\n".join([lines[0], '{"release": 3}', *lines[1:]]) + "\n")
        said = harness.refused("report", str(recorded), code=2)
        assert said[0].startswith("harness: the journal is damaged: release")
        assert "cache" in said[2]

    def test_a_torn_last_line_costs_that_line_alone(self, harness: Offline, recorded):
        whole = (recorded / "journal.jsonl").read_bytes()
        (recorded / "journal.jsonl").write_bytes(whole + codec.dumps(Entry, Entry(release="1.2")).encode()[:20])
        assert harness("report", str(recorded)).code == 0


class TestLastDefence:
    def test_a_fault_of_ours_says_so_and_keeps_the_trace(self, monkeypatch, capsys):
        @click.command("broken")
        def broken() -> None:
            raise ZeroDivisionError("by zero")

        monkeypatch.setattr(main.cli, "get_command", lambda ctx, name: broken)
        assert run(["broken"]) == 1
        said = capsys.readouterr().err
        assert said.startswith("harness: a fault of the harness itself: ZeroDivisionError: by zero\n")
        assert "Traceback" in said
        assert said.rstrip().endswith("try:   report it with the lines above; finished trials are in the journal")

    @pytest.mark.parametrize(
        ("raised", "code"),
        [
            (UsageError("no"), 2),
            (click.UsageError("no"), 2),
            (click.BadParameter("no"), 2),
            (KeyboardInterrupt(), 130),
            (click.Abort(), 130),
        ],
    )
    def test_every_other_end_has_its_code_and_no_trace(self, raised, code, monkeypatch, capsys):
        @click.command("broken")
        def broken() -> None:
            raise raised

        monkeypatch.setattr(main.cli, "get_command", lambda ctx, name: broken)
        assert run(["broken"]) == code
        assert "Traceback" not in capsys.readouterr().err

    @pytest.mark.parametrize("value", [0, 3, 5])
    def test_a_command_that_returns_a_number_leaves_with_it(self, value, monkeypatch):
        @click.command("answers")
        def answers() -> int:
            return int(value)

        monkeypatch.setattr(main.cli, "get_command", lambda ctx, name: answers)
        assert run(["answers"]) == value


class TestInterrupted:
    @pytest.fixture
    def stopped(self, monkeypatch):
        """A command that is stopped as it runs."""

        def stop(error: Interrupted) -> int:
            @click.command("stopped")
            def stopped() -> None:
                raise error

            monkeypatch.setattr(main.cli, "get_command", lambda ctx, name: stopped)
            return run(["stopped"])

        return stop

    def test_a_run_says_what_is_kept_and_how_to_go_on(self, stopped, capsys):
        resume = "harness bisect identity --from 3.6.0 --resume 'reports/my run'"
        assert stopped(Interrupted(finished=7, resume=resume)) == 130
        assert capsys.readouterr().err.splitlines() == [
            "",
            "harness: interrupted; 7 finished trials are kept. Resume with:",
            f"  {resume}",
        ]

    def test_before_a_run_was_begun_there_is_nothing_to_resume(self, stopped, capsys):
        assert stopped(Interrupted(finished=0, resume="")) == 130
        said = capsys.readouterr().err
        assert "interrupted" in said
        assert "Resume" not in said


class TestRenamed:
    @pytest.mark.parametrize(("old", "new"), RENAMED.items())
    def test_an_old_name_still_works_and_says_the_new_one(self, old, new, capsys):
        assert run([old, "--help"]) == 0
        said = capsys.readouterr()
        assert said.err == f"harness: `{old}` is now called `{new}`\n"
        assert run([new, "--help"]) == 0
        renamed = capsys.readouterr()
        assert renamed.err == ""
        assert said.out.partition("\n")[2] == renamed.out.partition("\n")[2]

    def test_only_the_new_name_is_listed(self):
        assert "remedies" in RENAMED
        assert not set(RENAMED) & set(COMMANDS)
        assert set(RENAMED.values()) <= set(COMMANDS)


class TestHelp:
    @pytest.mark.parametrize("flag", ["--help", "-h"])
    def test_it_lists_every_command_with_what_it_does(self, flag, capsys):
        assert run([flag]) == 0
        said = " ".join(capsys.readouterr().out.split())
        for name, about in COMMANDS.items():
            assert f"{name} {about}" in said

    @pytest.mark.parametrize("name", COMMANDS)
    def test_every_command_that_is_listed_exists_and_explains_its_options(self, name, capsys):
        assert run([name, "--help"]) == 0
        said = capsys.readouterr().out
        assert said.startswith(f"Usage: harness {name}")

    @pytest.mark.parametrize("name", ["", *COMMANDS])
    def test_no_help_prints_a_literal_backslash(self, name, capsys):
        """click's mark for a paragraph that keeps its lines must stand in a docstring that is read so."""
        assert run([*name.split(), "--help"]) == 0
        said = capsys.readouterr().out
        assert "\\" not in said
        assert said.isprintable() or set(said) & set("\n")
        assert "\b" not in said

    @pytest.mark.parametrize("name", COMMANDS)
    def test_every_option_has_a_help_text(self, name):
        command = main.cli.get_command(click.Context(main.cli), name)
        assert command is not None
        for parameter in command.params:
            if isinstance(parameter, click.Option):
                assert parameter.help, parameter.name

    def test_the_version(self, capsys):
        assert run(["--version"]) == 0
        assert capsys.readouterr().out == f"harness, version {__version__}\n"


def test_the_report_of_a_run_and_the_json_on_stdout_are_the_same(harness: Offline, recorded):
    out = harness("report", str(recorded), "--json").out
    assert codec.loads(Finding, out).question.case == "identity"

"""What a reporter means beside an exit code: a value, a warning, an import that fails, a failure of one kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.toy_runs import Harness, Outcome

pytestmark = pytest.mark.usefixtures("warm")

SCRIPT = """\
# /// script
# [tool.harness]
# package = "toyvalue"
# companions = ["toynumpy<2"]
# {metadata}
# ///
import toyvalue
toyvalue.check()
"""


def asked(
    run: Harness, folder: Path, *words: str, first: str = "1.0", last: str = "1.6", metadata: str = ""
) -> Outcome:
    path = folder / "report.py"
    path.write_text(SCRIPT.format(metadata=metadata), encoding="utf-8")
    return run("bisect", path, "--from", first, "--to", last, "--json", *words)


def of(found: Outcome, symptom: str) -> list[tuple[str, str, str]]:
    return [
        (t["kind"], t["last_before"], t["first_after"]) for t in found.report["transitions"] if t["symptom"] == symptom
    ]


def test_every_change_of_a_printed_value_is_a_transition(tmp_path: Path, harness_run: Harness):
    found = asked(harness_run, tmp_path, "--value", "loss (.*)")
    assert found.code == 0
    assert of(found, "changed-value") == [("regression", "1.1", "1.4"), ("change", "1.4", "1.5")]
    assert of(found, "exception")[:2] == [("regression", "1.1", "1.2"), ("recovery", "1.3", "1.4")]
    assert [(t["before"], t["after"]) for t in found.report["transitions"]][-2:] == [("0.0", "7.4"), ("7.4", "2.1")]
    assert {r["version"]: r["value"] for r in found.report["releases"]} == {
        "1.0": "0.0", "1.1": "0.0", "1.2": "", "1.3": "", "1.4": "7.4", "1.5": "2.1", "1.6": "",
    }  # fmt: skip
    assert found.verdicts["1.6"] == "bad"


def test_what_the_metadata_says_is_what_the_options_say(tmp_path: Path, harness_run: Harness):
    found = asked(harness_run, tmp_path, first="1.4", last="1.5", metadata='value = "loss (.*)"\n# equals = 2.1')
    assert found.transitions == [("recovery", "1.4", "1.5")]


def test_another_release_can_be_the_right_one(tmp_path: Path, harness_run: Harness):
    words = ("--value", "loss (.*)", "--symptom", "changed-value")
    found = asked(harness_run, tmp_path, *words, "--reference", "1.5", first="1.0", last="1.5")
    assert found.transitions == [("change", "1.1", "1.4"), ("recovery", "1.4", "1.5")]
    outside = asked(harness_run, tmp_path, *words, "--reference", "1.0", first="1.4", last="1.5")
    assert outside.transitions == [("change", "1.4", "1.5")]
    assert [r["version"] for r in outside.report["releases"]] == ["1.4", "1.5"]
    wrong = asked(harness_run, tmp_path, *words, "--reference", "1.2")
    assert wrong.code == 2
    assert "nothing can be compared with 1.2" in wrong.err
    assert "--reference" in wrong.err


def test_failures_of_another_kind_are_skip(tmp_path: Path, harness_run: Harness):
    found = asked(harness_run, tmp_path, "--match", "TypeError.*second")
    assert found.verdicts == {
        "1.0": "good", "1.1": "good", "1.2": "skip", "1.3": "bad", "1.4": "good", "1.5": "good", "1.6": "skip",
    }  # fmt: skip
    assert (
        "another failure than the one asked for: exit code 1: ValueError: planted: first kind" in found.reasons["1.2"]
    )
    both = asked(harness_run, tmp_path)
    (change,) = both.report["signature_changes"]
    assert (change["last_before"], change["first_after"]) == ("1.2", "1.3")
    assert (change["before"].split(" | ")[-1], change["after"].split(" | ")[-1]) == (
        "ValueError: planted: first kind",
        "TypeError: planted: second kind",
    )


def test_an_import_that_fails_is_bad_where_it_is_asked_for(tmp_path: Path, harness_run: Harness):
    found = asked(harness_run, tmp_path, "--symptom", "import-error", first="1.4")
    assert found.transitions == [("regression", "1.5", "1.6")]
    assert "ImportError: planted: no name old" in found.reasons["1.6"]
    by_case = asked(harness_run, tmp_path, first="1.5", metadata='expects = "import-error"')
    assert by_case.transitions == [("regression", "1.5", "1.6")]


def test_a_warning_and_what_python_makes_of_it(tmp_path: Path, harness_run: Harness):
    found = asked(harness_run, tmp_path, "--warning", "structure of .inputs", first="1.4", last="1.5")
    assert found.transitions == [("recovery", "1.4", "1.5")]
    silent = asked(harness_run, tmp_path, "--warning", "the old name", last="1.1")
    assert silent.code == 3
    shown = asked(harness_run, tmp_path, "--warning", "the old name", "--python-flag=-W always", last="1.1")
    assert shown.transitions == [("regression", "1.0", "1.1")]
    strict = asked(harness_run, tmp_path, "--python-flag=-W error::PendingDeprecationWarning", last="1.1")
    assert of(strict, "exception") == [("regression", "1.0", "1.1")]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--symptom", "warning"), "which warning?"),
        (("--symptom", "changed-value"), "which value?"),
        (("--value", "("), "a regular expression"),
        (("--equals", "1"), "says what a value should be, but not which"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(tmp_path: Path, harness_run: Harness, words, said):
    refused = asked(harness_run, tmp_path, *words)
    assert refused.code == 2
    assert said in refused.err


def test_the_table_has_a_column_of_values_and_run_looks_for_them_too(tmp_path: Path, harness_run: Harness):
    asked(harness_run, tmp_path, "--value", "loss (.*)", "--output", "run", first="1.4", last="1.5")
    text = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    assert "| symptoms | value | why |" in text
    again = harness_run("report", "run")
    assert "7.4" in again.out
    one = harness_run("run", "report.py", "--release", "1.4", "--value", "loss (.*)", "--equals", "0.0")
    assert "7.4, not 0.0" in one.out.replace("\n", " ")

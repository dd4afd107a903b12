"""The whole main job over tiny fake releases: real index, real environments, real processes, no network."""

from __future__ import annotations

import json
import os
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from harness.adapters.storage import journal
from harness.reporting.bisection import json_report
from tests.local_index import LocalIndex
from tests.toy_runs import ANSWER, VERDICTS, Harness, repro, words_of

pytestmark = pytest.mark.usefixtures("warm")


def test_every_transition_and_every_reason(tmp_path: Path, harness_run: Harness) -> None:
    found = harness_run(*words_of(repro(tmp_path), "1.0", "2.3", "--output", tmp_path / "run", "--confidence", "0.99"))
    assert found.code == 0
    assert found.verdicts == VERDICTS
    assert all(t["confirmed"] and t["confidence"] >= 0.99 for t in found.report["transitions"])
    assert found.transitions == ANSWER
    assert {t["symptom"] for t in found.report["transitions"]} == {"exception"}
    for version, part in {
        "1.2": "requires Python >=3.99",
        "1.3": "island: 2 + 2 is 5",
        "1.5": "planted: the compiler is missing",
        "1.8": "toykeras==1.8 depends on toynumpy>=2",
        "2.0": "planted: loss is nan",
        "2.1": "ImportError: planted: libtoy.so is missing",
    }.items():
        assert part in found.reasons[version]
    excluded = {x["version"]: x["reason"] for x in found.report["excluded"]}
    assert excluded == {"1.6rc1": "pre-release", "1.7": "yanked: broken [link] <b>metadata</b>"}
    untested = {t["first_after"]: [u["version"] for u in t["untested"]] for t in found.report["transitions"]}
    assert untested == {"1.3": ["1.2"], "1.4": [], "2.0": ["1.5", "1.8"], "2.3": []}


def test_the_reports_agree_and_keep_their_formats(tmp_path: Path, harness_run: Harness) -> None:
    found = harness_run(*words_of(repro(tmp_path), "1.0", "2.3", "--output", tmp_path / "run"))
    written = json.loads((tmp_path / "run/report.json").read_text())
    assert written == found.report
    jsonschema.validate(written, json_report.schema())
    suite = ElementTree.parse(tmp_path / "run/junit.xml").getroot()
    counts = {kind: len(suite.findall(f".//{kind}")) for kind in ("testcase", "failure", "skipped")}
    assert counts == {"testcase": 11, "failure": 4, "skipped": 3}
    assert "<b>metadata</b>" not in (tmp_path / "run/report.html").read_text(), "text from outside is escaped"
    assert (tmp_path / "run/report.md").read_text().strip()
    before = {name: (tmp_path / "run" / name).read_bytes() for name in ("report.json", "report.md", "junit.xml")}
    harness_run("report", tmp_path / "run")
    assert before == {name: (tmp_path / "run" / name).read_bytes() for name in before}


def test_an_end_that_does_not_resolve_is_skip_and_the_search_moves_inward(tmp_path: Path, harness_run: Harness) -> None:
    """1.8 needs a toynumpy that the case forbids."""
    found = harness_run(*words_of(repro(tmp_path), "1.3", "1.8"))
    assert found.code == 0
    assert found.verdicts == {"1.3": "bad", "1.4": "good", "1.5": "skip", "1.8": "skip"}
    assert found.transitions == [("recovery", "1.3", "1.4")]
    assert "cannot be installed with these companions" in found.reasons["1.8"]
    assert "one set of companions holds from 1.3 to 1.5" in found.err


@pytest.mark.parametrize("jobs", ["1", "3"])
def test_a_second_identical_run_runs_nothing_and_fresh_runs_again(
    tmp_path: Path, harness_run: Harness, jobs: str
) -> None:
    """Also with several jobs, whose order of ending decides what is asked next."""
    case = repro(tmp_path)
    first = harness_run(*words_of(case, "1.0", "1.4", "--jobs", jobs))
    ran = case.ran()
    assert set(ran) == {"1.0", "1.1", "1.3", "1.4"}
    second = harness_run(*words_of(case, "1.0", "1.4", "--jobs", jobs))
    assert case.ran() == ran
    assert second.answer == first.answer
    assert all(trial["cached"] for release in second.report["releases"] for trial in release["trials"])
    fresh = harness_run(*words_of(case, "1.0", "1.4", "--jobs", jobs, "--fresh"))
    assert set(case.ran() - ran) == set(ran)
    assert fresh.answer == first.answer


def test_resume_takes_up_a_journal_and_runs_only_what_is_missing(tmp_path: Path, harness_run: Harness) -> None:
    case, run = repro(tmp_path), tmp_path / "run"
    first = harness_run(*words_of(case, "1.0", "1.4", "--output", run, "--jobs", "1", "--fresh"))
    path = run / journal.NAME
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][:-20])  # the last trial was being written
    before = case.ran()
    second = harness_run(*words_of(case, "1.0", "1.4", "--resume", run, "--jobs", "1", "--fresh"))
    assert second.answer == first.answer
    assert (case.ran() - before).total() == 1


def test_resume_refuses_an_edited_case(tmp_path: Path, harness_run: Harness) -> None:
    case, run = repro(tmp_path), tmp_path / "run"
    harness_run(*words_of(case, "1.0", "1.1", "--output", run))
    case.path.write_text(case.path.read_text() + "# edited\n")
    refused = harness_run(*words_of(case, "1.0", "1.1", "--resume", run))
    assert refused.code == 2
    assert "case_digest" in refused.err


@pytest.mark.parametrize(
    ("first", "last", "code", "sentence"),
    [
        ("1.0", "1.1", 3, "in no release"),
        ("2.0", "2.2", 4, "in every release"),
        ("3.3", "3.3", 5, "could be tested"),
        ("1.5", "1.5", 5, "could be tested"),
    ],
)
def test_exit_codes_of_the_other_answers(
    tmp_path: Path, harness_run: Harness, first: str, last: str, code: int, sentence: str
) -> None:
    found = harness_run(*words_of(repro(tmp_path), first, last))
    assert found.code == code
    assert sentence in found.report["conclusion"]["sentence"]


def test_a_script_ended_by_force_stops_the_search_as_git_does(tmp_path: Path, harness_run: Harness) -> None:
    case, run = repro(tmp_path), tmp_path / "run"
    stopped = harness_run(*words_of(case, "2.3", "3.0", "--output", run))
    assert stopped.code == 6
    assert "SIGSEGV" in stopped.err
    assert "--resume" in stopped.err
    assert all(e.release != "3.0" for e in journal.read(run)[1]), "a resumed run must try it again"


def test_a_script_that_expects_to_be_killed(tmp_path: Path, harness_run: Harness) -> None:
    case = repro(tmp_path, metadata='expects = "killed"')
    found = harness_run(*words_of(case, "2.3", "3.0"))
    assert found.code == 0
    assert found.transitions == [("regression", "2.3", "3.0")]
    assert "SIGSEGV" in found.reasons["3.0"]


def test_a_hang_is_a_symptom(tmp_path: Path, harness_run: Harness) -> None:
    case = repro(tmp_path, metadata="timeout_seconds = 2")
    found = harness_run(*words_of(case, "3.1", "3.1"))
    assert found.code == 4
    assert "timeout: not finished after 2 s" in found.reasons["3.1"]


def test_exit_code_125_and_a_crash_while_importing_are_skips(tmp_path: Path, harness_run: Harness) -> None:
    found = harness_run(*words_of(repro(tmp_path), "3.3", "3.4"))
    assert found.code == 5
    assert "125" in str(found.report["releases"][0]["by_symptom"])
    assert "killed by SIGSEGV while importing" in found.reasons["3.4"]


def test_a_case_may_print_as_much_as_it_likes(tmp_path: Path, harness_run: Harness) -> None:
    case = repro(tmp_path, body="sys.stderr.write('\\x1b[31mnoise ' * 50_000)")
    found = harness_run(*words_of(case, "1.1", "1.3", "--output", tmp_path / "run"))
    assert found.verdicts == {"1.1": "good", "1.2": "skip", "1.3": "bad"}
    assert (tmp_path / "run" / journal.NAME).stat().st_size < 300_000
    assert "\x1b" not in (tmp_path / "run/report.md").read_text()


def test_a_case_that_forks_and_hangs_is_ended(tmp_path: Path, harness_run: Harness) -> None:
    body = "if os.fork() == 0: os.setsid(); time.sleep(600)\ntime.sleep(600)"
    case = repro(tmp_path, body=body, metadata="timeout_seconds = 2")
    assert harness_run(*words_of(case, "1.0", "1.0")).code == 4


def test_a_memory_limit_makes_a_skip(tmp_path: Path, harness_run: Harness) -> None:
    """The memory is held by a child of the case."""
    body = "if os.fork() == 0: held = bytearray(os.urandom(1) * 400_000_000)\ntime.sleep(20)"
    found = harness_run(*words_of(repro(tmp_path, body=body), "1.0", "1.0", "--memory", "200M"))
    assert found.code == 5
    assert "memory" in str(found.report["releases"][0]["by_symptom"])


def test_companions_as_of_the_release_s_day(tmp_path: Path, harness_run: Harness) -> None:
    found = harness_run(*words_of(repro(tmp_path), "1.0", "1.3", "--companions", "as-of"))
    assert found.verdicts == {"1.0": "good", "1.1": "good", "1.2": "skip", "1.3": "bad"}


def test_by_date(tmp_path: Path, harness_run: Harness) -> None:
    found = harness_run(*words_of(repro(tmp_path), "1.0", "1.4", "--order", "date"))
    assert found.transitions == ANSWER[:2]


MISTAKES = {
    "unknown case": (["toi", "--from", "1.0"], "unknown case 'toi'"),
    "no such file": (["./nosuch.py", "--from", "1.0"], "no such case file"),
    "nothing under test": (["plain.py", "--from", "1.0"], "what is under test?"),
    "bad metadata": (["bad.py", "--from", "1.0"], "timeout_seconds"),
    "not toml": (["nottoml.py", "--from", "1.0"], "not TOML"),
    "not python": (["notpython.py", "--from", "1.0"], "not Python"),
    "unknown version": (["toy.py", "--from", "1.0.7"], "1.0.7 is not on the index"),
    "no version": (["toy.py", "--from", "first"], "'first' is not a version"),
    "reversed": (["toy.py", "--from", "2.0", "--to", "1.0"], "comes after"),
    "no beginning": (["toy.py"], "where should the search begin"),
    "unknown package": (["toy.py", "--from", "1.0", "--package", "nosuch"], "no package 'nosuch'"),
    "a path as package": (["toy.py", "--from", "1.0", "--package", "../../x"], "package"),
    "a pin of nothing": (["toy.py", "--from", "1.0", "--with", "toynumpy"], "pins nothing"),
    "a pin of the package": (["toy.py", "--from", "1.0", "--with", "toykeras==1.0"], "under test"),
    "companions that do not fit": (["toy.py", "--from", "1.8", "--to", "1.8"], "toynumpy>=2"),
    "no interpreter": (["toy.py", "--from", "1.2", "--to", "1.2"], "requires-python >=3.99"),
    "unknown interpreter": (["toy.py", "--from", "1.0", "--python", "3.2"], "no Python 3.2"),
    "a file as output": (["toy.py", "--from", "1.0", "--output", "file/run"], "cannot be written"),
    "resume of nothing": (["toy.py", "--from", "1.0", "--to", "1.1", "--resume", "nothing"], "no run to read"),
    "no size": (["toy.py", "--from", "1.0", "--to", "1.0", "--memory", "much"], "not a size"),
}


@pytest.mark.parametrize(("words", "told"), MISTAKES.values(), ids=MISTAKES)
def test_each_mistake_has_one_message_and_loses_nothing(
    tmp_path: Path, harness_run: Harness, words: list[str], told: str
) -> None:
    repro(tmp_path)
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "plain.py").write_text("print('hello')\n")
    (tmp_path / "bad.py").write_text("# /// script\n# [tool.harness]\n# timeout_seconds = 'long'\n# ///\n")
    (tmp_path / "nottoml.py").write_text("# /// script\n# tool = = 3\n# ///\n")
    (tmp_path / "notpython.py").write_text("# /// script\n# [tool.harness]\n# ///\ndef (:\n")
    refused = harness_run("bisect", *words)
    assert refused.code == 2
    assert told in refused.err
    assert not list(tmp_path.glob("reports/*/report.json"))


def test_nothing_secret_is_written_anywhere(
    tmp_path: Path, harness_run: Harness, warm: LocalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The case and a build print their whole environment; the index's address holds a password."""
    home = tmp_path / "own-home"
    monkeypatch.setenv("HARNESS_HOME", str(home))
    monkeypatch.setenv("UV_DEFAULT_INDEX", warm.address.replace("//", "//joe:pa55w0rd@"))
    monkeypatch.setenv("HTTPS_PROXY", "http://joe:pr0xyp4ss@127.0.0.1:9")
    monkeypatch.setenv("DEPLOY_TOKEN", "t0k3n-t0k3n")
    case = repro(tmp_path, body="print(dict(os.environ)); print(open('/proc/self/environ').read())")
    found = harness_run(*words_of(case, "1.3", "1.5", "--output", tmp_path / "run"))
    assert found.code == 0
    written = [path for folder in (home, tmp_path / "run") for path in folder.rglob("*") if path.is_file()]
    assert written
    for path in written:
        content = path.read_bytes()
        for secret in (b"pa55w0rd", b"pr0xyp4ss", b"t0k3n-t0k3n"):
            assert secret not in content, path
    for word in ("pa55w0rd", "pr0xyp4ss", "t0k3n-t0k3n"):
        assert word not in found.out + found.err


def test_a_case_sees_nothing_of_the_user_s_settings(
    tmp_path: Path, harness_run: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        "PYTHONPATH",
        "PYTHONSTARTUP",
        "PIP_NO_DEPS",
        "UV_OFFLINE_X",
        "VIRTUAL_ENV",
        "KERAS_HOME",
        "TF_XLA_FLAGS",
    ):
        monkeypatch.setenv(name, str(tmp_path))
    (tmp_path / "toykeras.py").write_text("raise SystemError('the user has a module of this name')")
    names = ("PYTHONPATH", "PYTHONSTARTUP", "PIP_", "UV_", "VIRTUAL_ENV", "KERAS_HOME", "TF_XLA")
    body = (
        f"bad = [n for n in os.environ if n.startswith({names!r})]\n"
        "own = ('HOME', 'TMPDIR', 'XDG_CACHE_HOME')\n"
        f"bad += [n for n in own if not os.environ[n].startswith({os.environ['HARNESS_HOME']!r})]\n"
        "if bad: sys.exit(str(bad))"
    )
    (tmp_path / "elsewhere").mkdir()
    assert harness_run(*words_of(repro(tmp_path / "elsewhere", body=body), "1.0", "1.0")).code == 3


def test_an_index_that_speaks_html_only(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    index.json = False
    monkeypatch.setenv("UV_DEFAULT_INDEX", index.address)
    found = harness_run(*words_of(repro(tmp_path), "1.1", "1.4"))
    assert found.transitions == ANSWER[:2]


def test_releases_lists_the_timeline_as_the_harness_sees_it(
    harness_run: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    listed = harness_run("releases", "--package", "toykeras", "--json")
    rows = {row["version"]: row for row in json.loads(listed.out)["releases"]}
    assert listed.code == 0
    assert rows["1.0"]["date"] == "2024-01-01"
    assert rows["1.7"]["usable"].startswith("left out: yanked")
    assert rows["1.2"]["usable"].startswith("no: no Python >=3.99")
    table = harness_run("releases", "--package", "toykeras")
    assert "broken [link] <b>metadata</b>" in table.out


def test_run_shows_one_trial(tmp_path: Path, harness_run: Harness) -> None:
    case = repro(tmp_path)
    shown = harness_run("run", case.path, "--release", "2.0")
    assert shown.code == 0
    assert "exit code 1" in shown.out


def test_a_line_per_case_and_those_about_another_package_say_so(tmp_path: Path, harness_run: Harness) -> None:
    own, other = repro(tmp_path), repro(tmp_path, name="other")
    other.path.write_text(other.path.read_text().replace('package = "toykeras"', 'package = "othertoy"'))
    found = harness_run("repro", "1.3", own.path, other.path, "--package", "toykeras")
    assert found.code == 0
    told = [line.split()[:2] for line in found.out.splitlines()[1:]]
    assert told == [["toy", "bad"], ["other", "skip"]]
    assert "is about othertoy" in found.out
    refused = harness_run("repro", "1.3", other.path, "--package", "toykeras")
    assert refused.code == 2
    assert "no case is about toykeras" in refused.err

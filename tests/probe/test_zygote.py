"""The request is served: modules are imported once, and each trial has a process and a result file of its own."""

from __future__ import annotations

import pytest

from harness.domain.trials.observation import EndingKind
from harness.probe import zygote
from tests.probe.conftest import CASE, trial


def test_a_trial_that_finishes(probe):
    (seen,) = probe()
    assert seen.ending.kind is EndingKind.FINISHED
    assert (seen.final, seen.evaluated) == ({"loss": 0.25}, {"loss": 0.25})
    assert seen.versions["toy"] == "1.0"


def test_what_is_imported_is_written_first(probe):
    written = probe.serve()
    assert list(written) == ["imported"]
    assert written["imported"]["versions"]["toy"] == "1.0"
    assert written["imported"]["files"]["toy"] == str(probe.folder / "toy.py")
    assert written["imported"]["error"] is None


def test_without_its_imports_no_trial_runs(probe):
    (probe.folder / "toy.py").write_text("raise OSError('no such wheel')")
    written = probe.serve(trial("trial-0"), case=CASE.format(body="pass"))
    assert list(written) == ["imported"]
    assert written["imported"]["error"] == "import toy: OSError: no such wheel"


def test_where_the_canary_fails_no_trial_runs(probe):
    (probe.folder / "toy.py").write_text("def Sequential(layers): raise ValueError('no kernel')\nlayers = None")
    written = probe.serve({"id": "canary", "kind": "canary", "timeout_seconds": 20}, trial("trial-0"))
    assert set(written) == {"imported", "canary"}
    assert written["canary"]["ending"]["kind"] == "raised"


def test_a_canary_that_finishes_lets_the_trials_run(probe):
    canary = {"id": "canary", "kind": "canary", "timeout_seconds": 20}
    written = probe.serve(canary, trial("trial-0"), case=CASE.format(body="pass"))
    assert {name: written[name]["ending"]["kind"] for name in ("canary", "trial-0")} == {
        "canary": "finished",
        "trial-0": "finished",
    }


def test_a_result_file_of_the_case_does_not_count(probe):
    """A case can do what it likes with its own process; it cannot speak for the probe, nor of another trial."""
    good = {"ending": {"kind": "finished", "stage": "evaluate"}, "final": {"loss": 0.1}}
    body = (
        'folder = json.load(open(sys.argv[1]))["results"]\n'
        "for n in range(2):\n"
        f'    json.dump({good!r}, open(f"{{folder}}/trial-{{n}}.json", "w"))\n'
        "os._exit(0)"
    )
    for seen in probe(body, trials=2):
        assert (seen.ending.kind, seen.numbers) == (EndingKind.EXITED, {})


def test_a_broken_trial_does_not_touch_the_next(probe):
    body = "if 'broken' in os.environ: raise ValueError\nos.environ['broken'] = 'yes'\ntoy.Model = None"
    seen = probe(body, trials=2)
    assert [one.ending.exception for one in seen] == ["TypeError"] * 2


class TestImporting:
    def test_a_version_may_be_anything_and_is_cut(self, tmp_path, monkeypatch):
        (tmp_path / "odd_version.py").write_text("__version__ = 7 * ['1.0.0.0.0.0.0.0.0.0']")
        monkeypatch.syspath_prepend(tmp_path)
        found = zygote.import_all(["odd_version"])
        assert len(found["versions"]["odd_version"]) == zygote.VERSION_LIMIT
        assert found["versions"]["python"].count(".") == 2

    def test_a_module_without_a_version_says_so(self, tmp_path, monkeypatch):
        (tmp_path / "no_version.py").write_text("")
        monkeypatch.syspath_prepend(tmp_path)
        assert zygote.import_all(["no_version"])["versions"]["no_version"] == "unknown"

    @pytest.mark.parametrize("text", ["import nothing_of_that_name", "raise SystemExit(3)", "raise KeyboardInterrupt"])
    def test_the_first_import_that_fails_is_the_last(self, tmp_path, monkeypatch, text):
        (tmp_path / "broken_import.py").write_text(text)
        (tmp_path / "never_imported.py").write_text("")
        monkeypatch.syspath_prepend(tmp_path)
        found = zygote.import_all(["broken_import", "never_imported"])
        assert found["error"].startswith("import broken_import: ")
        assert "never_imported" not in found["versions"]

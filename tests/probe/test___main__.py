"""The entry point loads the probe as a package of its own, and puts nothing on the path."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.probe.conftest import CASE, PROBE, trial


def test_no_module_of_the_harness_can_be_imported_by_a_case(probe):
    body = (
        "names = ('exceptions', 'stages', 'zygote')\n"
        "import importlib.util\n"
        "print([name for name in names if importlib.util.find_spec(name)])\n"
        "print([entry for entry in sys.path if 'probe' in os.path.basename(entry) and os.path.exists(entry + '/zygote.py')])"
    )
    assert probe(body)[0].output.split() == ["[]", "[]"]


def test_the_harness_itself_is_not_loaded(probe):
    (seen,) = probe("print(sorted(n for n in sys.modules if n.partition('.')[0] in ('harness', 'harness_probe'))[:2])")
    assert seen.output.strip() == "['harness_probe', 'harness_probe.child']"


def test_a_module_of_the_case_s_folder_does_not_stand_in_for_one_of_the_probe(probe):
    (probe.folder / "results.py").write_text("raise SystemExit('the wrong module')")
    written = probe.serve(trial("trial-0"), case=CASE.format(body="pass"))
    assert written["trial-0"]["ending"]["kind"] == "finished"


@pytest.mark.parametrize("arguments", [(), ("/no/such/request.json",)])
def test_without_a_request_it_fails_at_once(arguments):
    done = subprocess.run([sys.executable, "-I", str(PROBE), *arguments], check=False, capture_output=True, timeout=60)
    assert done.returncode == 1

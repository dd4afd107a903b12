"""``harness export``: what is refused, and the exported script in a bare environment."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.adapters.storage import case_files
from harness.jobs import preparation, trials
from harness.jobs.requests import EnvironmentRequest
from tests.fakes import Heard
from tests.offline import Offline, harness

__all__ = ["harness"]


class TestRefused:
    def test_an_unknown_release(self, harness: Offline):
        harness.publish()
        assert "3.4.9" in harness.refused("export", "identity", "--release", "3.4.9", code=2)[0]

    def test_a_strategy_of_several_processes_before_anything_is_resolved(self, harness: Offline):
        text = Path(case_files.read("identity").path).read_text(encoding="utf-8")
        path = harness.folder / "mine.py"
        path.write_text(text.replace("# replicas = 2", '# strategy = "multi-worker"'), encoding="utf-8")
        lines = harness.refused("export", str(path), "--release", "3.5.0", code=2)
        assert lines[0] == "harness: the strategy 'multi-worker' cannot be exported as one script"


@pytest.mark.real
@pytest.mark.parametrize(("version", "code", "told"), [("3.9.2", 1, "loss is not finite"), ("3.10.0", 0, "no symptom")])
def test_identity_in_the_bare_environment_of_a_release(tmp_path, version, code, told):
    """The script runs where the harness is not installed: on a broken release it says so, on a mended one not."""
    from harness.cli.commands.export import command
    from harness.services import open_services

    script = tmp_path / "for_upstream.py"
    assert command.main(["identity", "--release", version, "-o", str(script)], standalone_mode=False) == 0
    assert "import harness" not in script.read_text(encoding="utf-8")
    case = case_files.read("identity")
    with open_services() as services:
        found = preparation.find_release(services, "keras", version, Heard(), where="test")
        python = trials.prepare_release(services, [case], found, EnvironmentRequest(), Heard()).executable
    done = subprocess.run([python, "-I", str(script)], check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == code, done.stderr
    assert told in done.stdout
    assert "1 replica:  loss 0.08486" in done.stdout

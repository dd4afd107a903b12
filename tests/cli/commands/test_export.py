"""``harness export``: the pins, what is refused, and the exported script in a bare environment."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from harness.adapters.storage import case_files
from harness.cli.commands.export import pins_of
from tests.examples import release
from tests.offline import Offline, harness

__all__ = ["harness"]

RESOLVED = ("absl-py==2.1.0", "mlxtend==0.23.4", "numpy==2.0.2", "tensorflow-cpu==2.18.1", "wheel==0.45.0")


def test_only_what_the_case_asks_for_is_pinned():
    pins = pins_of(release("3.9.2"), ("tensorflow-cpu", "numpy<2.1", "mlxtend"), RESOLVED)
    assert pins == ("keras==3.9.2", "mlxtend==0.23.4", "numpy==2.0.2", "tensorflow==2.18.1")


@pytest.mark.parametrize(
    ("name", "pin"),
    [("tf-nightly-cpu", "tf-nightly-cpu==1"), ("tf-keras", "tf-keras==1"), ("tensorflow", "tensorflow==1")],
)
def test_only_the_name_of_the_stable_framework_is_made_common(name, pin):
    assert pins_of(release("3.9.2"), (name,), (f"{name}==1",)) == ("keras==3.9.2", pin)


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
    from harness.jobs import single
    from harness.services import open_services

    script = tmp_path / "for_upstream.py"
    assert command.main(["identity", "--release", version, "-o", str(script)], standalone_mode=False) == 0
    assert "import harness" not in script.read_text(encoding="utf-8")
    case = case_files.read("identity")
    with open_services() as services:
        found = single.find_release(services, "keras", version, where="test")
        python = single.prepare(services, [case], found, {"pins": (), "mode": "fixed", "python": None}).executable
    done = subprocess.run([python, "-I", str(script)], check=False, capture_output=True, text=True, timeout=600)
    assert done.returncode == code, done.stderr
    assert told in done.stdout
    assert "1 replica:  loss 0.08486" in done.stdout

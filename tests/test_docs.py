"""What the documentation takes from the code is what the code says now."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

from harness.adapters.storage.case_files import known_cases
from harness.cli.main import COMMANDS

ROOT = Path(__file__).parents[1]


def build():
    spec = importlib.util.spec_from_file_location("docs_build", ROOT / "docs" / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_commands_are_described_as_they_are():
    """`nox -s docs` would change nothing."""
    assert (ROOT / "docs" / "commands.md").read_text(encoding="utf-8") == build().commands_text()


def test_the_table_of_reference_reports_says_what_they_say():
    assert (ROOT / "reports" / "reference" / "README.md").read_text(encoding="utf-8") == build().reference_text()


def test_every_reference_report_is_of_a_case_that_exists():
    assert {path.stem for path in (ROOT / "reports" / "reference").glob("*.json")} <= set(known_cases())


def test_a_case_without_a_reference_report_is_named(tmp_path):
    module = build()
    (tmp_path / "new_case.py").touch()
    module.CASES = tmp_path
    assert module.reference_text().splitlines()[-1] == "Not run over every release yet: new_case."


def test_every_command_is_in_the_readme():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    missing = [name for name in COMMANDS if f"harness {name}" not in readme]
    assert not missing


def test_links_between_documents_lead_somewhere():
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "reports").rglob("*.md")]
    for document in documents:
        for target in re.findall(r"\]\((?!https?://|#)([^)#]+)", document.read_text(encoding="utf-8")):
            assert (document.parent / target).exists(), f"{document.name}: {target}"


def test_the_readme_names_only_cases_that_exist():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for name in re.findall(r"harness (?:bisect|run|diagnose|verify-fix|remedies|export) ([a-z_]+)(?![\w./])", readme):
        assert name in known_cases()

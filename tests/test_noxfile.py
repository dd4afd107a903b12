"""The session file: what the README tells a newcomer to type exists, and needs nothing but nox."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from harness.domain.cases.inline_metadata import metadata_text
from tests.examples import release
from tests.offline import NOWHERE, PUBLISHED, Offline, harness
from tests.test_architecture import ROOT, declared, modules, third_party

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

__all__ = ["harness"]

NOXFILE = ROOT / "noxfile.py"
SESSIONS = {"bisect", "lint", "repro", "tests", "types"}


def requirements() -> dict[str, Requirement]:
    block = metadata_text(NOXFILE.read_text(encoding="utf-8"), where="noxfile.py")
    assert block is not None
    found = [Requirement(text) for text in tomllib.loads(block)["dependencies"]]
    return {canonicalize_name(requirement.name): requirement for requirement in found}


def imported_by(name: str, seen: set[str]) -> set[str]:
    """Third-party modules that a module of the harness brings along, at any distance."""
    if name in seen or name == "harness":  # the package itself loads nothing until one of its names is used
        return set()
    seen.add(name)
    found: set[str] = set()
    for module in modules():
        if module.name == name:
            for wanted, _ in module.imports:
                found |= {wanted.partition(".")[0]} if third_party(wanted) else imported_by(wanted, seen)
    return found


def test_its_dependencies_are_those_of_the_project():
    """Two lists that drift apart give a newcomer an error at the first command."""
    assert set(requirements()) <= declared()


def test_it_declares_what_it_imports():
    tree = ast.parse(NOXFILE.read_text(encoding="utf-8"))
    direct = {node.module for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node.module}
    needed = set().union(*(imported_by(name, set()) for name in direct if name.startswith("harness")))
    assert {canonicalize_name(name) for name in needed} <= set(requirements())


def test_uv_comes_with_nox():
    assert requirements()["nox"].extras == {"uv"}


@pytest.fixture
def listed(harness: Offline):
    def listed(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "nox", "-f", str(NOXFILE), "--list", *arguments],
            capture_output=True,
            text=True,
            env={**os.environ, "HARNESS_HOME": str(harness.home), "HARNESS_INDEX_URL": NOWHERE},
            cwd=harness.folder,
            timeout=300,
            check=True,
        )

    return listed


def described(text: str) -> dict[str, str]:
    """Sessions with their descriptions from what ``nox -l`` prints."""
    return dict(re.findall(r"(?m)^[*-] (\S+)(?: \[.*\])? -> (.+)$", text))


def test_every_session_exists_and_says_in_one_line_what_it_does(harness: Offline, listed):
    harness.publish()
    sessions = described(listed().stdout)
    assert {name.partition("(")[0] for name in sessions} >= SESSIONS
    assert all(about.endswith(".") for about in sessions.values())


def test_there_is_a_session_for_every_stable_release_also_for_one_that_comes_out_tomorrow(harness: Offline, listed):
    """The list is read from the index page, cached and without a network; nobody edits a file."""
    harness.publish([*PUBLISHED, release("99.0.0", day=900)])
    sessions = json.loads(listed("--json", "-t", "repro").stdout)
    assert [session["session"] for session in sessions] == [
        f"repro({version})" for version in ("3.5.0", "3.6.0", "3.7.0", "3.9.9", "3.10.0", "99.0.0")
    ]


def test_without_any_index_the_other_sessions_still_work(listed):
    done = listed()
    assert set(described(done.stdout)) >= SESSIONS - {"repro"}
    assert "the repro sessions cannot be listed" in done.stderr
    assert "Traceback" not in done.stderr

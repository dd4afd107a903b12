"""Every case of the repository: one file, readable by a stranger, that also runs alone."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path

import pytest

from harness.adapters.storage import case_files
from harness.domain.cases.case import Case, Level
from tests.test_architecture import ROOT, third_party

FOLDER = ROOT / "repro_cases"
FILES = sorted(FOLDER.glob("*.py"))


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def names_of(tree: ast.Module) -> set[str]:
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_cases_of_the_main_job_are_there():
    assert {"identity", "mnist_cnn"} <= {path.stem for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
class TestEveryCase:
    @pytest.fixture
    def case(self, path: Path) -> Case:
        return case_files.read(str(path))

    def test_it_says_what_goes_wrong_and_where_that_was_reported(self, case):
        assert case.title
        assert len(case.title) <= 120
        assert case.origin
        assert all(re.fullmatch(r"https://\S+", url) for url in case.origin)

    def test_it_says_which_symptom_it_was_written_for_unless_it_is_a_control(self, case):
        """A control shows that nothing is wrong, and claims just that."""
        if case.expects is None:
            assert {claim.predicts for claim in case.claims} == {"good"}

    def test_it_explains_itself_to_a_stranger(self, path):
        assert len((ast.get_docstring(parsed(path)) or "").split()) >= 20

    def test_it_runs_alone(self, path):
        """`python repro_cases/identity.py` is what goes into an issue."""
        guards = [
            node
            for node in parsed(path).body
            if isinstance(node, ast.If)
            and "__name__" in ast.unparse(node.test)
            and "__main__" in ast.unparse(node.test)
        ]
        assert len(guards) == 1

    def test_it_knows_nothing_of_the_harness(self, path):
        text = path.read_text(encoding="utf-8")
        imported = [
            (alias.name if isinstance(node, ast.Import) else node.module or "")
            for node in ast.walk(parsed(path))
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        ]
        assert not [name for name in imported if name.split(".")[0] in ("harness", "harness_probe", "repro_cases")]
        assert "import_module" not in text

    def test_what_it_imports_is_declared(self, path, case):
        """A fresh environment has what the metadata asks for, and nothing else."""
        from packaging.requirements import Requirement

        asked = {Requirement(text).name for text in (case.package, *case.companions, *case.data_packages)}
        asked = {name.replace("-", "_") for name in asked} | {case.import_name}
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Import | ast.ImportFrom):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
                for name in names:
                    assert not third_party(name) or name.split(".")[0] in asked, name

    def test_a_model_case_defines_what_the_probe_calls(self, path, case):
        if case.level is Level.MODEL:
            assert {"data", "model"} <= names_of(parsed(path))

    def test_its_switches_are_arguments_of_its_functions(self, path, case):
        """A script has no functions that could be called; it gets them on the command line, as --name=value."""
        if case.level is Level.SCRIPT:
            assert all(f"--{name}=" in path.read_text(encoding="utf-8") for name in case.parameters)
            return
        functions = {node.name: node for node in parsed(path).body if isinstance(node, ast.FunctionDef)}
        accepted = {
            argument.arg
            for name in ("data", "model")
            if name in functions
            for argument in (*functions[name].args.args, *functions[name].args.kwonlyargs)
        }
        assert set(case.parameters) <= accepted
        for setting in [r.options for r in case.workarounds] + [r.against for r in case.workarounds]:
            assert all(value in case.parameters.get(name, ()) for name, value in setting.items())
        for claim in case.claims:
            assert all(value in case.parameters.get(name, ()) for name, value in claim.options.items())

    def test_importing_it_does_nothing_but_define(self, path):
        """The probe imports a case before it trains; work at the top would be done on every replica."""
        allowed = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.Assign, ast.AnnAssign, ast.If)
        for node in parsed(path).body:
            docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            assert docstring or isinstance(node, allowed), f"line {node.lineno}: {ast.unparse(node)[:60]}"

    def test_its_name_is_no_module_that_it_could_hide(self, path):
        import sys

        assert path.stem not in sys.stdlib_module_names
        assert path.stem not in ("keras", "tensorflow", "numpy", *dir(builtins))

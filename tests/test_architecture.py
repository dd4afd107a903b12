"""The house stays as it was drawn: imports run one way, one module starts processes, no framework comes in."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import harness

HOUSE = Path(harness.__file__).parent
ROOT = HOUSE.parent
FRAMEWORKS = {"tensorflow", "keras", "torch", "jax", "tf_keras", "keras_core"}

# Which part may import which: an arrow that is not here is not allowed. A part may always import itself.
# Inside a part, a folder or a module of its root may import itself and whatever comes before it.
DOMAIN = ("errors", "releases", "cases", "trials", "verdicts", "search", "findings", "fixes", "diagnosis", "nightly")
ADAPTERS = ("storage", "index", "processes", "environments", "trials", "git", "github", "webhook")
LINES = {"harness.domain": DOMAIN, "harness.adapters": ADAPTERS}
MOST_MODULES = 14  # of one folder: about a dozen can be read at a glance
LARGER_FOLDERS = {"harness/jobs": 15}  # one job each; none may be added before one has gone
LAYERS: dict[str, set[str]] = {
    "harness": {"harness.api", "harness.jobs.requests"},
    "harness.domain": set(),
    "harness.codec": {"harness.probe.results", "harness.domain.verdicts.reasons"},  # what both sides write; sentences
    "harness.jobs": {"harness.domain"},
    "harness.adapters": {"harness.domain", "harness.jobs.events", "harness.jobs.protocols", "harness.codec"},
    "harness.reporting": {"harness.domain", "harness.codec"},
    "harness.probe": set(),
    "harness.environment_noxfile": set(),
    "harness.services": {"harness.domain", "harness.jobs", "harness.adapters", "harness.reporting"},
    "harness.api": {"harness.domain", "harness.jobs", "harness.reporting", "harness.services"},
    "harness.cli": {
        "harness.domain",
        "harness.jobs",
        "harness.adapters",
        "harness.reporting",
        "harness.services",
        "harness.codec",
    },
    "harness.__main__": {"harness.cli"},
}
IMPURE = {
    "os",
    "time",
    "subprocess",
    "socket",
    "logging",
    "random",
    "threading",
    "tempfile",
    "shutil",
    "pathlib",
    "sys",
}
PURE_THIRD_PARTY = {"packaging"}
ONLY = {
    "subprocess": {"harness.adapters.processes.process"},
    "multiprocessing": set(),
    "socket": set(),
    "logging": set(),
}
RUN_ELSEWHERE = ("harness.probe", "harness.environment_noxfile")  # in the target's process, and in nox's


@dataclass(frozen=True)
class Module:
    """One file of the house, with every module that it imports at any level of its code."""

    name: str
    path: Path
    imports: tuple[tuple[str, int], ...]

    @property
    def layer(self) -> str:
        return next(layer for layer in sorted(LAYERS, key=len, reverse=True) if within(self.name, layer))


def within(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


@lru_cache(maxsize=1)
def modules() -> tuple[Module, ...]:
    return tuple(read(path) for path in sorted(HOUSE.rglob("*.py")) if "bundled_cases" not in path.parts)


def read(path: Path) -> Module:
    parts = path.relative_to(ROOT).with_suffix("").parts
    package = parts[:-1]
    name = ".".join(package if parts[-1] == "__init__" else parts)
    return Module(name, path, tuple(imported(ast.parse(path.read_text(encoding="utf-8")), package)))


def imported(tree: ast.Module, package: tuple[str, ...]) -> Iterator[tuple[str, int]]:
    """Yield (module, line) for every import statement and every importlib.import_module with a constant."""
    for node in ast.walk(tree):
        match node:
            case ast.Import():
                yield from ((alias.name, node.lineno) for alias in node.names)
            case ast.ImportFrom():
                above = package[: len(package) - node.level + 1] if node.level else ()
                base = ".".join([*above, *([node.module] if node.module else [])])
                for alias in node.names:
                    member = f"{base}.{alias.name}"
                    yield (member if is_module(member) else base), node.lineno
            case ast.Call(
                func=ast.Attribute(attr="import_module") | ast.Name(id="import_module" | "__import__"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield name, node.lineno
            case _:
                pass


def is_module(name: str) -> bool:
    place = ROOT.joinpath(*name.split("."))
    return place.with_suffix(".py").exists() or (place / "__init__.py").exists()


def third_party(name: str) -> bool:
    top = name.partition(".")[0]
    return top not in sys.stdlib_module_names and top not in ("harness", "harness_probe", "repro_case")


def test_the_walk_sees_the_whole_house():
    """A test over an empty list would prove nothing."""
    names = {module.name for module in modules()}
    assert {
        "harness.cli",
        "harness.domain.verdicts.judgement",
        "harness.adapters.processes.process",
        "harness.probe.zygote",
    } <= names
    seen = {name for module in modules() for name, _ in module.imports}
    assert {"harness.domain.errors", "harness.cli.options", "subprocess", "tensorflow", "numpy"} <= seen


def test_the_walk_sees_imports_of_every_form():
    lines = ["import a.b", "from c import d", "from . import e", "from ..f import g"]
    source = "\n".join([*lines, "def h():", "    import i", "    importlib.import_module('j')"])
    assert [name for name, _ in imported(ast.parse(source), ("p", "q"))] == ["a.b", "c", "p.q", "p.f", "i", "j"]


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.name)
class TestEveryModule:
    def test_imports_run_one_way(self, module):
        """cli -> jobs -> protocols -> domain, adapters -> protocols and domain, reporting -> domain, probe -> nothing."""
        own = {module.layer} - {"harness"}  # below which everything lies
        allowed = {*own, *LAYERS[module.layer]}
        wrong = [
            f"line {line} imports {name}"
            for name, line in module.imports
            if within(name, "harness") and name != "harness" and not any(within(name, part) for part in allowed)
        ]
        assert not wrong, f"{module.name} belongs to {module.layer}, which may import {sorted(allowed)}"

    def test_no_command_imports_another_one(self, module):
        """What two commands share is an option, a job or a report."""
        commands = "harness.cli.commands"
        if within(module.name, commands):
            assert not [f"line {line} imports {name}" for name, line in module.imports if within(name, commands)]

    def test_click_stays_in_the_command_line(self, module):
        if not within(module.name, "harness.cli"):
            assert not [f"line {line}" for name, line in module.imports if within(name, "click")]

    def test_the_real_objects_are_built_for_the_command_line_and_for_python_alone(self, module):
        """Whoever else needs the world gets it as an argument."""
        if not within(module.name, "harness.cli") and module.name != "harness.api":
            assert not [f"line {line}" for name, line in module.imports if within(name, "harness.services")]

    def test_only_one_module_starts_processes(self, module):
        for name, line in module.imports:
            assert module.name in ONLY.get(name.split(".")[0], {module.name}), f"line {line} imports {name}"

    def test_no_framework_is_imported_outside_the_probe(self, module):
        if within(module.name, "harness.probe"):
            return
        wrong = [f"line {line} imports {name}" for name, line in module.imports if name.split(".")[0] in FRAMEWORKS]
        assert not wrong

    def test_no_module_is_named_after_one_of_the_standard_library(self, module):
        """A traceback that says `queue.py` must never leave open whose."""
        assert module.name.rsplit(".", 1)[-1] not in sys.stdlib_module_names

    def test_no_module_is_named_after_nothing(self, module):
        assert not {"utils", "util", "helpers", "helper", "manager", "data", "info", "common", "misc"} & {
            *module.name.split(".")
        }

    def test_it_says_what_it_is_for(self, module):
        assert ast.get_docstring(ast.parse(module.path.read_text(encoding="utf-8")))


def member(name: str, part: str) -> str:
    """The folder or module right below a part that a name belongs to; "" for the part itself and for others."""
    return name[len(part) + 1 :].partition(".")[0] if within(name, part) else ""


@pytest.mark.parametrize("part", LINES)
def test_the_folders_of_a_part_form_a_line(part):
    """Who reads a folder needs to know only those before it."""
    line = LINES[part]
    inside = {member(module.name, part) for module in modules()} - {""}
    assert inside == set(line), "each folder has its place in the line"
    wrong = [
        f"{module.name} line {number} imports {name}"
        for module in modules()
        for name, number in module.imports
        if (own := member(module.name, part)) and (other := member(name, part)) and line.index(other) > line.index(own)
    ]
    assert not wrong


def folders() -> list[Path]:
    return sorted({module.path.parent for module in modules()})


@pytest.mark.parametrize("folder", folders(), ids=lambda folder: str(folder.relative_to(ROOT)))
class TestEveryFolder:
    def test_it_can_be_read_at_a_glance(self, folder):
        found = [path.name for path in folder.glob("*.py") if path.name != "__init__.py"]
        most = LARGER_FOLDERS.get(folder.relative_to(ROOT).as_posix(), MOST_MODULES)
        assert len(found) <= most, sorted(found)

    def test_it_says_in_a_few_sentences_what_lives_there(self, folder):
        text = ast.get_docstring(ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))) or ""
        sentences = [part for part in re.split(r"(?<=[.!?])\s+", " ".join(text.split())) if part]
        assert 1 <= len(sentences) <= 3, sentences


@pytest.mark.parametrize(
    "module", [m for m in modules() if m.layer == "harness.domain"], ids=lambda module: module.name
)
def test_the_core_is_pure(module):
    """The core can be imported with nothing but `packaging` installed, and touches neither clock nor disk."""
    for name, line in module.imports:
        top = name.split(".")[0]
        assert top not in IMPURE, f"line {line} imports {name}"
        assert not third_party(name) or top in PURE_THIRD_PARTY, f"line {line} imports {name}"
    calls = [
        node for node in ast.walk(ast.parse(module.path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)
    ]
    for call in calls:
        assert getattr(call.func, "id", "") not in ("open", "print", "input", "exec", "eval"), f"line {call.lineno}"
        assert getattr(call.func, "attr", "") not in ("now", "today", "utcnow"), f"line {call.lineno}"


def prints(tree: ast.Module) -> Iterator[int]:
    """Yield the line of each call that prints, and of each that makes a console to print on."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="print" | "echo" | "secho" | "Console")):
                yield node.lineno
            case ast.Call(func=ast.Attribute(attr="print" | "echo" | "secho" | "Console" | "print_json")):
                yield node.lineno
            case _:
                pass


def test_the_walk_sees_every_way_to_print():
    calls = ["print(1)", "click.echo(1)", "echo(1)", "Console()", "rich.console.Console()", "self.console.print(1)"]
    assert list(prints(ast.parse("\n".join([*calls, "printed(1)", "x.show(1)"])))) == [1, 2, 3, 4, 5, 6]


SILENT = ("harness.domain", "harness.jobs", "harness.adapters", "harness.reporting", "harness.services", "harness.api")


@pytest.mark.parametrize("module", [m for m in modules() if m.layer in SILENT], ids=lambda module: module.name)
def test_only_the_command_line_prints(module):
    """Reports and answers are returned, so that the Python interface and a notebook can have them too."""
    lines = list(prints(ast.parse(module.path.read_text(encoding="utf-8"))))
    assert not lines, f"lines {lines} print: return the text or the renderable instead"


@pytest.mark.parametrize("module", [m for m in modules() if m.layer == "harness.probe"], ids=lambda module: module.name)
def test_the_probe_needs_nothing_but_what_the_target_has(module):
    """It runs in the environment under test, where neither the harness nor its dependencies are installed."""
    for name, line in module.imports:
        there = {*FRAMEWORKS, "numpy", *({"pytest"} if within(module.name, "harness.probe.runners") else ())}
        assert not third_party(name) or name.split(".")[0] in there, f"line {line} imports {name}"


def declared() -> set[str]:
    """Distributions that pyproject.toml asks for, its extras included."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [text for texts in project["optional-dependencies"].values() for text in texts]
    return {canonicalize_name(Requirement(text).name) for text in (*project["dependencies"], *extras)}


def test_every_library_that_is_imported_is_declared():
    """What comes along with another library today may not come along tomorrow."""
    providers = packages_distributions()
    missing = {
        f"{module.name} line {line}: {name}"
        for module in modules()
        if not within(module.name, "harness.probe")
        for name, line in module.imports
        if third_party(name)
        and not {canonicalize_name(found) for found in providers.get(name.split(".")[0], [name])} & declared()
    }
    assert not missing


def loaded(*arguments: str, program: str = "") -> dict[str, list[str]]:
    """Run a fresh interpreter and return the top-level modules that it holds at its end."""
    tail = "\nimport json, sys\nprint(json.dumps(sorted({n.partition('.')[0] for n in sys.modules})), file=sys.stderr)"
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "COVERAGE", "COV_"))}
    done = subprocess.run(
        [sys.executable, "-c", program + tail, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        cwd=ROOT,
        check=True,
        timeout=300,
    )
    return {"modules": json.loads(done.stderr.strip().splitlines()[-1]), "printed": [done.stdout]}


def test_the_harness_process_never_holds_a_framework():
    """Every module that runs in it is imported, and none brings TensorFlow or its kin along."""
    names = [m.name for m in modules() if not m.name.startswith(RUN_ELSEWHERE) or m.name == "harness.probe.results"]
    found = loaded(
        program=f"import importlib; [importlib.import_module(n) for n in {names!r} if n != 'harness.__main__']"
    )
    assert "harness" in found["modules"]
    assert not FRAMEWORKS & set(found["modules"])


@pytest.mark.parametrize("asked", [["--help"], ["--version"]])
def test_help_loads_nothing_that_it_does_not_need(asked):
    """Commands are loaded when they are called; help needs click alone."""
    found = loaded(*asked, program="import sys\nfrom harness.cli.main import run\nrun(sys.argv[1:])")
    heavy = {
        "rich",
        "pydantic",
        "requests",
        "pypi_simple",
        "jinja2",
        "nox",
        "psutil",
        "numpy",
        "junitparser",
        "tenacity",
    }
    assert found["printed"][0].startswith(("Usage: harness", "harness, version"))
    assert not (heavy | FRAMEWORKS) & set(found["modules"])


def mirror(module: Module) -> Path:
    *folders, name = module.name.split(".")[1:]
    return ROOT.joinpath("tests", *folders, f"test_{name}.py")


def test_each_test_file_of_a_mirrored_folder_has_its_module():
    """tests/domain/test_x.py is about harness/domain/x.py: whoever changes one finds the other."""
    mirrors = {mirror(module) for module in modules() if module.name != "harness"}
    folders = {path.parent for path in mirrors} - {ROOT / "tests"}
    orphans = [path for folder in folders for path in folder.glob("test_*.py") if path not in mirrors]
    assert not orphans


NEEDS_NO_TEST = ("__init__", "__main__", "environment_noxfile")


def is_package(module: Module) -> bool:
    return module.path.name == "__init__.py"


def test_every_module_has_its_test_module():
    """Whoever changes a module finds its test by its place and name."""
    own = [module for module in modules() if not is_package(module) and module.path.stem not in NEEDS_NO_TEST]
    assert not [module.name for module in own if not mirror(module).exists()]

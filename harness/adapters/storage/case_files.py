"""Find and read cases: by name in ``repro_cases/``, or any file on disk."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import harness
from harness.adapters.storage import beside
from harness.domain.cases.case import Case, Level
from harness.domain.cases.inline_metadata import metadata_text
from harness.domain.cases.metadata import build_case, harness_table
from harness.domain.cases.shapes.deduction import companions_of_imports, from_dependencies, from_imports
from harness.domain.cases.shapes.notebook import read_notebook
from harness.domain.cases.shapes.runners import Runner, choose_runner, refuse
from harness.domain.cases.shapes.source import Source, read_source
from harness.domain.errors import UsageError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

CLAIMS = ".claims.toml"  # beside a case: its workarounds and claims
LARGEST_CASE = 1_000_000  # bytes; a case is a page or two
LARGEST_NOTEBOOK = 50_000_000  # its pictures count
COMMAND = "command:"  # before what is no file but a command
NOTEBOOK = ".ipynb"
SHAPES = (".py", NOTEBOOK)


def case_folders() -> list[Path]:
    """Where cases are looked for by name: the working folder, the checkout, the installed package."""
    package = Path(harness.__file__).parent
    folders = [Path.cwd() / "repro_cases", package.parent / "repro_cases", package / "bundled_cases"]
    return [folder for folder in dict.fromkeys(folders) if folder.is_dir()]


def known_cases() -> dict[str, Path]:
    """Every case that can be called by name."""
    found: dict[str, Path] = {}
    for folder in case_folders():
        for path in sorted(folder.glob("*.py")):
            found.setdefault(path.stem, path)
    return found


@dataclass(frozen=True, kw_only=True)
class _Given:
    """A case as it lies on the disk: where, which of its tests is meant, its code, and what its magics install."""

    path: Path
    node: str
    text: str
    source: Source
    requirements: tuple[str, ...]
    notes: tuple[str, ...]


def read(name_or_path: str, *, package: str | None = None) -> Case:
    """Read one case.

    Args:
        name_or_path: A name in ``repro_cases/``; a path, for a test followed by ``::`` and its name; or a command
            after ``command:``.
        package: Distribution under test instead of the one that the file says, or that follows from it.

    Raises:
        UsageError: unknown case, bad metadata in the case or in the file of claims beside it, nothing says what is
            under test, or it only defines things.
    """
    if name_or_path.startswith(COMMAND):
        return _command(name_or_path.removeprefix(COMMAND).strip(), package)
    given = _open(name_or_path)
    path = given.path
    block = metadata_text(given.text, where=str(path))
    metadata = _toml(block, path, "correct the '# /// script' block at the top") if block is not None else {}
    table = harness_table(metadata, path=str(path))
    assumed: tuple[str, ...] = given.notes
    if table is None:
        metadata, more = _deduced(given, metadata, package)
        assumed += more
    elif package is not None:
        metadata = {**metadata, "tool": {"harness": {**table, "package": package}}}
    claims_path = path.with_suffix(CLAIMS)
    case = build_case(
        name=path.stem.encode("utf-8", "backslashreplace").decode(),  # a file's name need not be text
        path=str(path),
        text=given.text,
        metadata=metadata,
        defines_model={"model", "data"} <= set(given.source.functions),
        claims_path=str(claims_path),
        claims=_toml(text_of(claims_path), claims_path, "correct it") if claims_path.is_file() else None,
    )
    case = replace(case, node=given.node, assumed=assumed)
    return _as_script(case, given, stated="runner" in (table or {})) if case.level is Level.SCRIPT else case


def _open(name_or_path: str) -> _Given:
    name, _, node = name_or_path.partition("::")
    path = _locate(name)
    if node and path.suffix == NOTEBOOK:
        raise UsageError("a notebook has no tests to name", where=name_or_path, hint=f"run all of it: {name}")
    if path.suffix == NOTEBOOK:
        book = read_notebook(text_of(path), path=str(path))
        text, requirements = book.script, book.requirements
        notes = [f"not run in the notebook: {', '.join(book.left_out)}"] if book.left_out else []
    else:
        text, requirements, notes = text_of(path), (), []
    return _Given(
        path=path, node=node, text=text, source=_parsed(text, path), requirements=requirements, notes=tuple(notes)
    )


def _deduced(given: _Given, metadata: Mapping[str, Any], package: str | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The metadata of a file that does not say what is under test, with what follows from it, and the assumption."""
    where, source = str(given.path), given.source
    named = list(metadata.get("dependencies", ()) if isinstance(metadata.get("dependencies"), list) else ())
    assumed: tuple[str, ...] = ()
    if metadata:
        if package is None:
            deduced = from_dependencies([text for text in named if isinstance(text, str)], path=where)
            package, assumed = deduced.package, (deduced.assumption,)
    elif package is None:
        local = [one.stem for one in given.path.parent.iterdir() if one.suffix == ".py" or one.is_dir()]
        found = from_imports(source, given.text, local=local, standard=sys.stdlib_module_names, path=where)
        package, assumed = found.package, (found.assumption,)
        named = _beside_own([*found.dependencies, *given.requirements])
    else:
        named = _beside_own([*companions_of_imports(source, given.text, package), *given.requirements])
    changed = {**metadata, "tool": {"harness": {"package": package}}}
    return {**changed, "dependencies": named} if not metadata else changed, assumed


def _beside_own(requirements: Sequence[str]) -> list[str]:
    """One requirement per package; what the file itself asks for comes later and wins."""
    return list({canonicalize_name(Requirement(text).name): text for text in requirements}.values())


def _as_script(case: Case, given: _Given, *, stated: bool) -> Case:
    """The case with its runner, and with the files that it reads.

    Raises:
        UsageError: nothing runs what it defines.
    """
    runner = case.runner if stated else choose_runner(given.source, node=given.node)
    if runner is None:
        raise refuse(given.source, path=str(given.path))
    names = {canonicalize_name(Requirement(text).name) for text in case.companions}
    needed = ("pytest",) if runner is Runner.PYTEST and "pytest" not in names else ()
    case = replace(case, runner=runner, companions=(*case.companions, *needed))
    if known_cases().get(case.name) == given.path:
        return case
    folder = given.path.parent if given.path.suffix == NOTEBOOK else Path.cwd()
    return _with_files(replace(case, folder=str(folder)))


def _with_files(case: Case) -> Case:
    found = files_of(case)
    notes = tuple(
        f"{name} is too large to be copied for each trial: trials read it where it lies, and must not write into it"
        for name in found.linked
    )
    return replace(case, beside_digest=found.digest, assumed=(*case.assumed, *notes))


def files_of(case: Case) -> beside.Beside:
    """The files that a case reads, as they are now."""
    if not case.folder:
        return beside.Beside()
    if case.runner is Runner.COMMAND:
        return beside.all_of(Path(case.folder))
    own = {case.import_name, "tensorflow", "keras", "numpy", "pytest"}
    return beside.find(case.text, Path(case.path), Path(case.folder), case.files, own=own)


def _command(text: str, package: str | None) -> Case:
    if not text:
        raise UsageError("the command is empty", where="--command", hint="for example --command 'make check'")
    if package is None:
        raise UsageError(
            "what is under test? a command does not say it", where=f"--command {text!r}", hint="add --package NAME"
        )
    case = build_case(
        name="-".join("".join(sign if sign.isalnum() else " " for sign in text).split()[:4]) or "command",
        path=f"{COMMAND}{text}",
        text=text,
        metadata={"tool": {"harness": {"package": package, "level": Level.SCRIPT.value}}},
        defines_model=False,
    )
    case = replace(case, runner=Runner.COMMAND, folder=str(Path.cwd()))
    found = files_of(case)
    if found.linked:
        raise UsageError(
            f"the folder is too large to be copied for each trial: {', '.join(path.name for path in found.linked)}",
            where=case.folder,
            hint=f"run the command in a folder with at most {beside.LARGEST >> 20} MB in each entry",
        )
    return _with_files(case)


def read_all(names: Iterable[str] = ()) -> list[Case]:
    """Read the named cases, or all that are known."""
    return [read(name) for name in (names or known_cases())]


def callable_as(case: Case) -> str:
    """The shortest word that finds the case again: its name, or its path."""
    known = known_cases().get(case.name)
    return case.name if known is not None and str(known) == case.path and not case.node else case.word


def _locate(name_or_path: str) -> Path:
    path = Path(name_or_path)
    if path.suffix in SHAPES or "/" in name_or_path:
        if path.is_file():
            return path.absolute()
        raise UsageError(
            "there is no such case file", where=name_or_path, hint="give the path of a Python file or a notebook"
        )
    known = known_cases()
    if name_or_path in known:
        return known[name_or_path]
    near = difflib.get_close_matches(name_or_path, known, n=3, cutoff=0.4)
    raise UsageError(
        f"unknown case {name_or_path!r}",
        where="./repro_cases and the bundled cases",
        hint=f"did you mean {' or '.join(near)}?" if near else f"known cases: {', '.join(sorted(known)) or 'none'}",
    )


def text_of(path: Path) -> str:
    """Read a case; raises `UsageError` when it cannot be one."""
    try:
        largest = LARGEST_NOTEBOOK if path.suffix == NOTEBOOK else LARGEST_CASE
        if path.stat().st_size > largest:
            raise UsageError("the case file is too large", where=str(path), hint=f"a case has at most {largest} bytes")
        return path.read_text(encoding="utf-8-sig")  # some editors begin a file with a byte order mark
    except OSError as error:
        raise UsageError(f"the case cannot be read: {error.strerror}", where=str(path)) from error
    except UnicodeDecodeError as error:
        raise UsageError("the case is not UTF-8 text", where=str(path), hint="save it as UTF-8") from error


def code_now(case: Case) -> str:
    """The code of a case as it is now; a notebook's is made of its cells, and a command is its own text."""
    if case.runner is Runner.COMMAND:
        return case.text
    path = Path(case.path)
    text = text_of(path)
    return read_notebook(text, path=case.path).script if path.suffix == NOTEBOOK else text


def _toml(block: str, path: Path, hint: str) -> dict[str, Any]:
    try:
        table: dict[str, Any] = tomllib.loads(block)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UsageError(f"the metadata is not TOML: {error}", where=str(path), hint=hint) from error
    return table


def _parsed(text: str, path: Path) -> Source:
    try:
        return read_source(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:  # the last two: nested too deeply
        raise UsageError(f"the case is not Python: {error}", where=str(path), hint="run it alone first") from error

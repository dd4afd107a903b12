"""What a Python source does when it is run, as far as its text shows that."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LEAVES = {"exit", "quit", "_exit", "abort"}
_STARTS_TESTS = {"unittest.main", "pytest.main", "absltest.main", "tf.test.main"}


@dataclass(frozen=True, kw_only=True)
class Source:
    """What a source defines and does.

    Attributes:
        functions: Functions of the module, in order.
        without_arguments: Those of them that can be called without an argument.
        classes: Its classes, in order.
        tests: Functions and classes that pytest would collect.
        test_cases: Classes of unittest.
        imports: Modules that it imports, at whatever depth of its code, as they are written.
        called: Names that stand in it anywhere but where they are defined.
        acts: Running it does more than import, define and set constants.
        starts_tests: It calls `unittest.main()` or the like.
        checks: It asserts, raises or leaves by itself: it can fail where nothing it calls does.
        checks_itself: It does so outside of its functions and classes.
        imports_only: It does nothing but import.
        texts: Every text in it; of a formatted text a pattern, with ``*`` for what is put in.
    """

    functions: tuple[str, ...] = ()
    without_arguments: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()
    test_cases: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    called: frozenset[str] = frozenset()
    acts: bool = False
    starts_tests: bool = False
    checks: bool = False
    checks_itself: bool = False
    imports_only: bool = False
    texts: tuple[str, ...] = ()


def read_source(text: str) -> Source:
    """Read a source; raises what `ast.parse` raises where it is no Python."""
    tree = ast.parse(text)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    calls = [dotted(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    starts_tests = any(name in _STARTS_TESTS for name in calls)
    return Source(
        functions=tuple(node.name for node in functions),
        without_arguments=tuple(node.name for node in functions if _takes_nothing(node)),
        classes=tuple(node.name for node in classes),
        tests=tuple(_tests(functions, classes)),
        test_cases=tuple(node.name for node in classes if _is_test_case(node)),
        imports=tuple(dict.fromkeys(_imports(tree))),
        called=frozenset(node.id for node in ast.walk(tree) if isinstance(node, ast.Name)),
        acts=any(_acts(node) for node in tree.body),
        starts_tests=starts_tests,
        checks=starts_tests or _checks(tree.body),
        checks_itself=_checks(node for node in tree.body if not isinstance(node, _DEFINITIONS)),
        imports_only=bool(tree.body) and not functions and not classes and not any(map(_acts, tree.body)),
        texts=tuple(dict.fromkeys(_texts(tree))),
    )


def dotted(node: ast.expr) -> str:
    """A name with its dots, ``os.environ``; "" for what is no name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr}" if before else ""
    return ""


def _takes_nothing(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    given = node.args
    needed = len(given.posonlyargs) + len(given.args) - len(given.defaults)
    return needed == 0 and all(default is not None for default in given.kw_defaults)


def _tests(
    functions: Iterable[ast.FunctionDef | ast.AsyncFunctionDef], classes: Iterable[ast.ClassDef]
) -> Iterator[str]:
    yield from (node.name for node in functions if node.name.startswith("test"))
    for node in classes:
        if node.name.startswith("Test") and not _is_test_case(node) and _has_tests(node):
            yield node.name


def _has_tests(node: ast.ClassDef) -> bool:
    return any(isinstance(part, ast.FunctionDef) and part.name.startswith("test") for part in node.body)


def _is_test_case(node: ast.ClassDef) -> bool:
    """By the name of a base: unittest's own, and those of TensorFlow, Keras and absl that derive from it."""
    return _has_tests(node) and any(dotted(base).endswith("TestCase") for base in node.bases)


def _imports(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            yield node.module


def _acts(node: ast.stmt) -> bool:
    """Whether a statement of the module does something that can go wrong; an import is told apart."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Pass():
            return False
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return False
        case ast.Expr(value=ast.Constant()):
            return False
        case ast.Assign() | ast.AnnAssign():
            return any(isinstance(part, ast.Call) for part in ast.walk(node))
        case ast.If() | ast.Try():
            return any(_acts(part) for part in _inside(node))
        case _:
            return True


def _inside(node: ast.If | ast.Try) -> Iterator[ast.stmt]:
    yield from node.body
    yield from node.orelse
    if isinstance(node, ast.Try):
        yield from node.finalbody
        for handler in node.handlers:
            yield from handler.body


def _checks(statements: Iterable[ast.stmt]) -> bool:
    for node in (part for statement in statements for part in ast.walk(statement)):
        if isinstance(node, ast.Assert | ast.Raise):
            return True
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else dotted(node.func)
            if name in _LEAVES or name.lower().startswith(("assert", "check")):
                return True
    return False


def _texts(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "*" for part in node.values]
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value

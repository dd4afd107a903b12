"""What a source does, from its text."""

from __future__ import annotations

import pytest

from harness.domain.cases.shapes.source import Source, read_source


@pytest.mark.parametrize(
    ("text", "acts"),
    [
        ("import keras\nfrom os import path\npass", False),
        ("'words'\nN = 3\nM: int = 4", False),
        ("N = max(1, 2)", True),
        ("M: int = max(1, 2)", True),
        ("def f(): g()\nclass C: pass\nasync def h(): pass", False),
        ("f()", True),
        ("if __name__ == '__main__':\n    f()", True),
        ("if X:\n    A = 1\nelse:\n    import b", False),
        ("try:\n    import a\nexcept ImportError:\n    a = None\nelse:\n    pass\nfinally:\n    pass", False),
        ("try:\n    import a\nexcept ImportError:\n    f()", True),
        ("for i in X: pass", True),
    ],
)
def test_what_acts(text: str, acts: bool) -> None:
    assert read_source(text).acts is acts


@pytest.mark.parametrize(
    ("text", "checks", "itself"),
    [
        ("assert x", True, True),
        ("def f(): raise ValueError", True, False),
        ("import sys\nsys.exit(1)", True, True),
        ("exit(1)", True, True),
        ("np.testing.assert_allclose(a, b)", True, True),
        ("print(f()())", False, False),
        ("model.fit(x)", False, False),
        ("unittest.main()", True, False),
    ],
)
def test_what_checks(text: str, checks: bool, itself: bool) -> None:
    read = read_source(text)
    assert (read.checks, read.checks_itself) == (checks, itself)


def test_what_is_defined_and_imported() -> None:
    text = """
import a.b, c
from d.e import f
from . import own
def one(x): from g import h
def two(x=1, *, y=2): pass
def three(*, z): pass
def test_it(): two()
class TestThat:
    def test_x(self): pass
class TestNothing:
    size = 1
class Case(unittest.TestCase):
    def test_y(self): pass
class Base(make()): pass
"""
    read = read_source(text)
    assert read.functions == ("one", "two", "three", "test_it")
    assert read.without_arguments == ("two", "test_it")
    assert read.classes == ("TestThat", "TestNothing", "Case", "Base")
    assert read.tests == ("test_it", "TestThat")
    assert read.test_cases == ("Case",)
    assert set(read.imports) == {"a.b", "c", "d.e", "g"}
    assert "two" in read.called
    assert not read.imports_only


def test_an_import_alone_is_told_apart_from_nothing() -> None:
    assert read_source("import keras").imports_only
    assert not read_source("").imports_only
    assert read_source("") == Source()


def test_texts_are_kept_and_formatted_ones_become_patterns() -> None:
    assert set(read_source("open('a.csv'); open(f'b_{i}.csv')").texts) >= {"a.csv", "b_*.csv"}

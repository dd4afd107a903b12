"""Which changed files have to go together."""

from __future__ import annotations

from harness.domain.search.needs import closed, needs

CORE = "p/core.py"


def direct(before: dict[str, str], after: dict[str, str]) -> dict[str, set[str]]:
    return {name: set(wanted) for name, wanted in needs(before, after, {*before, *after}).items() if wanted}


def test_a_file_needs_the_one_that_defines_what_it_newly_imports():
    before = {CORE: "", "p/names.py": "OLD = 1\n"}
    for line in ("from p.names import NEW", "from .names import NEW"):
        assert direct(before, {CORE: line, "p/names.py": "OLD = 1\nNEW = 2\n"}) == {CORE: {"p/names.py"}}


def test_a_name_that_is_only_spoken_of_is_not_defined():
    before = {CORE: "", "p/names.py": "class NewOne:\n    'As a New one.'\n\ndef old(): ...\n"}
    after = {CORE: "from p.names import New", "p/names.py": "class New: ...\nimport os.path as old\n"}
    assert direct(before, after) == {CORE: {"p/names.py"}}


def test_a_file_needs_new_modules_and_packages():
    for line, place in (
        ("import p.new", "p/new.py"),
        ("import p.new", "p/new/__init__.py"),
        ("from p import new", "p/new.py"),
        ("from . import new", "p/new/__init__.py"),
    ):
        assert direct({CORE: "", "p/__init__.py": ""}, {CORE: line, place: "", "p/__init__.py": ""})[CORE] >= {place}


def test_a_file_that_no_longer_defines_something_needs_those_that_import_it():
    before = {CORE: "from p.names import OLD", "p/names.py": "OLD = 1\n"}
    assert direct(before, {CORE: "", "p/names.py": "NEW = 1\n"}) == {"p/names.py": {CORE}}


def test_what_is_defined_on_both_sides_or_elsewhere_needs_nothing():
    for line in (
        "from p.names import OLD",
        "import p.names",
        "import numpy",
        "from p import names",
        "from p.stars import ANY",
        "from p.names import *",
        "x = (",
    ):
        before = {CORE: "", "p/names.py": "OLD = 1\n", "p/stars.py": "from p.names import *\n"}
        assert direct(before, {**before, CORE: line}) == {}
    assert direct({"p/data.txt": ""}, {"p/data.txt": "import p.new", "p/new.py": ""}) == {}


def test_files_that_are_no_candidates_are_left_out():
    before, after = {CORE: "from p.names import OLD", "p/names.py": "OLD = 1\n"}, {CORE: "", "p/names.py": ""}
    assert needs(before, after, [CORE]) == {CORE: frozenset()}


def test_a_set_is_closed_over_what_it_needs():
    wanted = {"a": frozenset({"b"}), "b": frozenset({"c", "a"}), "c": frozenset[str](), "d": frozenset({"a"})}
    assert closed(["a"], wanted) == ("a", "b", "c")
    assert closed([], wanted) == ()
    assert closed(["d", "c"], wanted) == ("a", "b", "c", "d")

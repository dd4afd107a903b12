"""A file is run by what checks something in it, or refused."""

from __future__ import annotations

import pytest

from harness.domain.cases.shapes.runners import Runner, choose_runner, refuse
from harness.domain.cases.shapes.source import read_source

CASE = "class T(unittest.TestCase):\n    def test_x(self): pass\n"


@pytest.mark.parametrize(
    ("text", "runner"),
    [
        ("import keras", Runner.SCRIPT),
        ("", Runner.SCRIPT),
        ("import keras\nkeras.f()", Runner.SCRIPT),
        ("def f(): pass\nf()", Runner.SCRIPT),
        ("def test_x(): pass", Runner.PYTEST),
        ("class TestX:\n    def test_y(self): pass", Runner.PYTEST),
        ("keras.utils.set_random_seed(1)\ndef test_x(): pass", Runner.PYTEST),
        ("def test_x(): pass\nif __name__ == '__main__':\n    pytest.main([__file__])", Runner.PYTEST),
        ("def test_x(): pass\ntest_x()", Runner.SCRIPT),
        ("def test_x(): pass\nassert keras.ok()", Runner.SCRIPT),
        (CASE, Runner.UNITTEST),
        (CASE + "def test_y(): pass", Runner.PYTEST),
        (CASE + "if __name__ == '__main__':\n    unittest.main()", Runner.UNITTEST),
        (CASE + "print(T('test_x').run())", Runner.SCRIPT),
        ("def main(): pass", Runner.MAIN),
        ("def main(argv): pass", None),
        ("def shows(): pass", None),
        ("class Shows: pass", None),
    ],
)
def test_what_runs_a_file(text: str, runner: Runner | None) -> None:
    assert choose_runner(read_source(text)) is runner


def test_a_test_that_is_named_is_run_by_pytest() -> None:
    assert choose_runner(read_source(CASE), node="T::test_x") is Runner.PYTEST


def test_a_refusal_names_what_is_defined_and_what_to_do() -> None:
    text = "".join(f"def f{n}(): pass\n" for n in range(5)) + "class C: pass"
    error = refuse(read_source(text), path="my.py")
    assert "f0(), f1(), f2(), f3(), f4() and 1 more" in error.what
    assert error.where == "my.py"
    assert "test_..." in (error.hint or "")
    assert (
        "and" not in refuse(read_source("class C: pass"), path="my.py").what.split("defines")[1].split(" and calls")[0]
    )

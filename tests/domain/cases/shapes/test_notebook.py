"""A notebook becomes a script that prints what the notebook shows."""

from __future__ import annotations

import contextlib
import io
import json

import pytest

from harness.domain.cases.shapes.notebook import Notebook, read_notebook
from harness.domain.errors import UsageError


def book(*cells: str | list[str]) -> Notebook:
    made = [{"cell_type": "markdown", "source": "# words"}]
    made += [{"cell_type": "code", "source": cell} for cell in cells]  # type: ignore[dict-item]
    return read_notebook(json.dumps({"cells": made, "nbformat": 4}), path="my.ipynb")


def printed(*cells: str | list[str]) -> str:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(book(*cells).script, {})
    return out.getvalue()


def test_cells_run_in_order_and_show_their_last_value() -> None:
    assert printed(["x = 2\n", "x"], "x = (x +\n  3)\n'é', x  # why", "x;", "x = 9", "") == "2\n('é', 5)\n"


def test_an_awaited_value_and_what_is_no_python_stay_as_they_are() -> None:
    assert "displayhook" not in book("await f()").script
    assert "x = (" in book("x = (").script


def test_what_pip_installs_is_required_and_other_magics_are_left_out() -> None:
    read = book(
        '%pip install -q "keras==3.4.1" tensorflow',
        "!python -m pip install -U numpy<2 -r more.txt # why",
        "!pip install 'open",
        "if True:\n    %matplotlib inline\n!ls\nprint(1)",
        "%%bash\nrm -r x",
    )
    assert read.requirements[:3] == ("keras==3.4.1", "tensorflow", "numpy<2")
    assert read.left_out == ("%matplotlib inline", "!ls", "%%bash")
    compile(read.script, "my.ipynb", "exec")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cells": [{}]}', '{"worksheets": []}', '{"cells": 3}'])
def test_what_is_no_notebook_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="no notebook"):
        read_notebook(text, path="my.ipynb")

"""The exported script: the case's own code, no metadata, no harness, and calls with the settings asked for."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

import pytest

from harness.adapters.storage import case_files
from harness.domain.cases.case import Case, Level, Tolerance
from harness.domain.errors import UsageError
from harness.domain.trials.exported_case import ExportedCase
from harness.domain.trials.variant import Variant
from harness.reporting.export import call, parts, script
from tests.examples import HOSTILE, case

TEXT = """\
'''A case.'''
# /// script
# dependencies = ["keras"]
# [tool.harness]
# title = "t"
# ///

import keras


def data(*, fault="none"):
    return fault


def model(fault="none", remedy="none"):
    return fault, remedy


if __name__ == "__main__":
    print("alone")
"""
TWO = Variant(replicas=2, strategy="mirrored")


def export(made: Case, variant: Variant = TWO) -> str:
    return script(ExportedCase(case=made, release="3.9.2", pins=("keras==3.9.2", "numpy==2.0.2"), variant=variant))


class TestParts:
    def test_metadata_and_main_are_left_out(self):
        head, body = parts(case(text=TEXT))
        assert head == "'''A case.'''"
        assert body.startswith("import keras\n")
        assert body.endswith("return fault, remedy")

    def test_a_case_without_metadata_is_whole(self):
        assert parts(case(text="import keras\n")) == ("", "import keras")

    def test_the_main_of_a_script_is_the_script(self):
        assert parts(case(text=TEXT, level=Level.SCRIPT))[1].endswith('print("alone")')


@pytest.mark.parametrize(
    ("function", "written"),
    [("data", "data(fault='nan')"), ("model", "model(fault='nan', remedy='drop')"), ("other", "")],
)
def test_each_function_is_called_with_the_settings_that_it_names(function, written):
    assert call(case(text=TEXT), function, (("fault", "nan"), ("remedy", "drop"))) == written


class TestModel:
    def test_it_holds_the_case_s_code_and_nothing_of_the_harness(self):
        text = export(case(text=TEXT))
        assert "import harness" not in text
        assert "tool.harness" not in text
        assert "# pip install keras==3.9.2 numpy==2.0.2\n" in text
        ast.parse(text)

    def test_one_replica_needs_no_reference(self):
        text = export(case(text=TEXT), Variant())
        assert "findings(seen, None)" in text
        assert "in_own_process(2)" not in text

    def test_what_the_case_does_not_compare_is_not_compared(self):
        text = export(case(text=TEXT, tolerance=Tolerance(metric=0.1, weights=None)))
        assert "METRIC_TOLERANCE, WEIGHT_TOLERANCE = 0.1, None" in text

    def test_a_strategy_of_several_processes_is_refused(self):
        with pytest.raises(UsageError, match="cannot be exported as one script"):
            export(case(text=TEXT), replace(TWO, strategy="multi-worker"))

    def test_no_title_and_no_address_leaves_its_comment(self):
        text = export(case(text=TEXT, title=HOSTILE, origin=(HOSTILE,)))
        ast.parse(text)
        assert not [c for c in text if ord(c) < 32 and c != "\n"]

    @pytest.mark.parametrize("name", sorted(case_files.known_cases()))
    def test_every_case_of_the_project_can_be_written(self, name):
        made = case_files.read(name)
        variant = TWO if made.level is Level.MODEL else Variant()
        text = export(made, variant)
        ast.parse(text)
        assert not re.search(r"tool\.harness|import harness|/// script", text)


class TestScript:
    def test_it_is_the_script_itself_without_the_table(self):
        text = export(case(text=TEXT, level=Level.SCRIPT, origin=("https://example.org/1",)))
        lines = text.splitlines()
        assert lines[0] == "'''A case.'''"
        assert "# See https://example.org/1" in lines
        assert lines[-1] == '    print("alone")'
        assert "MirroredStrategy" not in text

    def test_its_settings_stand_in_the_header(self):
        text = export(case(text=TEXT, level=Level.SCRIPT), replace(TWO, options=(("mode", "fit"),)))
        assert "# run it with --mode=fit\n" in text

"""``harness workarounds``: what is refused before anything is built, and the exit code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.cli.commands.workarounds import exit_code
from tests.offline import Offline, harness
from tests.reporting import examples

__all__ = ["harness"]

BLOCK = """\
# /// script
# dependencies = ["keras"]
# [tool.harness]
# title = "t"
# [tool.harness.parameters]
# fault = ["none", "nan"]
{}
# ///
def model(): ...
def data(): ...
"""


def test_the_exit_code_says_whether_anything_was_told():
    report = examples.workarounds_report()
    assert exit_code(report) == 0
    assert exit_code(replace(report, rows=report.rows[1:], claims=report.claims[1:])) == 5


def test_a_list_of_replicas_that_is_none_is_refused(harness: Offline):
    lines = harness.refused("workarounds", "stft_loss", "--replicas", "1,,2", code=2)
    assert lines[0] == "harness: '1,,2' is no list of replicas"


class TestRefused:
    def case(self, harness: Offline, lines: str) -> str:
        path = harness.folder / "mine.py"
        path.write_text(BLOCK.format(lines), encoding="utf-8")
        return str(path)

    def test_a_case_that_lists_nothing(self, harness: Offline):
        lines = harness.refused("workarounds", self.case(harness, "#"), code=2)
        assert lines[0] == "harness: the case lists no workarounds and no claims"

    def test_a_workaround_with_a_setting_that_the_case_does_not_have(self, harness: Offline):
        text = '# [tool.harness.workarounds.zero]\n# title = "t"\n# options = {falut = "nan"}'
        lines = harness.refused("workarounds", self.case(harness, text), code=2)
        assert lines[0] == "harness: the case mine has no parameter 'falut'"
        assert lines[1].endswith("mine.py, workarounds.zero")
        assert lines[2] == "  try:   did you mean 'fault'? its parameters: fault"

    def test_a_claim_with_such_a_setting(self, harness: Offline):
        text = '# [[tool.harness.claims]]\n# says = "s"\n# predicts = "good"\n# options = {fault = "nam"}'
        lines = harness.refused("workarounds", self.case(harness, text), code=2)
        assert lines[0] == "harness: the parameter 'fault' of mine has no value 'nam'"

    @pytest.mark.parametrize("command", [("run", "--release", "3.5.0"), ("bisect",), ("verify-fix", "--fix", "x")])
    def test_a_wrong_setting_on_the_command_line(self, harness: Offline, command):
        name, *rest = command
        path = self.case(harness, "#")
        lines = harness.refused(name, path, *rest, "--set", "fault=nam", code=2)
        assert lines[0] == "harness: the parameter 'fault' of mine has no value 'nam'"
        assert lines[2] == "  try:   did you mean 'nan'? its values: none, nan"

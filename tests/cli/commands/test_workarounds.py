"""``harness remedies``: what is refused before anything is built, and the exit code."""

from __future__ import annotations

from dataclasses import replace

import pytest

from harness.cli.commands.workarounds import exit_code, replica_counts
from harness.domain.cases.case import Level
from harness.domain.errors import UsageError
from tests.examples import case
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


@pytest.mark.parametrize(
    ("text", "replicas", "counts"), [(None, 2, (1, 2)), (None, 1, (1,)), ("2", 2, (2,)), ("1, 2,2,8", 2, (1, 2, 8))]
)
def test_replicas_are_one_and_the_case_s_own_or_those_given(text, replicas, counts):
    assert replica_counts(case(replicas=replicas), text) == counts


def test_a_script_decides_on_its_replicas_itself():
    assert replica_counts(case(level=Level.SCRIPT, replicas=2), None) == (2,)
    with pytest.raises(UsageError, match="a script runs on the replicas that it chooses"):
        replica_counts(case(level=Level.SCRIPT), "1,2")


@pytest.mark.parametrize("text", ["", "0", "1,,2", "two", "65", "-1"])
def test_what_is_no_list_of_replicas_is_refused(text):
    with pytest.raises(UsageError, match="is no list of replicas"):
        replica_counts(case(), text)


def test_the_exit_code_says_whether_anything_was_told():
    report = examples.workarounds_report()
    assert exit_code(report) == 0
    assert exit_code(replace(report, rows=report.rows[1:], claims=report.claims[1:])) == 5


class TestRefused:
    def case(self, harness: Offline, lines: str) -> str:
        path = harness.folder / "mine.py"
        path.write_text(BLOCK.format(lines), encoding="utf-8")
        return str(path)

    def test_a_case_that_lists_nothing(self, harness: Offline):
        lines = harness.refused("remedies", self.case(harness, "#"), code=2)
        assert lines[0] == "harness: the case lists no workarounds and no claims"

    def test_a_remedy_with_a_setting_that_the_case_does_not_have(self, harness: Offline):
        text = '# [tool.harness.workarounds.zero]\n# title = "t"\n# options = {falut = "nan"}'
        lines = harness.refused("remedies", self.case(harness, text), code=2)
        assert lines[0] == "harness: the case mine has no parameter 'falut'"
        assert lines[1].endswith("mine.py, workarounds.zero")
        assert lines[2] == "  try:   did you mean 'fault'? its parameters: fault"

    def test_a_claim_with_such_a_setting(self, harness: Offline):
        text = '# [[tool.harness.claims]]\n# says = "s"\n# predicts = "good"\n# options = {fault = "nam"}'
        lines = harness.refused("remedies", self.case(harness, text), code=2)
        assert lines[0] == "harness: the parameter 'fault' of mine has no value 'nam'"

    @pytest.mark.parametrize("command", [("run", "--release", "3.5.0"), ("bisect",), ("verify-fix", "--fix", "x")])
    def test_a_wrong_setting_on_the_command_line(self, harness: Offline, command):
        name, *rest = command
        path = self.case(harness, "#")
        lines = harness.refused(name, path, *rest, "--set", "fault=nam", code=2)
        assert lines[0] == "harness: the parameter 'fault' of mine has no value 'nam'"
        assert lines[2] == "  try:   did you mean 'nan'? its values: none, nan"

"""A line of the journal: a trial that was finished, or why a release cannot be tested."""

from __future__ import annotations

import json

import pytest

from harness import codec
from harness.domain.trials.entry import Entry
from tests.adapters.samples import entry


def test_a_line_of_the_first_version_is_read():
    """Why a release is untestable was and is a plain sentence on the disk."""
    read = codec.loads(Entry, '{"release": "3.9.1", "untestable": "no wheel for this Python"}')
    assert read == Entry(release="3.9.1", untestable="no wheel for this Python")
    assert json.loads(codec.dumps(Entry, read))["untestable"] == "no wheel for this Python"


@pytest.mark.parametrize("line", ["{}", '{"release": 3}', '{"release": "3.9.1", "finished": {"trial": {}}}'])
def test_a_line_that_says_too_little_is_refused(line: str) -> None:
    with pytest.raises(codec.Malformed):
        codec.loads(Entry, line)


def test_a_finished_trial_comes_back_with_its_facts():
    written = entry("1.0", 3, repeat=2)
    read = codec.loads(Entry, codec.dumps(Entry, written))
    assert repr(read) == repr(written)

"""The first line of a journal is all that a fresh process needs."""

from __future__ import annotations

import json

from harness import codec
from harness.domain.findings import assemble
from harness.domain.findings.finding import Finding
from harness.domain.findings.run import RunHeader
from tests.adapters.samples import entry, header


def test_a_header_that_was_read_gives_the_same_finding():
    written = header("1.0", "1.1", "1.2")
    read = codec.loads(RunHeader, codec.dumps(RunHeader, written))
    entries = [entry("1.0", 0), entry("1.1", 1), entry("1.2", 0)]
    found = [codec.dumps(Finding, assemble.compose(one, entries)) for one in (written, read)]
    assert read == written
    assert found[0] == found[1]


def test_a_header_of_an_older_version_has_no_causes():
    old = json.loads(codec.dumps(RunHeader, header()))
    del old["causes"], old["index_seconds"]
    read = codec.loads(RunHeader, json.dumps(old))
    assert (read.causes, read.index_seconds) == ((), 0.0)

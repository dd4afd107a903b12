"""The trials that a finished search ran, cached for the next search with the same question and policy."""

from __future__ import annotations

import hashlib

from harness import codec
from harness.adapters.storage.files import write_whole
from harness.adapters.storage.home import Home
from harness.domain.findings.question import Question
from harness.domain.findings.run import RunHeader
from harness.domain.search.policy import Policy

FOLDER = "run_cache"
_FIRST_FOLDER = "courses"  # that of the first version, whose files have the same names and the same content

Runs = tuple[tuple[str, int], ...]
"""Release and number of the repeat, in the order in which they ran."""


def recall(home: Home, header: RunHeader) -> Runs:
    """The runs of the last finished search for the same question and policy; empty when there is none."""
    for folder in (FOLDER, _FIRST_FOLDER):
        try:
            return codec.loads(Runs, (home.root / folder / _name(header)).read_bytes())
        except (OSError, codec.Malformed):
            continue
    return ()


def remember(home: Home, header: RunHeader, runs: Runs) -> None:
    """Store the runs of a finished search."""
    write_whole(home.folder(FOLDER) / _name(header), codec.dumps(Runs, runs))


def _name(header: RunHeader) -> str:
    parts = codec.dumps(Question, header.question) + codec.dumps(Policy, header.policy)
    return f"{hashlib.sha256(parts.encode()).hexdigest()[:20]}.json"

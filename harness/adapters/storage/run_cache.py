"""Which runs a finished search made, kept in the cache for the next one that asks the same."""

from __future__ import annotations

import hashlib
from pathlib import Path

from harness import codec
from harness.adapters.storage.files import write_whole
from harness.adapters.storage.home import Home
from harness.domain.findings.question import Question
from harness.domain.findings.run import RunHeader
from harness.domain.search.policy import Policy

Course = tuple[tuple[str, int], ...]


def recall(home: Home, header: RunHeader) -> Course:
    """The course of the last finished search for the same question under the same policy; empty when there is none."""
    try:
        return codec.loads(Course, _file(home, header).read_bytes())
    except (OSError, codec.Malformed):
        return ()


def remember(home: Home, header: RunHeader, course: Course) -> None:
    """Keep the course of a finished search."""
    write_whole(_file(home, header), codec.dumps(Course, course))


def _file(home: Home, header: RunHeader) -> Path:
    asked = codec.dumps(Question, header.question) + codec.dumps(Policy, header.policy)
    return home.folder("courses") / f"{hashlib.sha256(asked.encode()).hexdigest()[:20]}.json"

"""What is written carries a checksum, so that a bit that turned over on the disk never becomes an answer.

A line of a journal has it as its last field, ``"check"``; a file of the cache has a line in front of its text.
Journals written before there were checks are read as they are; a cached file without one is made anew.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from harness import codec
from harness.adapters.storage.files import write_whole

_CHECK = re.compile(rb', "check": "([0-9a-f]{16})"\}$')


def marked(line: str) -> str:
    """The JSON text of an object with its checksum as last field; of another value the text alone."""
    if not line.startswith("{") or line == "{}":
        return line
    return f'{line[:-1]}, "check": "{_digest(line.encode())}"}}'


def unmarked(line: bytes) -> bytes:
    """The text that `marked` was given; a line without a checksum is that of an earlier version.

    Raises:
        codec.Malformed: it is not what was written.
    """
    found = _CHECK.search(line)
    if found is None:
        return line
    text = line[: found.start()] + b"}"
    if _digest(text) != found[1].decode():
        raise codec.Malformed("a line is not as it was written: its checksum is another one")
    return text


def write_checked(path: Path, text: str, name: str) -> None:
    """Write a file of the cache, whole or not at all.

    Args:
        path: The file.
        text: Its content.
        name: What the content is an answer to: a file that takes the place of another one is not believed.
    """
    write_whole(path, f"{_seal(text, name)}\n{text}")


def read_checked(path: Path, name: str) -> str:
    """Read what `write_checked` wrote under this name.

    Raises:
        OSError: it cannot be read.
        ValueError: it is damaged, of another name, or of a version that wrote no checksum.
    """
    seal, _, text = path.read_bytes().decode().partition("\n")
    if seal != _seal(text, name):
        raise ValueError(f"{path} is damaged")
    return text


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()[:16]


def _seal(text: str, name: str) -> str:
    return json.dumps({"sha256": hashlib.sha256(f"{name}\n{text}".encode()).hexdigest()})

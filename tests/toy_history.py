"""Real git repositories of a toy package, one commit an hour, each installable without any build tool."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path

FIRST = datetime(2024, 11, 1, tzinfo=timezone.utc)

BACKEND = """
import zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    stem = "toykeras-1.0"
    with zipfile.ZipFile(f"{folder}/{stem}-py3-none-any.whl", "w") as wheel:
        wheel.write("toykeras/__init__.py")
        wheel.writestr(f"{stem}.dist-info/METADATA", "Metadata-Version: 2.2\\nName: toykeras\\nVersion: 1.0\\n")
        wheel.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        names = ["toykeras/__init__.py", *(f"{stem}.dist-info/{n}" for n in ("METADATA", "WHEEL", "RECORD"))]
        wheel.writestr(f"{stem}.dist-info/RECORD", "".join(f"{n},,\\n" for n in names))
    return f"{stem}-py3-none-any.whl"
"""
PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
[project]
name = "toykeras"
version = "1.0"
"""


class History:
    """A repository; git runs without the user's settings and at the moment that each commit says."""

    def __init__(self, clone: Path) -> None:
        self.clone = clone
        self.commits: list[str] = []
        clone.mkdir()
        self.git("init", "-q", "-b", "main")
        (clone / "backend.py").write_text(BACKEND)
        (clone / "pyproject.toml").write_text(PROJECT)
        (clone / "toykeras").mkdir()

    def git(self, *words: str, moment: datetime = FIRST) -> str:
        """Run git in the repository; returns what it printed."""
        at = {"GIT_AUTHOR_DATE": moment.isoformat(), "GIT_COMMITTER_DATE": moment.isoformat()}
        who = ["-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false"]
        command = ["git", "-C", str(self.clone), *who, *words]
        environment = {**os.environ, "HOME": str(self.clone.parent), "GIT_CONFIG_NOSYSTEM": "1", **at}
        return subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout.strip()

    def commit(self, source: str, subject: str) -> str:
        """Write the package anew and commit it, an hour after the commit before; returns the hash."""
        moment = FIRST + timedelta(hours=len(self.commits))
        text = f'__version__ = "1.0"\nNUMBER = {len(self.commits)}\n{source}\n'
        (self.clone / "toykeras" / "__init__.py").write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject, moment=moment)
        self.commits.append(self.git("rev-parse", "HEAD"))
        return self.commits[-1]


def history(clone: Path, codes: Sequence[int]) -> History:
    """One commit per exit code that ``toykeras.check()`` gives."""
    made = History(clone)
    for number, code in enumerate(codes):
        made.commit(f"def check(): return {code}", f"change {number} (#{100 + number})")
    return made

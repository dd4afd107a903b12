"""A git that fails below uv is a fault of the clone or of the server, read from what uv really prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.adapters.environments.failures import infrastructure_failure
from harness.adapters.processes.process import Ended

FETCH = """error: Failed to download and build `toykeras @ git+{address}@a79e188b5d99abdd2090628e4b0d8873dcd141d3`
  cause: Git operation failed
  cause: failed to clone into: cache/git-v2/db/945262b649ae7185
  cause: failed to fetch commit `a79e188b5d99abdd2090628e4b0d8873dcd141d3`
  cause: process didn't exit successfully: `git fetch --force '{address}'` (exit status: 128)
         --- stderr
         {said}
"""


def ended(folder: Path, text: str) -> Ended:
    log = folder / "log"
    log.write_text(text)
    return Ended(exit_code=1, seconds=1.0, timed_out=False, log=log)


@pytest.mark.parametrize(
    "said",
    [
        "remote: fatal: loose object a0c57 (stored in ./objects/a0/c57) is corrupt",
        "remote: fatal: could not fetch a0c57 from promisor remote",
        "remote: fatal: unable to read a0c57",
        "fatal: '/clone' does not appear to be a git repository",
    ],
)
def test_a_clone_that_cannot_be_read_is_no_fault_of_the_commit(tmp_path: Path, said: str) -> None:
    failure = infrastructure_failure(ended(tmp_path, FETCH.format(address="file:///clone", said=said)), "resolving")
    assert failure is not None
    assert failure.what == "git cannot fetch the commit from the clone file:///clone"
    assert "fsck" in str(failure.hint)


def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    said = "fatal: unable to access 'https://example.org/x/': Could not resolve host: example.org"
    failure = infrastructure_failure(ended(tmp_path, FETCH.format(address="https://example.org/x", said=said)), "x")
    assert failure is not None
    assert failure.what == "the git server did not answer"


@pytest.mark.parametrize(
    "text",
    [
        "error: Failed to build `toykeras @ git+file:///clone@a79`\n cause: The build backend returned an error",
        FETCH.format(address="https://example.org/x", said="fatal: remote error: upload-pack: not our ref a79e"),
    ],
)
def test_what_the_release_itself_is_to_blame_for(tmp_path: Path, text: str) -> None:
    assert infrastructure_failure(ended(tmp_path, text), "resolving") is None

"""A version is taken exactly: 1.1 is not 1.1+cu12, which installers prefer, and a post release is another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.adapters.environments.nox_environments import check_installed
from harness.domain.errors import HarnessError
from harness.domain.releases.release import Release
from harness.domain.trials.trial import Environment
from tests.local_index import LocalIndex
from tests.toy_runs import Harness, repro, words_of
from tests.toys import Toy

BAD = "def check(): return 1"
TWINS = [
    ("7.1", "7.1+cu12"),
    ("7.1.post1", "7.1.post1+cu12"),
    ("1!7.1", "1!7.1+cu12"),
    ("7.1.dev3", "7.1.dev3+g1f"),
    ("7.1rc1", "7.1rc1+cu12"),
    ("7.0.0", "7.0.0+z"),
]


@pytest.mark.parametrize(("plain", "local"), TWINS)
def test_each_of_two_twins_gets_its_own_verdict(
    tmp_path: Path, harness_run: Harness, built: LocalIndex, plain: str, local: str
) -> None:
    """Whichever of the two were taken for the other, one of the verdicts would be wrong."""
    built.publish([Toy(version=plain, source=BAD), Toy(version=local, source="def check(): return 0")])
    case = repro(tmp_path)
    found = harness_run(*words_of(case, plain, local))
    assert found.code == 0, found.err
    assert found.verdicts == {plain: "bad", local: "good"}
    assert set(case.ran()) == {plain, local}


def test_a_companion_that_is_pinned_is_taken_exactly(tmp_path: Path, harness_run: Harness, built: LocalIndex) -> None:
    """The set of one end holds for the other, whatever came out meanwhile."""
    body = "import toynumpy; assert toynumpy.__version__ == '1.0', toynumpy.__version__"
    case = repro(tmp_path, body=body)
    assert harness_run(*words_of(case, "1.0", "1.0")).verdicts == {"1.0": "good"}
    built.publish([Toy(name="toynumpy", version="1.0+cu12")])
    found = harness_run(*words_of(case, "1.0", "1.3", "--with", "toynumpy===1.0"))
    assert found.verdicts == {"1.0": "good", "1.1": "good", "1.2": "skip", "1.3": "bad"}


@pytest.mark.parametrize("installed", ["7.1+cu12", "7.1.post1", "7.2", ""])
def test_an_environment_with_another_version_is_our_fault(tmp_path: Path, installed: str) -> None:
    info = tmp_path / f"lib/python3.11/site-packages/toykeras-{installed}.dist-info"
    if installed:
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.2\nName: toykeras\nVersion: {installed}\n")
    made = Environment(key="0", executable=str(tmp_path / "bin/python"), python="3.11.7", lock=())
    with pytest.raises(HarnessError, match=r"the environment of toykeras 7\.1 has"):
        check_installed(Release(package="toykeras", version="7.1"), made)


def test_an_environment_with_that_version_in_another_spelling(tmp_path: Path) -> None:
    info = tmp_path / "lib/python3.11/site-packages/toykeras-7.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.2\nName: toykeras\nVersion: 7.1.0\n")
    made = Environment(key="0", executable=str(tmp_path / "bin/python"), python="3.11.7", lock=())
    check_installed(Release(package="Toykeras", version="7.1"), made)

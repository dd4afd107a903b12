"""Environments that were left half built, edited, overlaid, or that do not work at all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from harness.adapters.environments import layers
from tests.local_index import LocalIndex
from tests.toy_runs import Harness, repro, words_of
from tests.toys import Toy

UNDISTURBED = {"1.0": "good", "1.1": "good", "1.2": "skip", "1.3": "bad"}


def sealed(home: Path) -> list[Path]:
    return sorted((home / "environments").glob(f"*/{layers.SEAL}"))


def module_of(home: Path, version: str) -> Path:
    """The installed file of one release."""
    (info,) = (home / "environments").glob(f"*/*/*/lib/python*/site-packages/toykeras-{version}.dist-info")
    return info.parent / "toykeras/__init__.py"


def test_a_half_built_environment_is_built_again(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, isolated: Path
) -> None:
    words = words_of(repro(tmp_path), "1.0", "1.3", "--fresh")
    first = harness_run(*words)
    for seal in sealed(isolated):
        seal.unlink()
    for folder in (isolated / "environments").glob("*/*/*/lib"):
        shutil.rmtree(folder)
    assert harness_run(*words).answer == first.answer
    assert sealed(isolated)


def poison(file: Path, how: str) -> None:
    """Change an environment through one of its files."""
    match how:
        case "edited" | "edited and dated back":
            before = file.stat()
            with file.open("r+") as edited:
                edited.write("def check(): return 1#")
            if how == "edited and dated back":
                os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns - 10))
        case "a module added":
            (file.parents[1] / "sitecustomize.py").write_text("raise SystemExit(1)")
        case _:
            file.unlink()


def test_a_poisoned_environment_is_noticed_and_rebuilt_from_clean_files(
    tmp_path: Path, harness_run: Harness, index: LocalIndex, isolated: Path
) -> None:
    """Installers link files into their cache: an edit in place is in the cache, too, and must not come back."""
    words = words_of(repro(tmp_path), "1.0", "1.3", "--fresh")
    first = harness_run(*words)
    for how in ("edited", "edited and dated back", "a module added", "deleted"):
        file = module_of(isolated, "1.1")
        assert file.stat().st_nlink > 1, f"{how}: else this test shows nothing"
        poison(file, how)
        again = harness_run(*words)
        assert again.answer == first.answer, (how, again.err)
        if how.startswith("edited"):
            assert "edited files of toykeras" in again.err, how
        assert "return 0" in module_of(isolated, "1.1").read_text(), how


def test_a_release_that_installs_over_another_is_untestable_each_time(
    tmp_path: Path, harness_run: Harness, built: LocalIndex
) -> None:
    """toyclone brings a toykeras folder of its own; which of the two is imported is chance."""
    built.publish([Toy(name="toyclone", version="1.0", module="toykeras")])
    for name in ("one", "other"):
        case = repro(tmp_path, name=name, metadata='companions = ["toyclone"]')
        text = case.path.read_text().replace('# companions = ["toynumpy<2"]\n', "")
        case.path.write_text(text)
        found = harness_run(*words_of(case, "1.0", "1.0"))
        assert found.code == 5
        assert "belongs to both" in found.reasons["1.0"]
        assert not case.ran()


def test_a_red_canary_makes_an_environment_untestable(tmp_path: Path, harness_run: Harness, built: LocalIndex) -> None:
    """The toy says that it is a Keras (it has `Sequential`) and cannot train; the script fails as the canary does."""
    built.publish([Toy(version="7.0", source="Sequential = None\ndef check():\n    import numpy")])
    found = harness_run(*words_of(repro(tmp_path), "7.0", "7.0"))
    assert found.code == 5
    assert "canary" in found.reasons["7.0"]


def test_a_script_that_fails_in_its_own_way_is_bad_beside_a_red_canary(
    tmp_path: Path, harness_run: Harness, built: LocalIndex
) -> None:
    built.publish([Toy(version="7.0", source="Sequential = None\ndef check(): return 1")])
    found = harness_run(*words_of(repro(tmp_path), "7.0", "7.0"))
    assert (found.code, found.verdicts) == (4, {"7.0": "bad"})


def test_a_module_that_says_another_version_is_believed_by_its_distribution(
    tmp_path: Path, harness_run: Harness, built: LocalIndex
) -> None:
    built.publish([Toy(version="7.0", source="__version__ = '6.6'\ndef check(): return 1")])
    found = harness_run(*words_of(repro(tmp_path), "7.0", "7.0"))
    assert (found.code, found.verdicts) == (4, {"7.0": "bad"})


def test_clock_jumps_change_nothing(tmp_path: Path, harness_run: Harness, index: LocalIndex, isolated: Path) -> None:
    words = words_of(repro(tmp_path), "1.0", "1.3")
    first = harness_run(*words)
    for seconds in (0, 4_000_000_000):
        for path in isolated.rglob("*"):
            os.utime(path, (seconds, seconds), follow_symlinks=False)
        assert harness_run(*words).answer == first.answer


def test_a_case_that_is_edited_while_the_search_goes_on(
    tmp_path: Path, harness_run: Harness, built: LocalIndex
) -> None:
    """Its runs would be kept under the hash of the old text."""
    case = repro(tmp_path, body="open(__file__, 'a').write('# edited by its first run')")
    stopped = harness_run(*words_of(case, "1.0", "1.3", "--jobs", "1"))
    assert stopped.code == 2
    assert "the case was edited during the search" in stopped.err
    assert case.ran().total() == 1

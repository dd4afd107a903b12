"""What a built environment holds, and modules that say another version than their distribution."""

from __future__ import annotations

from pathlib import Path

from harness.adapters.environments.contents.installed import find, module_of
from tests.local_index import LocalIndex
from tests.toy_runs import Harness, repro, words_of
from tests.toys import Toy


def environment(folder: Path, record: str) -> str:
    info = folder / "lib/python3.11/site-packages/toy_buf-5.1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: Toy.Buf\nVersion: 5.1\n")
    (info / "RECORD").write_text(record)
    return str(folder / "bin/python")


def test_a_namespace_package_by_its_record(tmp_path: Path) -> None:
    executable = environment(tmp_path, "toys/buf/__init__.py,,\ntoy_buf-5.1.dist-info/METADATA,,\n")
    assert module_of("toy-buf", "toy_buf", executable) == "toys.buf"
    assert module_of("other", "other", executable) == "other"
    (found,) = find("toy_buf", executable)
    assert (found.version, found.has(str(found.site / "toys/buf/__init__.py"))) == ("5.1", True)
    assert not found.has(str(found.site / "toys/other.py"))
    assert not found.has("/elsewhere/toys/buf/__init__.py")


def test_a_record_that_cannot_be_read_tells_nothing(tmp_path: Path) -> None:
    executable = environment(tmp_path, '"open\x00')
    assert module_of("toy-buf", "toy_buf", executable) == "toy_buf"


def test_post_local_and_dev_releases_are_what_their_metadata_says(
    tmp_path: Path, index: LocalIndex, harness_run: Harness
) -> None:
    """tensorflow-cpu 2.15.0.post1 says 2.15.0; it ended the whole search once."""
    terse = "__version__ = '5.0'\ndef check(): return {}"
    index.publish(
        [
            Toy(version="5.0", source=terse.format(0)),
            Toy(version="5.0.post1", source=terse.format(0)),
            Toy(version="5.1", source=terse.format(1)),
        ]
    )
    case = repro(tmp_path)
    ended = harness_run(*words_of(case, "5.0", "5.1", "--jobs", "1"))
    assert (ended.code, ended.verdicts) == (0, {"5.0": "good", "5.0.post1": "good", "5.1": "bad"})


def test_a_namespace_package_is_searched(tmp_path: Path, index: LocalIndex, harness_run: Harness) -> None:
    index.publish(Toy(name="toybuf", module="toys/buf", version=version) for version in ("1.0", "2.0"))
    script = tmp_path / "plain.py"
    script.write_text("import sys\nfrom toys import buf\nsys.exit(buf.__version__ == '2.0')\n")
    words = ("bisect", script, "--package", "toybuf", "--from", "1.0", "--to", "2.0", "--json", "--jobs", "1")
    assert harness_run(*words).transitions == [("regression", "1.0", "2.0")]

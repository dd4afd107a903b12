"""Installed folders made by hand: what two distributions claim, what was edited, and RECORDs that lie."""

from __future__ import annotations

import base64
import hashlib
import os
from pathlib import Path

import pytest

from harness.adapters.environments import sealing
from harness.domain.errors import Untestable


def install(site: Path, name: str, files: dict[str, str]) -> Path:
    """Write the files and their RECORD."""
    rows = []
    for path, text in files.items():
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).write_text(text)
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        rows.append(f"{path},sha256={digest},{len(text)}")
    info = site / f"{name}-1.0.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "RECORD").write_text("\n".join([*rows, f"{info.name}/RECORD,,"]) + "\n")
    return info / "RECORD"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    install(tmp_path / "site", "keras", {"keras/__init__.py": "a = 1\n", "keras/src/x.py": "b = 2\n"})
    return tmp_path / "site"


def test_two_owners_of_one_file_are_named(site: Path) -> None:
    install(site, "keras_nightly", {"keras/__init__.py": "a = 2\n"})
    with pytest.raises(Untestable, match=r"keras/__init__.py belongs to both keras-1.0 and keras_nightly-1.0"):
        sealing.check([site])


def test_owners_in_two_layers_are_seen(site: Path, tmp_path: Path) -> None:
    install(tmp_path / "base", "keras_nightly", {"keras/__init__.py": "a = 2\n"})
    with pytest.raises(Untestable):
        sealing.check([tmp_path / "base", site])


def test_files_that_many_ship_by_mistake_decide_nothing(site: Path) -> None:
    install(site, "one", {"tests/__init__.py": "", "LICENSE": "x"})
    install(site, "other", {"tests/__init__.py": "", "LICENSE": "y"})
    sealing.check([site])


def test_published_files_are_not_altered(site: Path) -> None:
    assert sealing.altered(site) == []


@pytest.mark.parametrize("how", ["edited", "deleted", "replaced by a link"])
def test_an_altered_distribution_is_named(site: Path, how: str) -> None:
    file = site / "keras/src/x.py"
    if how == "edited":
        file.write_text("b = 3\n")
    else:
        file.unlink()
        if how == "replaced by a link":
            file.symlink_to("/dev/zero")
    assert sealing.altered(site) == ["keras"]


def test_fingerprint_stays_while_byte_code_comes_and_goes(site: Path) -> None:
    before = sealing.fingerprint(site)
    (site / "keras/__pycache__").mkdir()
    (site / "keras/__pycache__/x.pyc").write_text("x")
    assert sealing.fingerprint(site) == before


@pytest.mark.parametrize("how", ["edited", "touched", "new file", "new .pth", "deleted"])
def test_fingerprint_tells_every_change(site: Path, how: str) -> None:
    before = sealing.fingerprint(site)
    match how:
        case "edited":
            (site / "keras/__init__.py").write_text("a = 10\n")
        case "touched":
            os.utime(site / "keras/__init__.py", ns=(1, 1))
        case "new file":
            (site / "keras/new.py").write_text("")
        case "new .pth":
            (site / "evil.pth").write_text("import os")
        case _:
            (site / "keras/__init__.py").unlink()
    assert sealing.fingerprint(site) != before


@pytest.mark.parametrize(
    "row",
    [
        "../../../../etc/passwd,sha256=x,1",
        "/etc/passwd,sha256=x,1",
        "keras/nosuch.py,sha256=x,1",
        "\udcff,sha256=x,",
        ",,",
    ],
)
def test_a_record_that_leads_elsewhere_reads_nothing_there(site: Path, row: str) -> None:
    record = site / "keras-1.0.dist-info/RECORD"
    record.write_bytes(record.read_bytes() + row.encode("utf-8", "surrogateescape") + b"\n")
    sealing.check([site])
    assert sealing.altered(site) in ([], ["keras"])


def test_a_record_that_csv_cannot_read_is_the_release_s_fault(site: Path) -> None:
    record = site / "keras-1.0.dist-info/RECORD"
    record.write_text('"' + "x" * 200_000)
    with pytest.raises(Untestable, match="cannot be read"):
        sealing.check([site])


def test_a_record_without_end_is_not_read(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sealing, "LONGEST_RECORD", 10)
    with pytest.raises(Untestable, match="larger than 10 bytes"):
        sealing.check([site])

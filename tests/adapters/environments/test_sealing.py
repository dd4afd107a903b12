"""Installed folders made by hand: what two distributions claim, what was edited, and RECORDs that lie."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
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
    later_than(sealing.state(tmp_path / "site").newest_ns, tmp_path / "clock")
    return tmp_path / "site"


def later_than(moment_ns: int, clock: Path) -> None:
    """Wait until the file system's clock, which moves in ticks, has gone on."""
    clock.touch()
    while clock.stat().st_mtime_ns <= moment_ns:
        clock.touch()


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


def test_the_state_stays_while_nothing_changes_and_a_good_canary_is_noted(site: Path) -> None:
    before = sealing.state(site)
    (site / "canary.json").touch()
    assert sealing.state(site) == before
    assert before.files == 6


@pytest.mark.parametrize(
    "how",
    [
        "edited",
        "edited with size and date restored",
        "touched",
        "replaced with size and date restored",
        "new file",
        "new .pth",
        "new byte code",
        "deleted",
        "made a link",
        "mode",
    ],
)
def test_the_state_tells_every_change(site: Path, how: str) -> None:
    before = sealing.state(site)
    file = site / "keras/__init__.py"
    dates = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    match how:
        case "edited":
            file.write_text("a = 10\n")
        case "edited with size and date restored":
            file.write_text("a = 2\n")
            os.utime(file, ns=dates)
        case "replaced with size and date restored":
            (site / "other").write_text("a = 2\n")
            os.utime(site / "other", ns=dates)
            (site / "other").replace(file)
        case "touched":
            os.utime(file, ns=(1, 1))
        case "new file":
            (site / "keras/new.py").write_text("")
        case "new .pth":
            (site / "evil.pth").write_text("import os")
        case "new byte code":
            (site / "keras/__pycache__").mkdir()
            (site / "keras/__pycache__/x.pyc").write_text("x")
        case "made a link":
            file.unlink()
            file.symlink_to("src/x.py")
        case "mode":
            file.chmod(0o600)
        case _:
            file.unlink()
    assert sealing.state(site).fingerprint != before.fingerprint
    if how.startswith(("edited", "replaced", "touched", "mode")):
        assert sealing.changed_since(site, before.newest_ns) == ["keras/__init__.py"]


def test_contents_do_not_depend_on_where_the_files_lie(site: Path, tmp_path: Path) -> None:
    before = sealing.contents(site)
    copy = tmp_path / "copy"
    shutil.copytree(site, copy, symlinks=True)
    assert sealing.contents(copy) == before
    assert sealing.state(copy).fingerprint != sealing.state(site).fingerprint
    (copy / "keras/src/x.py").write_text("b = 3\n")
    assert sealing.contents(copy) != before


def test_a_pipe_is_described_and_not_read(site: Path) -> None:
    before = sealing.contents(site)
    os.mkfifo(site / "keras/pipe")
    assert sealing.contents(site) != before


def test_a_file_that_was_only_linked_to_is_told_from_one_that_was_written(site: Path, tmp_path: Path) -> None:
    before = sealing.state(site).newest_ns
    (tmp_path / "elsewhere").hardlink_to(site / "keras/__init__.py")
    assert sealing.only_linked(site, before)
    assert not sealing.only_linked(site, sealing.state(site).newest_ns)
    (site / "keras/src/x.py").write_text("b = 2\n")
    assert not sealing.only_linked(site, before)


def test_files_become_read_only_and_folders_can_be_removed(site: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").hardlink_to(site / "keras/__init__.py")
    sealing.make_read_only(site)
    assert (site / "keras/src/x.py").stat().st_mode & 0o222 == 0
    assert (site / "keras/__init__.py").stat().st_mode & 0o200, "its mode is that of the cache's file, too"
    assert (site / "keras/src").stat().st_mode & 0o200


def test_links_that_lead_out_are_named(site: Path) -> None:
    assert sealing.stray_links(site) == []
    (site / "bin").mkdir()
    (site / "bin/python3").symlink_to("/usr/bin/env")
    (site / "lib64").symlink_to("keras")
    (site / "keras/linked.py").symlink_to("/etc/hostname")
    assert sealing.stray_links(site) == ["keras/linked.py"]


@pytest.mark.parametrize(
    ("name", "version", "there"),
    [
        ("keras", "1.0", True),
        ("keras", "1.0.0", True),
        ("keras", "", True),
        ("keras", "1.1", False),
        ("keras-nightly", "1.0", False),
        ("my-own-name", "1.0", True),
    ],
)
def test_what_is_not_installed_is_named(site: Path, name: str, version: str, *, there: bool) -> None:
    install(site, "My_Own.Name", {"own/__init__.py": ""})
    assert sealing.absent(site, {name: version}) == ([] if there else [name])


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

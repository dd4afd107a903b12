"""All reports of a finding in one folder."""

from __future__ import annotations

import pytest

from harness.domain.errors import InfrastructureError
from harness.reporting.bisection import files, json_report
from tests.reporting import examples


def test_every_report_and_every_lock_is_written_whole(tmp_path):
    files.write_all(examples.everyday(), tmp_path)
    names = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert names == {*files.RENDERERS, "locks/key-3.5.0.txt"}
    for name, render in files.RENDERERS.items():
        assert (tmp_path / name).read_text(encoding="utf-8") == render(examples.everyday())
    assert (tmp_path / "locks" / "key-3.5.0.txt").read_text() == "keras==3.5.0 --hash=sha256:cc\n"


def test_writing_again_replaces_what_was_there(tmp_path):
    files.write_all(examples.hostile(), tmp_path)
    files.write_all(examples.everyday(), tmp_path)
    assert (tmp_path / "report.json").read_text() == json_report.render(examples.everyday())


def test_a_report_that_cannot_be_rendered_leaves_the_old_ones(tmp_path, monkeypatch):
    """All are rendered before the first is written, so that no folder holds reports of two findings."""
    files.write_all(examples.everyday(), tmp_path)
    before = (tmp_path / "report.json").read_bytes()

    def broken(finding):
        raise ValueError("no template")

    monkeypatch.setitem(files.RENDERERS, "junit.xml", broken)
    with pytest.raises(ValueError, match="no template"):
        files.write_all(examples.hostile(), tmp_path)
    assert (tmp_path / "report.json").read_bytes() == before


def test_a_folder_that_is_not_there_is_one_clear_message(tmp_path):
    with pytest.raises(InfrastructureError) as caught:
        files.write_all(examples.everyday(), tmp_path / "gone")
    assert caught.value.where
    assert caught.value.hint


def test_the_text_for_stdout_ends_without_a_blank_line():
    assert files.json_text(examples.everyday()) == json_report.render(examples.everyday()).rstrip("\n")

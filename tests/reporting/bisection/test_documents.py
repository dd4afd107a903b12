"""All files of a finding by name."""

from __future__ import annotations

import pytest

from harness.adapters.storage.files import write_reports
from harness.domain.errors import InfrastructureError
from harness.reporting.bisection import documents
from tests.reporting import examples


def test_every_report_and_every_lock_has_its_name():
    texts = documents.texts(examples.everyday())
    assert list(texts) == ["report.json", "report.md", "report.html", "junit.xml", "locks/key-3.5.0.txt"]
    assert texts["locks/key-3.5.0.txt"] == "keras==3.5.0 --hash=sha256:cc\n"
    for name, render in documents.RENDERERS.items():
        assert texts[name] == render(examples.everyday())


def test_they_are_written_whole_and_replace_what_was_there(tmp_path):
    write_reports(tmp_path, documents.texts(examples.hostile()))
    wanted = documents.texts(examples.everyday())
    write_reports(tmp_path, wanted)
    written = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*") if path.is_file()}
    assert {name: path.read_text(encoding="utf-8") for name, path in written.items()} == wanted


def test_a_report_that_cannot_be_rendered_gives_no_texts_at_all(monkeypatch):
    """All are rendered before the first is written, so that no folder holds reports of two findings."""

    def broken(finding):
        raise ValueError("no template")

    monkeypatch.setitem(documents.RENDERERS, "junit.xml", broken)
    with pytest.raises(ValueError, match="no template"):
        documents.texts(examples.hostile())


def test_a_folder_that_is_not_there_is_one_clear_message(tmp_path):
    for texts in (documents.texts(examples.everyday()), {"locks/key.txt": "keras==3.5.0\n"}):
        with pytest.raises(InfrastructureError) as caught:
            write_reports(tmp_path / "gone", texts)
        assert caught.value.where
        assert caught.value.hint

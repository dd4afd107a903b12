"""Whole reports, file by file. `pytest tests/golden --snapshot-update` writes them anew: read the difference."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from syrupy.types import PropertyFilter, PropertyMatcher, SerializableData, SerializedData

from harness.adapters.storage import case_files
from harness.domain.trials.exported_case import ExportedCase
from harness.domain.trials.variant import Variant
from harness.reporting import export
from harness.reporting.bisection import documents
from harness.reporting.bisection.documents import RENDERERS
from harness.reporting.fixes import fix_report, workarounds_report
from tests.reporting import examples

FINDINGS = {"everyday": examples.everyday, "hostile": examples.hostile}


class WholeFile(SingleFileSnapshotExtension):
    """One text file per snapshot, exactly as it would be written."""

    _write_mode = WriteMode.TEXT

    def serialize(
        self,
        data: SerializableData,
        *,
        exclude: PropertyFilter | None = None,
        include: PropertyFilter | None = None,
        matcher: PropertyMatcher | None = None,
    ) -> SerializedData:
        return str(data)


def golden(snapshot: SnapshotAssertion, ending: str) -> SnapshotAssertion:
    return snapshot.use_extension(type("Golden", (WholeFile,), {"file_extension": ending}))


@pytest.mark.parametrize("name", RENDERERS)
def test_the_everyday_report(name, snapshot):
    assert RENDERERS[name](examples.everyday()) == golden(snapshot, name.rsplit(".", 1)[1])


def test_the_everyday_page_with_its_evidence(snapshot):
    assert documents.html(examples.everyday(), examples.evidence()) == golden(snapshot, "html")


@pytest.mark.parametrize("name", ["report.md", "report.html"])
def test_finer_searches_inside_a_transition(name, snapshot):
    assert RENDERERS[name](examples.staged()) == golden(snapshot, name.rsplit(".", 1)[1])


@pytest.mark.parametrize("name", [name for name in RENDERERS if not name.endswith(".json")])
def test_a_report_full_of_hostile_text(name, snapshot):
    """JSON keeps such text whole (300 kB here), so the JSON report is held by properties instead."""
    assert RENDERERS[name](examples.hostile()) == golden(snapshot, name.rsplit(".", 1)[1])


def test_a_report_on_one_fix(snapshot):
    assert fix_report.markdown(examples.fix_report()) == golden(snapshot, "md")


def test_a_report_on_a_sweep_of_fixes(snapshot):
    assert fix_report.markdown(examples.fix_report(fixes=5)) == golden(snapshot, "md")


def test_a_report_on_workarounds_and_claims(snapshot):
    assert workarounds_report.markdown(examples.workarounds_report()) == golden(snapshot, "md")


def test_a_case_as_a_script_for_upstream(snapshot):
    made = ExportedCase(
        case=case_files.read("identity"),
        release="3.9.2",
        pins=("keras==3.9.2", "numpy==2.0.2", "tensorflow==2.18.1"),
        variant=Variant(replicas=2, strategy="mirrored"),
    )
    assert export.script(made) == golden(snapshot, "txt")

"""A module that nothing declares is named as the environment's lack; where it is well known, it is added."""

from __future__ import annotations

from pathlib import Path

from tests.local_index import LocalIndex
from tests.toy_runs import Harness, repro, words_of
from tests.toys import Toy


def test_what_brings_it_is_added_and_the_boundary_is_found(
    tmp_path: Path, index: LocalIndex, harness_run: Harness
) -> None:
    index.publish([Toy(name="packaging", version="24.0"), Toy(name="packaging", version="19.0")])
    ended = harness_run(*words_of(repro(tmp_path, body="import packaging"), "1.0", "2.3", "--jobs", "1"))
    assert (ended.code, ended.verdicts["1.4"], ended.verdicts["2.0"]) == (0, "good", "bad")
    assert "every environment lacks the module packaging, which nothing declares" in ended.err
    assert any("packaging>=20 was added" in told for told in ended.report["conclusion"]["caveats"])
    assert "--with 'packaging>=20'" in ended.report["reproduce"]


def test_what_nobody_knows_is_named_and_no_symptom(tmp_path: Path, warm: LocalIndex, harness_run: Harness) -> None:
    case = repro(tmp_path, body="import toystranger")
    ended = harness_run(*words_of(case, "1.0", "2.3", "--jobs", "1"))
    assert (ended.code, ended.out) == (6, "")
    assert "there is no module 'toystranger'" in ended.err
    assert "add its package with --with NAME==VERSION" in ended.err
    assert sorted(case.ran()) == ["1.0", "2.3"]


def test_what_cannot_be_added_is_named_with_the_line_to_try(
    tmp_path: Path, warm: LocalIndex, harness_run: Harness
) -> None:
    """The index has no such distribution: no release is bad for it."""
    ended = harness_run(*words_of(repro(tmp_path, body="import packaging"), "1.0", "2.3", "--jobs", "1"))
    assert (ended.code, ended.transitions, ended.report["lacks"]) == (5, [], "packaging")
    assert "lacks the module packaging" in ended.reasons["1.0"]
    assert "try --with 'packaging>=20'" in ended.reasons["2.3"]


def test_a_module_that_only_some_releases_miss_is_their_symptom(
    tmp_path: Path, index: LocalIndex, harness_run: Harness
) -> None:
    index.publish([Toy(version="4.1"), Toy(version="4.2", source="def check(): import toystranger")])
    ended = harness_run(*words_of(repro(tmp_path), "4.1", "4.2", "--jobs", "1"))
    assert (ended.code, ended.verdicts) == (0, {"4.1": "good", "4.2": "bad"})

"""``harness diagnose``: what is refused before anything is built; what it finds is held with real Keras."""

from __future__ import annotations

from tests.offline import Offline, harness

__all__ = ["harness"]


def test_a_script_cannot_be_watched(harness: Offline):
    path = harness.case('# /// script\n# dependencies = ["keras"]\n# [tool.harness]\n# title = "t"\n# ///\n')
    lines = harness.refused("diagnose", path, code=2)
    assert lines[0] == "harness: only a case with model() and data() can be diagnosed"
    assert not harness.home.exists()


def test_an_unknown_release_names_its_option(harness: Offline):
    harness.publish()
    lines = harness.refused("diagnose", "identity", "--release", "3.8.0", code=2)
    assert lines[:2] == ["harness: keras 3.8.0 is not on the index", "  where: --release"]


def test_a_policy_that_no_keras_has(harness: Offline):
    assert "--policy" in harness.refused("diagnose", "identity", "--policy", "float8", code=2)[-1]

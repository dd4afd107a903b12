"""Modules by the files that bring them."""

from __future__ import annotations

import pytest

from harness.domain.releases.modules import code_files, main_module, modules, overlap

PROTOBUF = ["google/protobuf/__init__.py", "google/protobuf/message.py", "google/_upb/_message.abi3.so"]


@pytest.mark.parametrize(
    ("paths", "found"),
    [
        (["keras/__init__.py", "keras/src/__init__.py", "keras/src/a.py"], {"keras": 3}),
        (PROTOBUF, {"google.protobuf": 2, "google._upb._message": 1}),
        (["six.py", "_cffi.cpython-311-x86_64-linux-gnu.so", "plain.so"], {"six": 1, "_cffi": 1, "plain": 1}),
        (["__init__.py", "../../bin/tool.py", "bin/x.py", "a.data/b.py", "a-1.dist-info/c.py", "data/x.txt"], {}),
    ],
)
def test_the_outermost_modules(paths, found):
    assert modules(paths) == found


@pytest.mark.parametrize(
    ("package", "guess", "paths", "module"),
    [
        ("protobuf", "protobuf", PROTOBUF, "google.protobuf"),
        ("keras-tuner", "keras_tuner", ["keras_tuner/__init__.py", "kerastuner/__init__.py"], "keras_tuner"),
        (
            "scikit-learn",
            "scikit_learn",
            ["sklearn/__init__.py", "sklearn/a.py", "_x.py", "tests/__init__.py"],
            "sklearn",
        ),
        ("PyYAML", "pyyaml", ["_yaml/__init__.py", "_yaml/b.py", "yaml/__init__.py"], "yaml"),
        ("toy", "toy", [], "toy"),
        ("odd", "odd", ["_odd/__init__.py"], "_odd"),
        ("Zope.Event", "zope_event", ["zope/event/__init__.py", "big/__init__.py", "big/a.py"], "zope.event"),
    ],
)
def test_the_module_that_stands_for_a_distribution(package, guess, paths, module):
    assert main_module(package, guess, paths) == module


def test_two_that_share_most_files_bring_the_same_module():
    whole = code_files(f"tensorflow/{n}.py" for n in range(9))
    assert overlap(whole, whole | {"tensorflow/gpu.so"})
    assert not overlap(whole, frozenset({"tensorflow/0.py", "other/a.py"}))
    assert not overlap(whole, frozenset())

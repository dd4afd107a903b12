"""What is under test in a file that does not say it."""

from __future__ import annotations

import sys

import pytest

from harness.domain.cases.shapes.deduction import companions_of_imports, from_dependencies, from_imports
from harness.domain.cases.shapes.source import read_source
from harness.domain.errors import UsageError


@pytest.mark.parametrize(
    ("dependencies", "package"),
    [
        (["keras", "tensorflow-cpu==2.18.1", "numpy<2.1", "pytest"], "keras"),
        (["keras-tuner", "tensorflow-cpu==2.15.1", "numpy<2"], "keras-tuner"),
        (["numpy", "keras==3.3.3", "jax==0.4.30"], "numpy"),
        (["tensorflow==2.18.*", "numpy==2.0"], "tensorflow"),
        (["tensorflow>=2.18", "keras"], "keras"),
        (["keras==3.4.1", "tensorflow==2.17.1"], "keras"),
        (["toya", "toyb @ https://example.org/toyb.whl"], "toya"),
    ],
)
def test_the_one_without_an_exact_version_is_under_test(dependencies: list[str], package: str) -> None:
    found = from_dependencies(dependencies, path="my.py")
    assert found.package == package
    assert package in found.assumption


@pytest.mark.parametrize(
    ("dependencies", "what"),
    [
        (["toya", "toyb"], "several dependencies could be meant: toya, toyb"),
        (["toya<2", "toyb<2"], "several dependencies could be meant: toya, toyb"),
        (["toya==1", "toyb==2"], "several dependencies could be meant: toya, toyb"),
        (["pytest"], "the metadata has no dependencies"),
        ([], "the metadata has no dependencies"),
    ],
)
def test_where_it_is_not_clear_it_is_asked_for(dependencies: list[str], what: str) -> None:
    with pytest.raises(UsageError, match="what is under test") as refused:
        from_dependencies(dependencies, path="my.py")
    assert what in refused.value.what
    assert "--package" in (refused.value.hint or "")


@pytest.mark.parametrize(
    ("text", "package", "companions"),
    [
        ("import keras, numpy as np", "keras", ("tensorflow",)),
        ("import keras, tensorflow as tf", "keras", ("tensorflow",)),
        ("import os\nos.environ['KERAS_BACKEND'] = 'jax'\nfrom keras import layers", "keras", ("jax",)),
        ('import os\nos.environ.setdefault("KERAS_BACKEND", "torch")\nimport keras', "keras", ("torch",)),
        ("# KERAS_BACKEND = 'numpy'\nimport keras", "keras", ("tensorflow",)),
        ("import tensorflow as tf, numpy", "tensorflow", ()),
        ("import os, beside\nimport toykeras", "toykeras", ()),
        ("import pytest, keras_tuner", "keras-tuner", ()),
    ],
)
def test_imports_say_it(text: str, package: str, companions: tuple[str, ...]) -> None:
    local, standard = ["beside"], sys.stdlib_module_names
    found = from_imports(read_source(text), text, local=local, standard=standard, path="my.py")
    assert (found.package, found.dependencies) == (package, companions)
    assert package in found.assumption


@pytest.mark.parametrize(("text", "what"), [("import os", "no package"), ("import a, b", "a, b")])
def test_imports_that_say_nothing(text: str, what: str) -> None:
    with pytest.raises(UsageError, match=f"it imports {what}"):
        from_imports(read_source(text), text, local=[], standard=sys.stdlib_module_names, path="my.py")


@pytest.mark.parametrize(
    ("text", "package", "companions"),
    [
        ("import keras", "keras", ("tensorflow",)),
        ("import keras", "keras-nightly", ("tensorflow",)),
        ("import keras", "numpy", ("tensorflow", "keras")),
        ("import keras", "tensorflow", ("keras",)),
        ("import toykeras", "toykeras", ()),
    ],
)
def test_a_named_package_leaves_the_backend_beside_it(text: str, package: str, companions: tuple[str, ...]) -> None:
    assert companions_of_imports(read_source(text), text, package) == companions

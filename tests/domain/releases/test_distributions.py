"""The names under which distributions are imported."""

from __future__ import annotations

import pytest

from harness.domain.releases.distributions import bringing, import_name


@pytest.mark.parametrize(
    ("package", "module"),
    [
        ("keras", "keras"),
        ("Keras_Nightly", "keras"),
        ("tf-nightly", "tensorflow"),
        ("tf-nightly-cpu", "tensorflow"),
        ("My-Long.package", "my_long_package"),
        ("toy-nightly-plugin", "toy_nightly_plugin"),
        ("tensorflow-cpu", "tensorflow"),
        ("tf-keras", "tf_keras"),
        ("my-package", "my_package"),
        ("my-package-nightly", "my_package"),
    ],
)
def test_the_import_name_is_the_module_that_the_package_installs(package, module):
    assert import_name(package) == module


def test_only_what_is_well_known_is_named_as_bringing_a_module():
    assert (bringing("packaging"), bringing("toystranger"), bringing("")) == ("packaging>=20", "", "")

"""Which module a distribution installs."""

from __future__ import annotations

from packaging.utils import canonicalize_name

FRAMEWORK = "tensorflow"


def import_name(package: str) -> str:
    """Module that a distribution installs; nightly builds install over their stable sibling."""
    name = canonicalize_name(package)
    known = {
        "tf-nightly": "tensorflow",
        "tf-nightly-cpu": "tensorflow",
        "tensorflow-cpu": "tensorflow",
    }
    return known.get(name, name.removesuffix("-nightly").replace("-", "_"))


def bringing(module: str) -> str:
    """A requirement for a module that is well known; "" for any other, since a guessed name may be a stranger's."""
    return _BRINGING.get(module, "")


_BRINGING = {
    "PIL": "pillow>=9",
    "absl": "absl-py>=1",
    "attr": "attrs>=21",
    "dateutil": "python-dateutil>=2.8",
    "distutils": "setuptools<81",
    "h5py": "h5py>=3",
    "matplotlib": "matplotlib>=3.5",
    "packaging": "packaging>=20",
    "pandas": "pandas>=1.5",
    "pkg_resources": "setuptools<81",
    "psutil": "psutil>=5",
    "pytest": "pytest>=7",
    "requests": "requests>=2",
    "scipy": "scipy>=1.9",
    "setuptools": "setuptools<81",
    "six": "six>=1.15",
    "sklearn": "scikit-learn>=1",
    "tqdm": "tqdm>=4",
    "typing_extensions": "typing_extensions>=4",
    "yaml": "PyYAML>=5",
}
"""Modules that libraries use without declaring them, with the distribution that brings each."""

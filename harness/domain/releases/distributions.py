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

"""Which file of a page is the one that was installed."""

from __future__ import annotations

from pypi_simple import DistributionPackage

from harness.adapters.environments.artifacts import choose


def file(name: str, digest: str, kind: str = "wheel") -> DistributionPackage:
    version = name.split("-")[1].removesuffix(".tar.gz")
    return DistributionPackage(
        filename=name,
        url=f"https://example.org/{name}",
        project="keras-nightly",
        version=version,
        package_type=kind,
        digests={"sha256": digest},
        requires_python=None,
        has_sig=None,
    )


SDIST = file("keras_nightly-3.7.0.dev1.tar.gz", "s", "sdist")
PURE = file("keras_nightly-3.7.0.dev1-py3-none-any.whl", "p")
OTHER = file("keras_nightly-3.7.0.dev1-cp39-cp39-manylinux_2_17_x86_64.whl", "o")
LATER = file("keras_nightly-3.7.0.dev2-py3-none-any.whl", "p")


def test_a_wheel_that_fits_before_the_source() -> None:
    assert choose([SDIST, OTHER, PURE, LATER], "3.7.0.dev1", {"s", "o", "p"}, "3.11.7") is PURE
    assert choose([SDIST, OTHER], "3.7.0.dev1", {"s", "o", "p"}, "3.11.7") is SDIST


def test_only_what_the_lock_names() -> None:
    assert choose([SDIST, PURE], "3.7.0.dev1", {"s"}, "3.11.7") is SDIST
    assert choose([PURE], "3.7.0.dev1", {"another"}, "3.11.7") is None
    assert choose([], "3.7.0.dev1", {"p"}, "3.11.7") is None

"""Which companions are at another version than in the reference."""

from __future__ import annotations

from harness.domain.releases.moves import changed, companions_in, moves, package_names

REFERENCE = ("numpy==2.1.3 --hash=sha256:1", "keras==3.0", "gone==1")


def test_what_differs_is_named_with_both_versions():
    lock = (
        "numpy[all]==2.0.2 ; python_version > '3' --hash=sha256:2",
        "keras==3.0 --hash=sha256:9",
        "new==5",
        "tool @ https://x/tool.whl",
    )
    found = moves(lock, REFERENCE, named={"numpy", "new"})
    assert list(map(str, found)) == [
        "new 5 in addition",
        "numpy 2.0.2 instead of 2.1.3, although asked for by name",
        "tool tool @ https://x/tool.whl in addition",
    ]
    assert [move.name for move in changed(lock, REFERENCE)] == ["numpy"]
    assert moves(REFERENCE, REFERENCE) == ()


def test_the_package_under_test_is_no_companion_under_any_of_its_names():
    assert package_names("tf-nightly") == {"tf-nightly", "tensorflow"}
    lock = ("tf_nightly==2.1", "numpy==1")
    assert companions_in(lock, REFERENCE, "tf-nightly") == ("numpy==1",)
    assert companions_in(("tf-nightly==0ff1ce",), REFERENCE, "tf-nightly") == REFERENCE
    assert companions_in(lock[:1], REFERENCE, "tf-nightly") == REFERENCE

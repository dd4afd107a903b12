"""What ``--channel`` asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.adapters.storage import case_files
from harness.domain.errors import UsageError
from harness.domain.releases.release import Channel
from harness.jobs import channels


@pytest.mark.parametrize(
    ("text", "package", "asked"),
    [
        (None, None, (Channel.STABLE,)),
        (None, "keras-nightly", (Channel.NIGHTLY,)),
        ("nightly", None, (Channel.NIGHTLY,)),
        ("stable, nightly", None, (Channel.STABLE, Channel.NIGHTLY)),
        ("nightly,commit", "keras-nightly", (Channel.NIGHTLY, Channel.COMMIT)),
        ("stable,nightly,commit", None, channels.ALL),
    ],
)
def test_reading(text: str | None, package: str | None, asked: tuple[Channel, ...]) -> None:
    assert channels.parse(text, package) == asked


def test_refusing() -> None:
    with pytest.raises(UsageError, match="unknown channel"):
        channels.parse("weekly")
    with pytest.raises(UsageError, match="unknown channel"):
        channels.parse("nightly,stable")
    with pytest.raises(UsageError, match="nightly builds alone"):
        channels.parse("stable", "tf-nightly")


@pytest.fixture
def case_path(tmp_path: Path) -> Path:
    path = tmp_path / "some.py"
    path.write_text(
        '# /// script\n# dependencies = ["keras", "tensorflow", "numpy"]\n# [tool.harness]\n# replicas = 4\n# ///\n'
        "def model(): ...\ndef data(): ...\n"
    )
    return path


def test_the_distribution_under_test_decides_what_is_a_companion(case_path: Path) -> None:
    case = case_files.read(str(case_path))
    nightly = channels.under_test(case, Channel.NIGHTLY)
    assert (nightly.package, nightly.import_name, nightly.replicas) == ("keras-nightly", "keras", 4)
    assert channels.under_test(case, Channel.STABLE) is case
    assert channels.under_test(nightly, Channel.NIGHTLY) is nightly
    tensorflow = channels.as_package(case, "tf-nightly")
    assert tensorflow.companions == ("keras", "tensorflow", "numpy")

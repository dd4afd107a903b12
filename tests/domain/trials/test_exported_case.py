"""A case with all that a script of its own needs."""

from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from harness.domain.trials.exported_case import ExportedCase
from harness.domain.trials.variant import Variant
from tests.examples import case


def test_it_is_a_value_whose_parts_stay_as_they_are() -> None:
    def made() -> ExportedCase:
        return ExportedCase(
            case=case(),
            release="3.9.2",
            pins=("keras==3.9.2", "tensorflow==2.18.1"),
            variant=Variant(replicas=2, strategy="mirrored"),
        )

    assert made() == made()
    with pytest.raises(FrozenInstanceError):
        made().release = "3.10.0"  # type: ignore[misc]


def test_every_part_has_to_be_given() -> None:
    """A script without its pins would run on whatever is installed."""
    with pytest.raises(TypeError, match="pins"):
        ExportedCase(case=case(), release="3.9.2", variant=Variant())  # type: ignore[call-arg]

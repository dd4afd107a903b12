"""Find the release in which a Keras or TensorFlow regression begins and ends, with proof.

The Python interface: each function takes the frozen request that the command line makes too, and returns the finding
that the reports are made of. It is loaded when it is used, so that ``import harness`` stays quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from harness.api import (
        aggregation,
        bisect,
        diagnose,
        export,
        releases,
        report,
        repro,
        reproduce,
        run,
        verify_fix,
        workarounds,
    )
    from harness.jobs.requests import (
        AggregationRequest,
        BisectRequest,
        DiagnoseRequest,
        ReleasesRequest,
        ReportRequest,
        ReproduceRequest,
        ReproRequest,
        TrialRequest,
        VerifyRequest,
        WorkaroundsRequest,
    )

__version__ = "0.1.0"
__all__ = [
    "AggregationRequest",
    "BisectRequest",
    "DiagnoseRequest",
    "ReleasesRequest",
    "ReportRequest",
    "ReproRequest",
    "ReproduceRequest",
    "TrialRequest",
    "VerifyRequest",
    "WorkaroundsRequest",
    "aggregation",
    "bisect",
    "diagnose",
    "export",
    "releases",
    "report",
    "repro",
    "reproduce",
    "run",
    "verify_fix",
    "workarounds",
]


def __getattr__(name: str) -> object:
    """Load the Python interface at the first use of one of its names."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "harness.jobs.requests" if name.endswith("Request") else "harness.api"
    return getattr(importlib.import_module(home), name)

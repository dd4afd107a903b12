"""Apply a fix inside the trial's process, before the model is built."""

from __future__ import annotations

import importlib.util
from typing import Any

OUTCOMES = ("applied", "absent", "refused")
DETAIL_LIMIT = 2_000


def apply(fix: dict[str, Any]) -> dict[str, str]:
    """Load the fix's file and call its ``apply()``.

    ``apply()`` returns one of `OUTCOMES`, or a pair of it and a sentence; anything else says nothing about the
    package and counts as refused. What it raises ends the trial: a fix that raises breaks what it should cure.

    Args:
        fix: `name`, `path` of the module, and `options`: keyword arguments of ``apply()``.
    """
    spec = importlib.util.spec_from_file_location("harness_fix", fix["path"])
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load the fix {fix['path']}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    outcome, detail = _read(module.apply(**fix["options"]))
    return {"name": fix["name"], "outcome": outcome, "detail": detail[:DETAIL_LIMIT]}


def _read(answer: Any) -> tuple[str, str]:
    pair = answer if isinstance(answer, tuple) and len(answer) == 2 else (answer, "")
    outcome, detail = pair
    if isinstance(outcome, str) and outcome in OUTCOMES:
        return outcome, str(detail)
    return "refused", f"apply() returned {repr(answer)[:200]}, expected one of {', '.join(OUTCOMES)}"

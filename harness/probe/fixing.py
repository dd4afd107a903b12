"""Apply a fix inside the trial's process, before the model is built."""

from __future__ import annotations

import importlib.util
from typing import Any

OUTCOMES = ("applied", "absent", "refused")


def apply(fix: dict[str, Any]) -> dict[str, str]:
    """Load the fix's file and call its ``apply()``.

    ``apply()`` returns one of `OUTCOMES`, or a pair of it and a sentence. What it raises ends the trial:
    a fix that raises breaks what it should cure.

    Args:
        fix: `name`, `path` of the module, and `options`: keyword arguments of ``apply()``.
    """
    spec = importlib.util.spec_from_file_location("harness_fix", fix["path"])
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load the fix {fix['path']}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    answer: Any = module.apply(**fix["options"])
    outcome, detail = answer if isinstance(answer, tuple) else (answer, "")
    if outcome not in OUTCOMES:
        raise ValueError(f"apply() of the fix {fix['name']} returned {answer!r}, expected one of {', '.join(OUTCOMES)}")
    return {"name": fix["name"], "outcome": outcome, "detail": str(detail)}

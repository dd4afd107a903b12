"""``report.json``: the finding itself; its JSON Schema is published in docs/report.schema.json."""

from __future__ import annotations

import json
from typing import Any

from harness import codec
from harness.domain.findings.finding import Finding


def json_text(finding: Finding) -> str:
    """Return the report as JSON text."""
    return codec.dumps(Finding, finding, indent=2) + "\n"


def schema() -> dict[str, Any]:
    """Return the JSON Schema of `json_text`'s output."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **codec.schema(Finding)}


def schema_text() -> str:
    """Return the schema as committed."""
    return json.dumps(schema(), indent=2, sort_keys=True) + "\n"

"""The folder and the journal of a run, begun or gone on with."""

from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from harness.adapters.storage.files import output_folder
from harness.adapters.storage.journal import FileJournal
from harness.cli import options
from harness.domain.findings.run import RunHeader


def open_run(header: RunHeader, given: dict[str, Any], kind: str = "") -> tuple[Path, FileJournal]:
    """Begin or resume the journal of a run; its folder is called after `kind`, the case and the moment."""
    if given["resumed"] is not None:
        folder = options.run_folder(given["resumed"])
        return folder, FileJournal.resume(folder, header.question)
    stamp = datetime.now(timezone.utc).strftime("%Y%m%d-%H%M%S")
    name = "-".join(part for part in (kind, header.case.name, stamp) if part)
    folder = output_folder(given["output"] or options.unused(Path("reports") / name))
    return folder, FileJournal.begin(folder, header)

"""The folders of runs: they are found, begun and resumed here, and a finished search leaves its runs in the cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from harness import codec
from harness.adapters.storage import journal, run_cache
from harness.adapters.storage.files import check_output, output_folder, write_whole
from harness.adapters.storage.home import Home
from harness.adapters.storage.journal import FileJournal
from harness.adapters.storage.run_cache import Runs
from harness.domain.errors import UsageError
from harness.domain.findings.changes.changed_lines import ChangedLines
from harness.domain.findings.run import RunHeader
from harness.domain.trials.entry import Entry

LINES = "lines.json"
"""File of a run with the lines that were found behind its transitions."""


class RunFolders:
    """Runs on the disk of this machine.

    Args:
        home: Holds the cache of finished searches.
        redact: Takes the credentials out of what an earlier version may have written.
    """

    def __init__(self, home: Home, redact: Callable[[RunHeader], RunHeader] = lambda header: header) -> None:
        self._home = home
        self._redact = redact

    def check(self, folder: Path) -> None:
        """Refuse a folder that could not be written; makes nothing."""
        check_output(folder)

    def begin(self, folder: Path, header: RunHeader) -> FileJournal:
        """Begin a journal in a new folder."""
        return FileJournal.begin(output_folder(folder), header)

    def resume(self, folder: Path, header: RunHeader) -> FileJournal:
        """Open a journal again; raises `UsageError` where the question changed."""
        return FileJournal.resume(folder, header.question)

    def read(self, folder: Path) -> tuple[RunHeader, list[Entry]]:
        """Header and entries of a run."""
        header, entries = journal.read(folder)
        return self._redact(header), entries

    def exists(self, folder: Path) -> bool:
        """Whether there is a journal in the folder."""
        return (folder / journal.NAME).is_file()

    def locate(self, run: Path) -> Path:
        """The folder of a run, given as a path or as its id below ``reports/``."""
        below = Path("reports") / run
        return below if not run.exists() and below.is_dir() else run

    def unused(self, folder: Path) -> Path:
        """The folder, or the first numbered one that does not exist yet."""
        number, chosen = 2, folder
        while chosen.exists():
            chosen, number = folder.with_name(f"{folder.name}-{number}"), number + 1
        return chosen

    def below(self, folder: Path) -> list[Path]:
        """Folders directly below this one that hold a journal, in order of their names."""
        return [path.parent for path in sorted(folder.glob(f"*/{journal.NAME}"))]

    def keep_lines(self, folder: Path, found: Sequence[ChangedLines]) -> None:
        """Keep the lines that were found behind the transitions of a run."""
        write_whole(folder / LINES, codec.dumps(tuple[ChangedLines, ...], tuple(found), indent=2) + "\n")

    def lines(self, folder: Path) -> tuple[ChangedLines, ...]:
        """The lines that were found behind the transitions of a run; a damaged file raises `UsageError`."""
        path = folder / LINES
        try:
            return codec.loads(tuple[ChangedLines, ...], path.read_bytes())
        except FileNotFoundError:
            return ()
        except (OSError, codec.Malformed) as error:
            hint = "remove it, and run the search again with --resume"
            raise UsageError(
                f"the lines that were found cannot be read: {error}", where=str(path), hint=hint
            ) from error

    def recall(self, header: RunHeader) -> Runs:
        """The runs of the last finished search for the same question and policy."""
        return run_cache.recall(self._home, header)

    def remember(self, header: RunHeader, runs: Runs) -> None:
        """Store the runs of a finished search."""
        run_cache.remember(self._home, header, runs)

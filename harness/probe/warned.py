"""The lines of a trial's output that speak of a warning, kept from all of it however long it is."""

from __future__ import annotations

MOST_LINES = 100
LONGEST_LINE = 500
SIGN = b"warn"


class WarningLines:
    """Takes output piece by piece; `lines` are those that speak of a warning, each once.

    Attributes:
        lines: At most `MOST_LINES` of at most `LONGEST_LINE` characters, in the order in which they came.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._rest = b""

    def take(self, chunk: bytes) -> None:
        """Look through one more piece; its last line may go on in the next one."""
        *whole, self._rest = (self._rest + chunk).split(b"\n")
        self._rest = self._rest[-65_536:]  # a line without end
        for line in whole:
            self._note(line)

    def end(self) -> list[str]:
        """Take what is left as a line, and return all."""
        self._note(self._rest)
        self._rest = b""
        return self.lines

    def _note(self, line: bytes) -> None:
        if SIGN not in line.lower() or len(self.lines) >= MOST_LINES:
            return
        text = line.strip()[:LONGEST_LINE].decode("utf-8", "replace")
        if text not in self.lines:
            self.lines.append(text)

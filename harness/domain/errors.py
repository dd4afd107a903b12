"""What can go wrong, with the exit code that each kind owns.

A message always says what failed, where, and what to try next.
"""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of ``harness bisect``; the other commands document where they differ."""

    ANSWERED = 0
    OUR_FAULT = 1
    USAGE = 2
    NO_RELEASE = 3
    EVERY_RELEASE = 4
    INCONCLUSIVE = 5
    SURROUNDINGS = 6
    INTERRUPTED = 130


class HarnessError(Exception):
    """A failure that the reader can act upon.

    Args:
        what: One sentence: what failed.
        where: The file, key, release or address concerned.
        hint: What to try next.
    """

    exit_code: ExitCode = ExitCode.OUR_FAULT

    def __init__(self, what: str, *, where: str | None = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        parts = [self.what]
        if self.where:
            parts.append(f"  where: {self.where}")
        if self.hint:
            parts.append(f"  try:   {self.hint}")
        return "\n".join(parts)


class UsageError(HarnessError):
    """The question cannot be asked in this way (bad case, version, range, option)."""

    exit_code = ExitCode.USAGE


class InfrastructureError(HarnessError):
    """The machine, the index or the disk failed; never a verdict about a release."""

    exit_code = ExitCode.SURROUNDINGS


class Untestable(HarnessError):
    """One release cannot be tested here; the reason becomes its ``skip``."""

    exit_code = ExitCode.INCONCLUSIVE


class EnvironmentChanged(Untestable):
    """Files of an environment were changed while it was used, so nothing that ran in it can be believed.

    Args:
        what: As for every error.
        where: As for every error.
        own: Whether it is known that the trial itself did it: nothing else ran at that time.
    """

    def __init__(self, what: str, *, where: str | None = None, own: bool = False) -> None:
        super().__init__(what, where=where)
        self.own = own


class Interrupted(HarnessError):
    """The user stopped the run; everything finished is in the journal.

    Args:
        what: As for every error.
        finished: Trials that are kept.
        resume: The command that goes on with the run; "" where none was begun.
    """

    exit_code = ExitCode.INTERRUPTED

    def __init__(self, what: str = "interrupted", *, finished: int = 0, resume: str = "") -> None:
        super().__init__(what, hint=f"resume with: {resume}" if resume else None)
        self.finished = finished
        self.resume = resume

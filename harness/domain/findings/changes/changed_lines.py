"""Which changed lines make a symptom begin or end: the minimal change between the two sides of a transition."""

from __future__ import annotations

from dataclasses import dataclass

from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.transition import Kind


@dataclass(frozen=True, kw_only=True)
class ChangedLines:
    """The lines between two neighbouring trees that flip a verdict, in the environment of the last one before.

    Attributes:
        symptom: The symptom.
        kind: Regression or recovery.
        last_before: The release whose files are changed.
        first_after: The release that the changes come from.
        diff: Unified diff of the lines that were found; "" when none were.
        files: The files that it changes.
        hunks: How many hunks it has.
        added: Lines that it adds.
        removed: Lines that it removes.
        changed_files: Files that differ between the two trees.
        executed_files: Those of them that the case imports; None: that could not be measured, and all were tried.
        trials: Sets of changes that were run or found in the cache; one run may take several trials of the case.
        unresolved: Those of them that said nothing: they did not import, or failed in another way.
        seconds: How long that took.
        minimal: No single hunk of it can be left out.
        proven: Both directions hold.
        backward: What the tree after shows without these lines.
        left: What was not done when the budget was spent; "" when all was.
        refused: Why no lines were looked for or found; "" when some were.
    """

    symptom: Symptom
    kind: Kind
    last_before: str
    first_after: str
    diff: str = ""
    files: tuple[str, ...] = ()
    hunks: int = 0
    added: int = 0
    removed: int = 0
    changed_files: int = 0
    executed_files: int | None = None
    trials: int = 0
    unresolved: int = 0
    seconds: float = 0.0
    minimal: bool = False
    proven: bool = False
    backward: str = ""
    left: str = ""
    refused: str = ""

    @property
    def place(self) -> str:
        """The transition in a clause."""
        verb = "begins" if self.kind is Kind.REGRESSION else "ends"
        return f"{self.symptom.value} {verb} {self.last_before} -> {self.first_after}"

    @property
    def sentence(self) -> str:
        """The answer in a sentence or two."""
        if self.refused:
            return f"{self.place}: no lines were found: {self.refused}"
        size = f"{_counted(self.hunks, 'hunk')} in {', '.join(self.files)} (+{self.added} -{self.removed} lines)"
        done = "it shows" if self.kind is Kind.REGRESSION else "it is gone"
        forward = f"{self.last_before} with these lines: {done}"
        least = "no hunk can be left out" if self.minimal else "perhaps more than are needed"
        return f"{self.place}: {size}; {least}. {forward}. {self.first_after} without them: {self.backward}."

    @property
    def cost(self) -> str:
        """What was looked through, and what that took."""
        measured = (
            "which of them the case executes could not be measured"
            if self.executed_files is None
            else f"{self.executed_files} of them imported by the case"
        )
        text = (
            f"{_counted(self.changed_files, 'file')} differ, {measured}; {_counted(self.trials, 'set')} of changes run"
        )
        text += f", {self.unresolved} of them unresolved, in {self.seconds:.0f} s."
        return f"{text} {self.left}" if self.left else text


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"

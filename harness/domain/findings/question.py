"""What was asked."""

from __future__ import annotations

from dataclasses import dataclass

from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.variant import Variant


@dataclass(frozen=True, kw_only=True)
class Question:
    """What was asked. Two equal questions have the same answer; a resumed run must ask the same.

    Attributes:
        case: Name of the case.
        case_digest: Hash of its text.
        package: Distribution under test.
        first: First version of the range.
        last: Last version of the range, resolved (never "latest").
        releases: Versions of the timeline in order.
        companions: What is pinned beside the package, as asked for.
        mode: ``fixed`` or ``as-of``.
        replicas: Replicas of the trial that is compared with the reference.
        strategy: Its strategy.
        symptoms: Those asked for; empty: every symptom that is seen.
        order: Version or date.
        fixes: Name and hash of each fix, when the question is about fixes.
        options: Settings of the case's switches; empty: its defaults.
        contract: Version of the probe's contract.
    """

    case: str
    case_digest: str
    package: str
    first: str
    last: str
    releases: tuple[str, ...]
    companions: tuple[str, ...] = ()
    mode: str = "fixed"
    replicas: int = 2
    strategy: str = "mirrored"
    symptoms: tuple[Symptom, ...] = ()
    order: str = "version"
    fixes: tuple[str, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    contract: int = 1

    @property
    def variant(self) -> Variant:
        """The trial that is judged on every release."""
        return Variant(replicas=self.replicas, strategy=self.strategy, options=self.options)

    @property
    def setup(self) -> str:
        """How the case is run, in words; no options, no word about them."""
        count = f"{self.replicas} replicas ({self.strategy}) against one"
        return (
            f"{count}, with {', '.join(f'{name}={value}' for name, value in self.options)}" if self.options else count
        )

    def differences(self, other: Question) -> list[str]:
        """Name every field in which another question differs, with both values."""
        names = self.__dataclass_fields__
        return [
            f"{name}: {getattr(self, name)!r} -> {getattr(other, name)!r}"
            for name in names
            if getattr(self, name) != getattr(other, name)
        ]

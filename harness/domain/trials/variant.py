"""How a case is run: what distinguishes two trials in one environment."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Variant:
    """How a case is run: everything that distinguishes two trials in one environment.

    Attributes:
        replicas: Number of replicas; 1 without a strategy is the reference.
        strategy: ``none``, ``mirrored``, ``multi-worker``, ``tpu`` or ``parameter-server``.
        fix: Name of the fix, or None.
        options: Parameters of the case, by name.
        policy: Dtype policy that is set before the model is built; None: the case's own.
        watched: Whether the trial is diagnosed while it runs.
    """

    replicas: int = 1
    strategy: str = "none"
    fix: str | None = None
    options: tuple[tuple[str, str], ...] = ()
    policy: str | None = None
    watched: bool = False

    @property
    def reference(self) -> Variant:
        """The trial that this one is compared with: one replica, no strategy, no fix, the same parameters."""
        return Variant(options=self.options)

    @property
    def label(self) -> str:
        """Short readable name, unique within a case."""
        name = "reference" if self.strategy == "none" and self.replicas == 1 else f"{self.replicas} replicas"
        if self.strategy not in ("none", "mirrored"):
            name = f"{self.strategy}, {name}"
        extras = [f"fix {self.fix}"] if self.fix else []
        extras += [f"{key}={value}" for key, value in self.options]
        extras += [self.policy] if self.policy else []
        extras += ["watched"] if self.watched else []
        return ", ".join([name, *extras])


REFERENCE = Variant()

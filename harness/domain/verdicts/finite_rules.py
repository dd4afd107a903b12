"""Are the numbers of a trial finite?"""

from __future__ import annotations

from collections.abc import Sequence

from harness.domain.cases.symptoms import Symptom
from harness.domain.trials.observation import NonFinite, Observation
from harness.domain.verdicts.signatures import signature
from harness.domain.verdicts.verdict import GOOD, Verdict, bad, skip


def nonfinite_metric(observation: Observation, reference: Observation | None) -> Verdict:
    """Judge the metrics of every step and the final ones."""
    names = observation.nonfinite_numbers
    first = observation.first_nonfinite_metric
    if not names and first is None:
        return GOOD if observation.numbers else skip("no metric was recorded")
    parts = [f"{name} is {observation.numbers[name]}" for name in names[:3]]
    if first is not None:
        parts.append(f"first at step {first.step} ({first.name} = {first.value})")
    if reference is not None and reference is not observation and reference.nonfinite_numbers:
        parts.append(f"on one replica {reference.nonfinite_numbers[0]} is not finite either")
    return bad(", ".join(parts), _nonfinite_signature(Symptom.NONFINITE_METRIC, first, names))


def nonfinite_weights(observation: Observation) -> Verdict:
    """Judge the weights after training."""
    if observation.weights is None:
        return skip("weights were not recorded")
    if observation.weights.count == 0:
        return skip("the model has no weights")
    if observation.weights.finite:
        return GOOD
    first = observation.first_nonfinite_weight
    why = f"first at step {first.step} ({first.name})" if first else "weights are not finite after training"
    return bad(why, _nonfinite_signature(Symptom.NONFINITE_WEIGHTS, first))


def _nonfinite_signature(symptom: Symptom, first: NonFinite | None, names: Sequence[str] = ()) -> str:
    """The step is left out: it moves with the number of replicas and the noise of the data."""
    return signature(symptom.value, first_name=first.name if first else next(iter(names), ""))

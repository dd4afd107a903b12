"""One trial on the terminal: every fact as a readable line, the reference beside it, each symptom below."""

from __future__ import annotations

import math
from typing import Any

from harness.domain.trials.observation import DeviceFacts, EndingKind, NonFinite, Stage, VariableFacts
from harness.domain.trials.trial import FinishedTrial, Trial
from harness.domain.trials.variant import REFERENCE
from harness.domain.verdicts.judgement import judge
from harness.reporting.trials.trial_report import SERIES_POINTS, facts, terminal
from tests.examples import HOSTILE, case, ending, observation
from tests.fakes import SHOWN, TWO
from tests.reporting.examples import printed

SUMMED: dict[str, Any] = {
    "role": "metric",
    "dtype": "float32",
    "shape": (),
    "aggregation": "SUM",
    "synchronization": "X",
}


def test_every_fact_that_was_recorded_is_shown():
    shown = facts(
        observation(
            {"loss": math.nan},
            evaluated={"loss": 0.5},
            steps={"loss": tuple(float(n) for n in range(256))},
            first_nonfinite_metric=NonFinite(name="loss", step=125, value=math.nan),
            first_nonfinite_weight=NonFinite(name="kernel", step=3, value=math.inf),
            variables=(
                VariableFacts(
                    path="a", role="metric", dtype="float32", shape=(), aggregation="SUM", synchronization="X"
                ),
                VariableFacts(
                    path="b", role="metric", dtype="float32", shape=(), aggregation="SUM", synchronization="X"
                ),
            ),
            devices=DeviceFacts(choice="logical CPU devices", names=("CPU:0", "CPU:1")),
            versions={"keras": "3.9.0"},
            durations={"train": 1.234, "devices": 0.0001},
            peak_memory_bytes=512 << 20,
        )
    )
    assert shown == {
        "ended": "finished (evaluate)",
        "loss": "NaN",
        "evaluate.loss": "0.5",
        "loss by step": "0 42 84 126 168 210 252",
        "first non-finite metric": "loss at step 125 (NaN)",
        "first non-finite weight": "kernel at step 3 (inf)",
        "weights": "2 values, finite, copies differ by 0",
        "single weights": "kernel 0.5, bias 0.25",
        "optimizer steps": "256",
        "metric variables": "SUM/X",
        "devices": "logical CPU devices: CPU:0, CPU:1",
        "versions": "keras 3.9.0",
        "seconds": "train 1.23",
        "peak memory": "512 MiB",
    }


def test_a_trial_that_raised_shows_its_message():
    shown = facts(
        observation(
            {},
            weights=None,
            iterations=None,
            ending=ending(EndingKind.RAISED, Stage.BUILD, exception="ValueError", message="a\nb"),
        )
    )
    assert shown["message"] == "ValueError a b"
    assert shown["ended"] == "raised (build)"
    assert "weights" not in shown


def test_a_short_series_is_shown_whole():
    assert facts(observation(steps={"loss": (1.0, 2.0)}))["loss by step"] == "1 2"
    assert len(facts(observation(steps={"loss": (1.0,) * 1000}))["loss by step"].split()) <= SERIES_POINTS + 1


def table(word: str, width: int = 160) -> str:
    reference = FinishedTrial(trial=Trial(release="3.9.0", variant=REFERENCE), observation=observation(), seconds=1.0)
    own = FinishedTrial(trial=Trial(release="3.9.0", variant=TWO), observation=SHOWN[word](), seconds=1.0)
    verdicts = judge(case(), own.observation, reference.observation)
    return printed(terminal(case(), [reference, own], verdicts), width)


def test_reference_and_replicas_stand_side_by_side_and_every_symptom_below():
    text = table("nan")
    assert text.startswith("identity on keras 3.9.0")
    (row,) = [line for line in text.splitlines() if line.startswith("│ loss ")]
    assert [cell.strip() for cell in row.strip("│").split("│")] == ["loss", "0.0873", "NaN"]
    for symptom in judge(case(), SHOWN["nan"](), observation()):
        assert f"  {symptom.value} " in text
    assert "nonfinite-metric   bad  loss is nan" in text


def test_no_text_of_a_trial_moves_the_cursor(monkeypatch):
    monkeypatch.setitem(
        SHOWN,
        "hostile",
        lambda: observation(
            {HOSTILE: 1.0},
            ending=ending(EndingKind.RAISED, Stage.TRAIN, exception=HOSTILE, message=HOSTILE),
            steps={HOSTILE: (1.0,)},
            versions={HOSTILE: HOSTILE},
            devices=DeviceFacts(choice=HOSTILE, names=(HOSTILE,)),
            durations={HOSTILE: 1.0},
            variables=(VariableFacts(path=HOSTILE, role=HOSTILE, dtype="x", shape=(), aggregation=HOSTILE),),
        ),
    )
    for width in (60, 200):
        assert not [c for c in table("hostile", width) if c != "\n" and (ord(c) < 32 or 0x7F <= ord(c) < 0xA0)]

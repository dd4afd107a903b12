"""Findings built by hand: one as it is read every day, one whose every text is hostile, and a fix report."""

from __future__ import annotations

import io
import math
from dataclasses import replace

from rich.console import Console, RenderableType

from harness.domain.cases.case import Claim, Workaround
from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.evidence import Curve, Evidence, Place, ReleaseEvidence, TrialEvidence
from harness.domain.findings.finding import Answer, Conclusion, Finding, ReleaseResult, TrialRecord
from harness.domain.findings.question import Question
from harness.domain.findings.run import SharedEnvironment
from harness.domain.findings.transition import Cause, Kind, SignatureChange, Transition, Untested
from harness.domain.fixes.claims import ClaimEvidence, ClaimFinding
from harness.domain.fixes.claims import ClaimResult as ClaimAnswer
from harness.domain.fixes.grades import FixReport, FixResult, Grade, Graded
from harness.domain.fixes.workarounds import Effect, Measured, WorkaroundReport, WorkaroundRow
from harness.domain.trials.observation import NonFinite
from harness.domain.verdicts.reasons import Reason, ReasonKind, recorded
from harness.domain.verdicts.verdict import Outcome, Verdict
from tests.examples import HOSTILE

GOOD = Verdict(outcome=Outcome.GOOD)
NAN = Verdict(
    outcome=Outcome.BAD,
    reason=recorded("loss is nan, mae is nan, first at step 125 (loss = nan)"),
    signature="nonfinite-metric | loss",
)
HIDDEN = Verdict(
    outcome=Outcome.SKIP,
    reason=Reason(kind=ReasonKind.HIDDEN, hidden_by=Symptom.NONFINITE_METRIC, cause=recorded("loss is nan")),
)
RAISED = "ValueError: aggregation MEAN is not supported for <dtype: 'int32'> (while: train)"

QUESTION = Question(
    case="identity",
    case_digest="0123456789abcdef",
    package="keras",
    first="3.5.0",
    last="3.10.0",
    releases=("3.5.0", "3.6.0", "3.7.0", "3.8.0", "3.9.0", "3.9.1", "3.9.2", "3.10.0"),
    companions=("tensorflow-cpu==2.18.1", "numpy==2.0.2"),
)
SETTING = SharedEnvironment(
    harness="0.1.0",
    python="3.11.7",
    platform="linux x86_64",
    mode="fixed",
    companions=("numpy==2.0.2", "tensorflow-cpu==2.18.1"),
    lock=("numpy==2.0.2 --hash=sha256:aa", "tensorflow-cpu==2.18.1 --hash=sha256:bb"),
)


def printed(report: RenderableType, width: int = 200) -> str:
    """What the command line prints of a report to a file or a pipe."""
    file = io.StringIO()
    Console(file=file, width=width, color_system=None).print(report, crop=False)
    return file.getvalue()


def good(version: str, day: str) -> ReleaseResult:
    return ReleaseResult(
        version=version,
        released=day,
        verdict=Outcome.GOOD,
        by_symptom=dict.fromkeys(Symptom, GOOD),
        reference={"loss": 0.0872513, "mae": 0.24108},
        replicas={"loss": 0.0872514, "mae": 0.24109, "evaluate.loss": 1e-9},
        environment=f"key-{version}",
        versions={"keras": version, "tensorflow": "2.18.1"},
        trials=(
            TrialRecord(variant="reference", repeat=0, ended="finished", seconds=0.913),
            TrialRecord(variant="2 replicas", repeat=0, ended="finished", seconds=1.304, cached=True),
        ),
    )


def nan(version: str, day: str) -> ReleaseResult:
    return replace(
        good(version, day),
        verdict=Outcome.BAD,
        symptoms=(Symptom.NONFINITE_METRIC,),
        by_symptom={Symptom.EXCEPTION: GOOD, Symptom.NONFINITE_METRIC: NAN, Symptom.WRONG_METRIC: HIDDEN},
        reason=f"nonfinite-metric: {NAN.reason}",
        replicas={"loss": math.nan, "mae": math.inf, "accuracy": -math.inf},
        first_nonfinite=NonFinite(name="loss", step=125, value=math.nan),
    )


def raised(version: str, day: str) -> ReleaseResult:
    verdict = Verdict(outcome=Outcome.BAD, reason=recorded(RAISED), signature="exception | ValueError")
    return replace(
        good(version, day),
        verdict=Outcome.BAD,
        symptoms=(Symptom.EXCEPTION,),
        by_symptom={Symptom.EXCEPTION: verdict},
        reason=f"exception: {RAISED}",
        replicas={},
        trials=(TrialRecord(variant="2 replicas", repeat=0, ended="raised", seconds=0.5),),
    )


def everyday() -> Finding:
    """Two symptoms, a hidden release, an untestable one, one that was not run, exclusions, notes and caveats."""
    return Finding(
        title="Dense(1) learns the identity under MirroredStrategy",
        origin=("https://github.com/keras-team/keras/issues/20568", "a private report"),
        question=QUESTION,
        environment=SETTING,
        releases=(
            good("3.5.0", "2024-08-12"),
            good("3.6.0", "2024-10-03"),
            raised("3.7.0", "2024-11-26"),
            nan("3.8.0", "2025-01-07"),
            ReleaseResult(version="3.9.0", released="2025-03-04"),
            ReleaseResult(
                version="3.9.1", released=None, verdict=Outcome.SKIP, reason="cannot be installed: no wheel for 3.11"
            ),
            nan("3.9.2", "2025-04-02"),
            good("3.10.0", "2025-05-19"),
        ),
        excluded=(
            Untested(version="3.6.0rc0", reason=recorded("pre-release")),
            Untested(version="3.8.1", reason=recorded("yanked: forgot a file")),
        ),
        transitions=(
            Transition(
                symptom=Symptom.EXCEPTION,
                kind=Kind.REGRESSION,
                last_before="3.6.0",
                first_after="3.7.0",
                confidence=0.9999,
                confirmed=True,
            ),
            Transition(
                symptom=Symptom.NONFINITE_METRIC,
                kind=Kind.REGRESSION,
                last_before="3.6.0",
                first_after="3.8.0",
                untested=(Untested(version="3.7.0", reason=recorded(f"hidden by exception: {RAISED}")),),
                confidence=0.95,
                rate=0.5,
            ),
            Transition(
                symptom=Symptom.NONFINITE_METRIC,
                kind=Kind.RECOVERY,
                last_before="3.9.2",
                first_after="3.10.0",
                confidence=0.999,
                confirmed=True,
                causes=(
                    Cause(link="https://github.com/keras-team/keras/pull/21072", title="metrics synchronize ON_READ"),
                    Cause(link="a private commit", title="another change of the same night"),
                ),
                note="3.10.0 (2025-05-19) was published before 3.9.2 (2025-06-01): different release branches",
            ),
        ),
        signature_changes=(
            SignatureChange(
                symptom=Symptom.NONFINITE_METRIC,
                last_before="3.8.0",
                first_after="3.9.2",
                before="nonfinite-metric | loss",
                after="nonfinite-metric | mae",
            ),
        ),
        conclusion=Conclusion(
            answer=Answer.ANSWERED,
            sentence="exception begins 3.6.0 -> 3.7.0; nonfinite-metric ends 3.9.2 -> 3.10.0.",
            history="The history is not monotonic: nonfinite-metric begins and ends within the range.",
            coverage="6 of 8 releases were run, 1 could not be tested, 1 were not run (3.9.0).",
            not_run=("3.9.0",),
            caveats=("3.9.1 (1 release) could not be tested: cannot be installed.", "3.9.0 was not run."),
        ),
        timing={"index": 0.4, "resolve": 3.21, "build": 130.0, "import": 42.5, "trials": 18.0},
        locks={"key-3.5.0": ("keras==3.5.0 --hash=sha256:cc",)},
        reproduce="harness bisect identity --from 3.5.0 --to 3.10.0",
    )


def evidence() -> Evidence:
    """What stands behind the everyday finding: curves beside a transition, another TensorFlow, a yanked release."""
    steps = tuple((n, 1.0 / n) for n in range(1, 9))
    broken = (*steps[:4], *((n, math.nan) for n in range(5, 9)))
    yanked = Place(version="3.8.1", released="2025-02-01", yanked="a file is missing", tried=False)
    places = [Place(version=r.version, released=r.released) for r in everyday().releases]
    return Evidence(
        places=(*places[:4], yanked, *places[4:]),
        releases={
            "3.6.0": _seen("3.6.0", "2.17.1", steps, steps, 0.0),
            "3.8.0": _seen("3.8.0", "2.18.1", steps, broken, math.nan),
            "3.9.2": _seen("3.9.2", "2.18.1", steps, broken, 0.25),
            "3.10.0": _seen("3.10.0", "2.18.1", steps, steps, 1e-9),
        },
    )


Points = tuple[tuple[int, float], ...]


def _seen(version: str, tensorflow: str, reference: Points, replicas: Points, deviation: float) -> ReleaseEvidence:
    trial = TrialEvidence(
        variant="2 replicas",
        repeat=1,
        ended="finished",
        seconds=1.3,
        cached=True,
        numbers={"loss": replicas[-1][1]},
        output=f"a line\n{HOSTILE}",
    )
    return ReleaseEvidence(
        python="3.11.7",
        isolation="private-views",
        packages={"keras": version, "numpy": "2.0.2", "tensorflow-cpu": tensorflow},
        deviation=deviation,
        curves=(
            Curve(variant="reference", metric="loss", points=reference, steps=8),
            Curve(variant="2 replicas", metric="loss", points=replicas, steps=8),
        ),
        trials=(trial,),
    )


def staged() -> Finding:
    """The everyday finding with the search over the nightlies behind one transition, and over the commits behind that."""
    commits = replace(
        everyday(),
        question=replace(QUESTION, first="0f" * 20, last="1e" * 20),
        transitions=(
            replace(
                everyday().transitions[2],
                last_before="0f" * 20,
                first_after="1e" * 20,
                note="",
                causes=(
                    Cause(
                        link="https://github.com/keras-team/keras/pull/21072",
                        title="Add synchronization (#21072)",
                        found=True,
                        changes=("keras/src/metrics/metric.py +12 -3", "logo.png"),
                    ),
                ),
            ),
        ),
        conclusion=replace(everyday().conclusion, sentence=f"nonfinite-metric ends {'0f' * 20} -> {'1e' * 20}."),
    )
    nights = replace(
        everyday(),
        question=replace(QUESTION, package="keras-nightly", first="3.9.0.dev2025031903", last="3.9.0.dev2025032003"),
        transitions=(),
        conclusion=replace(everyday().conclusion, sentence="nonfinite-metric ends in the nightlies."),
        stages=(commits,),
    )
    return replace(everyday(), stages=(nights,))


def hostile() -> Finding:
    """The same shape with a hostile text in every place that holds text from outside."""
    long = HOSTILE + "x" * 100_000
    finding = everyday()
    bad = finding.releases[2]
    untestable = finding.releases[5]
    return replace(
        finding,
        title=long,
        origin=(f"https://example.org/{HOSTILE}", "javascript:alert(1)", HOSTILE),
        question=replace(QUESTION, case=HOSTILE, package=HOSTILE, first=HOSTILE, last=HOSTILE, strategy=HOSTILE),
        environment=replace(SETTING, python=HOSTILE, platform=HOSTILE, companions=(HOSTILE,)),
        releases=(
            replace(bad, reason=f"exception: {long}", reference={HOSTILE: math.nan}, replicas={HOSTILE: 1.0}),
            replace(untestable, version=HOSTILE, reason=long),
            replace(
                bad, by_symptom={Symptom.EXCEPTION: Verdict(outcome=Outcome.BAD, reason=recorded(long), signature=long)}
            ),
        ),
        excluded=(Untested(version=HOSTILE, reason=recorded(long)),),
        transitions=(
            replace(
                finding.transitions[1],
                last_before=HOSTILE,
                first_after=HOSTILE,
                untested=(
                    Untested(version=HOSTILE, reason=recorded(long)),
                    Untested(version=HOSTILE, reason=recorded(long)),
                ),
                note=long,
                causes=(
                    Cause(link=f"https://example.org/{HOSTILE}", title=long),
                    Cause(link=HOSTILE, title=HOSTILE, found=True, changes=(HOSTILE, long)),
                ),
            ),
        ),
        conclusion=replace(finding.conclusion, sentence=long, history=long, coverage=long, caveats=(long,)),
        timing={HOSTILE: 1.0},
        reproduce=f"harness bisect '{HOSTILE}'",
        stages=(replace(finding, question=replace(QUESTION, package=HOSTILE, first=HOSTILE, last=HOSTILE)),),
    )


def fix_report(fixes: int = 1) -> FixReport:
    """A fix that masks, one release where it is absent, and a control."""
    graded = (
        Graded(
            version="3.9.0",
            grade=Grade.MASKS,
            reason="nonfinite-metric is gone, but wrong-metric: loss is 0.0871, reference 0.0873",
            reference={"loss": 0.087251},
            without={"loss": math.nan},
            patched={"loss": 0.087183},
            by_symptom={"nonfinite-metric": ("bad", "good"), "wrong-metric": ("skip", "bad")},
        ),
        Graded(version="3.6.0", grade=Grade.ABSENT, reason="there is no _map_aggregation"),
    )
    names = [f"sum->{name}" for name in ("NONE", "MEAN", "ONLY_FIRST_REPLICA", "SUM", HOSTILE)[:fixes]]
    return FixReport(
        title="Dense(1) learns the identity",
        question=QUESTION,
        environment=SETTING,
        targets=(Symptom.NONFINITE_METRIC,),
        fixes=tuple(
            FixResult(name=name, sentence=f"{name}: masks the symptom in 3.9.0.", releases=graded) for name in names
        ),
        workarounds=("3.10.0 and later: healthy without a patch.",),
        control="3.6.0",
        exit_code=4,
        timing={"index": 0.4, "trials": 4.0},
        locks={"key": ("keras==3.9.0",)},
        reproduce="harness verify-fix identity --fix aggregation-sum-to-none",
    )


def workarounds_report(text: str = "an epsilon inside the logarithm") -> WorkaroundReport:
    """Two workarounds on one and two replicas of one release, and a claim of each answer."""
    remedy = Workaround(
        name="log_epsilon", title=text, options={"remedy": "log_epsilon"}, against={"fault": "silent_log"}, origin=text
    )
    found = Graded(
        version="3.9.0",
        grade=Grade.MASKS,
        reason=f"nonfinite-metric is gone, but {text}",
        reference={"loss": 0.087251},
        without={"loss": math.nan},
        patched={"loss": 0.087183},
        by_symptom={"nonfinite-metric": ("bad", "good"), "wrong-metric": ("skip", "bad")},
    )
    proven = replace(found, grade=Grade.PROVEN, reason="every value equals the reference")
    one = Measured(version="3.9.0", replicas=1, cured=Effect.YES, right=Effect.YES, graded=proven)
    two = Measured(version="3.9.0", replicas=2, cured=Effect.YES, right=Effect.NO, graded=found)
    open_ = Measured(
        version="3.9.0", replicas=1, cured=Effect.OPEN, right=Effect.OPEN, graded=replace(found, reason=text)
    )
    said = Claim(says=text, origin="https://github.com/keras-team/keras/issues/20568", predicts="good")
    evidence = ClaimEvidence(
        version="3.9.0",
        trial="2 replicas, fault=silent_log",
        answer=ClaimAnswer.REFUTED,
        reason="nonfinite-metric: loss is nan",
        numbers={"loss": math.nan},
        reference={"loss": 0.087251},
    )
    return WorkaroundReport(
        title=text,
        question=QUESTION,
        environment=SETTING,
        counts=(1, 2),
        versions=("3.9.0",),
        rows=(
            WorkaroundRow(remedy=remedy, cells=(one, two)),
            WorkaroundRow(
                remedy=Workaround(name="nothing", title="do nothing"), cells=(open_, replace(open_, replicas=2))
            ),
        ),
        claims=(
            ClaimFinding(claim=said, answer=ClaimAnswer.REFUTED, reason=evidence.reason, evidence=(evidence,)),
            ClaimFinding(
                claim=Claim(says="the TPU is not affected", untestable=text),
                answer=ClaimAnswer.NOT_TESTABLE,
                reason=text,
            ),
        ),
        timing={"index": 0.4, "trials": 4.0},
        reproduce="harness remedies stft_loss --release 3.9.0 --replicas 1,2",
    )

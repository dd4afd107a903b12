"""The one way from the journal's entries to a finding: history, release results, transitions, conclusion."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from harness.domain.cases.case import Case
from harness.domain.cases.symptoms import Symptom
from harness.domain.findings.causes import explained
from harness.domain.findings.conclusions import conclude
from harness.domain.findings.confounding import Tried, companions_of, confounded, next_crossings, runs_needed
from harness.domain.findings.finding import Answer, Finding, ReleaseResult, TrialRecord
from harness.domain.findings.notes import with_notes
from harness.domain.findings.run import RunHeader
from harness.domain.findings.transition import Transition, Untested
from harness.domain.findings.transitions import signature_changes, transitions
from harness.domain.findings.unchecked import unchecked
from harness.domain.releases.companions import Mode
from harness.domain.releases.distributions import bringing
from harness.domain.releases.moves import Move, moves
from harness.domain.releases.release import Exclusion, Release, Timeline
from harness.domain.search.history import ReleaseState, SearchHistory
from harness.domain.search.posterior import settle
from harness.domain.search.strategy import stopped_early
from harness.domain.trials.crossing import Crossing
from harness.domain.trials.entry import Entry
from harness.domain.trials.observation import Observation
from harness.domain.trials.variant import Variant
from harness.domain.verdicts.absence import absence, missing_everywhere
from harness.domain.verdicts.judgement import judge
from harness.domain.verdicts.read_rules import needs_baseline, value_of
from harness.domain.verdicts.reasons import Reason, ReasonKind
from harness.domain.verdicts.verdict import Outcome, Verdict, Verdicts


class Folded:
    """The state of each release, kept up to date while entries come in: a search asks for it after every trial.

    Args:
        case: The repro.
        timeline: Its releases.
        variant: The trial that is judged.

    Attributes:
        states: One state per release.
        taken: How many entries they are made of.
        baseline: The trial whose value is the right one; None while there is none.
    """

    def __init__(self, case: Case, timeline: Timeline, variant: Variant) -> None:
        self._case, self._timeline, self._variant = case, timeline, variant
        self._reference: list[Entry] = []
        self.baseline: Observation | None = None
        self._places = {release.version: place for place, release in enumerate(timeline.releases)}
        self._entries: dict[int, list[Entry]] = {}
        self.states = SearchHistory(len(timeline.releases))
        self.taken = 0

    def take(self, entries: Iterable[Entry]) -> None:
        """Add entries in the order written; those of releases outside of the timeline say nothing."""
        changed: set[int] = set()
        for entry in entries:
            self.taken += 1
            if entry.release == self._case.reference:
                self._reference.append(entry)
            if (place := self._places.get(entry.release)) is not None:
                self._entries.setdefault(place, []).append(entry)
                changed.add(place)
        self._rebase(changed)
        for place in sorted(changed):
            self.states[place] = row(self._case, self._entries[place], self._variant, self.baseline)

    def _rebase(self, changed: set[int]) -> None:
        """Judge every release anew where another observation has become the one to compare values with."""
        if not needs_baseline(self._case):
            return
        by_release = (self._entries[place] for place in sorted(self._entries))
        baseline = baseline_of(self._case, self._reference, by_release, self._variant)
        if baseline is not self.baseline:
            self.baseline = baseline
            self.states = SearchHistory(len(self._timeline.releases))
            changed.update(self._entries)

    def next_repeat(self, place: int) -> int:
        """The lowest number that no run of a release has; a damaged journal may lack one in between."""
        return first_free(repeats(self._entries.get(place, ()), self._variant))


def first_free(numbers: Collection[int]) -> int:
    """The lowest number from 0 that is not among these."""
    return next(number for number in range(len(numbers) + 1) if number not in numbers)


def history(case: Case, timeline: Timeline, entries: Sequence[Entry], variant: Variant) -> SearchHistory:
    """Return one state per release of the timeline."""
    folded = Folded(case, timeline, variant)
    folded.take(entries)
    return folded.states


def compose(header: RunHeader, entries: Sequence[Entry]) -> Finding:
    """Turn a journal into the whole answer; the same journal always gives the same finding."""
    case, timeline, policy = header.case, header.timeline, header.policy
    variant = header.question.variant
    lacks = missing_everywhere(case, entries, variant)
    folded = _folded(header, entries)
    states = _without(lacks, folded.states) if lacks else folded.states
    records = _records(header, entries, folded.baseline)
    found = confounded(header, records, _transitions(header, states))
    described = with_values(case, results(timeline, entries, variant, states, policy.symptoms), entries, variant)
    conclusion = conclude(timeline, states, policy.symptoms, found, stopped=stopped_early(states, policy))
    if conclusion.answer is Answer.NO_RELEASE:
        notes = unchecked(case, _outputs(timeline, entries, variant))
        conclusion = replace(conclusion, caveats=(*notes, *conclusion.caveats))
    return Finding(
        title=case.title,
        origin=case.origin,
        question=header.question,
        environment=header.setting,
        releases=tuple(replace(one, moved=moved_in(header, records.get(one.version))) for one in described),
        excluded=(
            *(Untested(version=x.release.version, reason=_excluded(x)) for x in timeline.excluded),
            *(Untested(version=day, reason=Reason(kind=ReasonKind.NO_BUILD)) for day in timeline.absent),
        ),
        transitions=explained(found, header.causes, timeline),
        signature_changes=tuple(signature_changes(timeline, states, policy.symptoms)),
        conclusion=with_notes(conclusion, case, entries),
        timing=timing(header, entries),
        locks=locks(entries),
        reproduce=header.reproduce,
        lacks=lacks,
    )


def crossings_wanted(header: RunHeader, entries: Sequence[Entry]) -> tuple[list[Crossing], int]:
    """Which releases to try beside the companions of others, and how often; none before the search has ended."""
    folded = _folded(header, entries)
    states = folded.states
    if stopped_early(states, header.policy):
        return [], 0
    found = _transitions(header, states)
    return next_crossings(header, _records(header, entries, folded.baseline), found), runs_needed(header, found)


def locked_companions(header: RunHeader, entries: Sequence[Entry], version: str) -> tuple[str, ...]:
    """The companions that a release of the timeline was tried with."""
    return companions_of(header, _records(header, entries, None).get(version))


def moved_in(header: RunHeader, tried: Tried | None) -> tuple[Move, ...]:
    """The companions of a release that are not as in the run's reference set, which as-of mode does not have."""
    if header.setting.mode != Mode.FIXED.value:
        return ()
    return moves(companions_of(header, tried), header.setting.lock, header.setting.named)


def _transitions(header: RunHeader, states: SearchHistory) -> list[Transition]:
    policy = header.policy
    return transitions(header.timeline, states, policy.symptoms, policy.confirmations, policy.confidence)


def _folded(header: RunHeader, entries: Sequence[Entry]) -> Folded:
    folded = Folded(header.case, header.timeline, header.question.variant)
    folded.take(entries)
    return folded


def _records(header: RunHeader, entries: Sequence[Entry], baseline: Observation | None) -> dict[str, Tried]:
    """Where each release and each crossing ran, and what the crossings showed."""
    return {
        name: Tried(
            state=row(header.case, own, header.question.variant, baseline) if own[0].crossing else ReleaseState(),
            environment=next((entry.environment for entry in own if entry.environment), None),
        )
        for name, own in group(entries).items()
    }


def _without(module: str, states: SearchHistory) -> SearchHistory:
    """What failed for want of a module says nothing of its release."""
    reason = Reason(kind=ReasonKind.UNTESTABLE, detail=absence(module, bringing(module)))
    found = SearchHistory(len(states))
    for place, state in enumerate(states):
        if state.tried:
            found[place] = ReleaseState(blocked=reason if state.blocked is None else state.blocked)
    return found


def _outputs(timeline: Timeline, entries: Sequence[Entry], variant: Variant) -> dict[str, list[str]]:
    """What each run printed, by release."""
    by_release = group(entries)
    return {
        version: [seen.output for seen in repeats(by_release.get(version, []), variant).values()]
        for version in timeline.versions
    }


def _excluded(one: Exclusion) -> Reason:
    return Reason(kind=ReasonKind.EXCLUDED, detail=one.reason)


def locks(entries: Sequence[Entry]) -> dict[str, tuple[str, ...]]:
    """What each environment has beside the shared lock, by its key."""
    return {entry.environment.key: entry.environment.lock for entry in entries if entry.environment}


def timing(header: RunHeader, entries: Sequence[Entry]) -> dict[str, float]:
    """Seconds by phase, summed over parallel jobs."""
    spent: dict[str, float] = {"index": header.index_seconds}
    for entry in entries:
        for phase, seconds in entry.seconds.items():
            spent[phase] = spent.get(phase, 0.0) + seconds
    return {phase: round(seconds, 3) for phase, seconds in spent.items()}


def group(entries: Sequence[Entry]) -> dict[str, list[Entry]]:
    """Entries by release, in the order written."""
    by_release: dict[str, list[Entry]] = {}
    for entry in entries:
        by_release.setdefault(entry.release, []).append(entry)
    return by_release


def baseline_of(
    case: Case, reference: Sequence[Entry], by_release: Iterable[Sequence[Entry]], variant: Variant
) -> Observation | None:
    """The trial whose value is the right one; None while it was not run.

    Args:
        case: Says which it is.
        reference: Entries of the release that the case names.
        by_release: Entries of every release, the oldest first: the first with a value counts where none is named.
        variant: The trial that is judged.
    """
    for entries in [reference] if case.reference else by_release:
        found = repeats(entries, variant)
        for repeat in sorted(found):
            if value_of(case, found[repeat]) is not None:
                return found[repeat]
    return None


def row(case: Case, entries: Sequence[Entry], variant: Variant, baseline: Observation | None = None) -> ReleaseState:
    """Judge every repeat of one variant against the reference of the same repeat."""
    refusals = (entry.untestable for entry in entries if entry.untestable is not None)
    blocked = next((Reason(kind=ReasonKind.UNTESTABLE, detail=text) for text in refusals), None)
    references = repeats(entries, variant.reference)
    runs = tuple(
        judge(case, own, references.get(repeat), baseline) for repeat, own in repeats(entries, variant).items()
    )
    return ReleaseState(runs=runs, blocked=None if runs else blocked)


def repeats(entries: Sequence[Entry], variant: Variant) -> dict[int, Observation]:
    """Observations of one variant by repeat."""
    return {
        e.finished.trial.repeat: e.finished.observation
        for e in entries
        if e.finished is not None and e.finished.trial.variant == variant
    }


def complete(entries: Sequence[Entry], variants: Sequence[Variant], count: int) -> bool:
    """Whether the journal holds every trial of a release; a run that was torn off may have left some out."""
    if any(entry.untestable is not None for entry in entries):
        return True
    return all(set(range(count)) <= set(repeats(entries, variant)) for variant in variants)


def shows(case: Case, entries: Sequence[Entry], variant: Variant, targets: Sequence[Symptom]) -> bool:
    """Whether a release shows one of the targets (any symptom when none are named) in any run."""
    runs = row(case, entries, variant).runs
    return any(v.outcome is Outcome.BAD for run in runs for s, v in run.items() if not targets or s in targets)


def blocked(*groups: Sequence[Entry]) -> str:
    """Why nothing can be said of a release: the first reason on record, or that it was not run."""
    return next((entry.untestable for entries in groups for entry in entries if entry.untestable), "not run")


def observed(entries: Sequence[Entry], variant: Variant, repeat: int = 0) -> Observation | None:
    """One observation, or None."""
    return repeats(entries, variant).get(repeat)


def results(
    timeline: Timeline,
    entries: Sequence[Entry],
    variant: Variant,
    states: Sequence[ReleaseState],
    symptoms: Sequence[Symptom] = (),
) -> list[ReleaseResult]:
    """Describe every release of the timeline for the report; its verdict is about what was asked."""
    by_release = group(entries)
    settled = {symptom: settle(states, symptom) for symptom in Symptom}
    found = []
    for n, release in enumerate(timeline.releases):
        decided = {s: v for s, column in settled.items() if (v := column[n]) is not None and states[n].runs}
        found.append(_result(release, by_release.get(release.version, []), variant, states[n], decided, symptoms))
    return found


def _result(
    release: Release,
    entries: Sequence[Entry],
    variant: Variant,
    known: ReleaseState,
    verdicts: Mapping[Symptom, Verdict],
    symptoms: Sequence[Symptom],
) -> ReleaseResult:
    about = answering(verdicts, symptoms)
    own = _any(repeats(entries, variant))
    reference = _any(repeats(entries, variant.reference))
    return ReleaseResult(
        version=release.version,
        released=_date(release.released),
        verdict=overall(known, about),
        symptoms=shown(about),
        by_symptom=verdicts,
        reason="; ".join(filter(None, [why(known, about), _beside(verdicts, about)])),
        reference=reference.numbers if reference else {},
        replicas=own.numbers if own else {},
        first_nonfinite=own.first_nonfinite_metric if own else None,
        environment=next((e.environment.key for e in entries if e.environment), None),
        versions=own.versions if own else {},
        trials=tuple(_record(e) for e in entries if e.finished is not None),
    )


def with_values(
    case: Case, found: Iterable[ReleaseResult], entries: Sequence[Entry], variant: Variant
) -> Iterator[ReleaseResult]:
    """The results with the value that each release printed, where the case says what that is."""
    by_release = group(entries) if case.value else {}
    for result in found:
        own = _any(repeats(by_release.get(result.version, []), variant))
        seen = value_of(case, own) if own is not None else None
        yield replace(result, value=seen.text) if seen is not None else result


def answering(verdicts: Mapping[Symptom, Verdict], symptoms: Sequence[Symptom]) -> Mapping[Symptom, Verdict]:
    """The verdicts on what was asked; all of them when nothing was."""
    return {symptom: verdict for symptom, verdict in verdicts.items() if not symptoms or symptom in symptoms}


def shown(verdicts: Mapping[Symptom, Verdict]) -> tuple[Symptom, ...]:
    """The symptoms that are there."""
    return tuple(symptom for symptom, verdict in verdicts.items() if verdict.outcome is Outcome.BAD)


def overall(known: ReleaseState, verdicts: Mapping[Symptom, Verdict] | Verdicts) -> Outcome | None:
    """Bad if any symptom is, good if one was seen not to be and none may be, else skip; None: not run."""
    outcomes = {v.outcome for v in verdicts.values()}
    if Outcome.BAD in outcomes:
        return Outcome.BAD
    if Outcome.GOOD in outcomes and not any(v.undecided for v in verdicts.values()):
        return Outcome.GOOD
    return Outcome.SKIP if known.tried else None


def why(known: ReleaseState, verdicts: Mapping[Symptom, Verdict]) -> str:
    """Why a release is bad or skipped, in one line; "" when it is good or was not run."""
    if known.blocked is not None:
        return str(known.blocked)
    match overall(known, verdicts):
        case Outcome.BAD:
            bad = [(s, v) for s, v in verdicts.items() if v.outcome is Outcome.BAD]
            return "; ".join(f"{symptom.value}: {verdict.reason}" for symptom, verdict in bad)
        case Outcome.SKIP:
            skipped = [verdict.reason for verdict in verdicts.values() if verdict.outcome is Outcome.SKIP]
            return "; ".join(dict.fromkeys(map(str, skipped)))
        case _:
            return ""


def _beside(verdicts: Mapping[Symptom, Verdict], about: Mapping[Symptom, Verdict]) -> str:
    """Symptoms that nobody asked for are no verdict, and are not kept back."""
    others = [symptom.value for symptom in shown(verdicts) if symptom not in about]
    return f"beside what was asked: {', '.join(others)}" if others else ""


def _record(entry: Entry) -> TrialRecord:
    finished = entry.finished
    assert finished is not None
    return TrialRecord(
        variant=finished.trial.variant.label,
        repeat=finished.trial.repeat,
        ended=finished.observation.ending.kind.value,
        seconds=round(finished.seconds, 3),
        cached=finished.cached,
    )


def _any(by_repeat: Mapping[int, Observation]) -> Observation | None:
    return by_repeat[min(by_repeat)] if by_repeat else None


def _date(moment: datetime | None) -> str | None:
    return moment.date().isoformat() if moment else None

"""Find the lines behind a transition: first the files, then the hunks, by delta debugging on copies of the tree before.

Which files the case executes is measured by what its process has imported from the copy when it ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from harness.domain.cases.case import Case
from harness.domain.errors import UsageError
from harness.domain.findings.changes.changed_lines import ChangedLines
from harness.domain.findings.run import RunHeader
from harness.domain.findings.transition import Kind, Transition
from harness.domain.search.delta import Effect, Minimal, minimize
from harness.domain.search.hunks import Hunk, Overlay, Tree, applied, changed_files, counted, hunks_of, unified
from harness.domain.search.needs import closed, needs
from harness.domain.trials.entry import Entry
from harness.domain.trials.trial import Environment
from harness.domain.verdicts.verdict import Outcome
from harness.jobs.changes.experiments import Experiments, Setting, Shown
from harness.jobs.events import Event, EventKind, Listener
from harness.jobs.preparation import Stopwatch
from harness.jobs.protocols import Services
from harness.jobs.requests import BisectRequest
from harness.jobs.trials import recorded_companions

MOST_TRIALS = 300
"""Sets of changes that are run behind one transition where no budget is given."""
LEAST_TRIALS = 3  # the two ends, and the way back


@dataclass(frozen=True, kw_only=True)
class Trees:
    """Both sides of a transition, as files."""

    before: Tree
    after: Tree
    changed: tuple[str, ...]

    def of_files(self, files: Sequence[str]) -> Overlay:
        """The tree before with these files of the tree after."""
        return {name: self.after.get(name) for name in files}

    def of_hunks(self, hunks: Sequence[Hunk]) -> Overlay:
        """The tree before with these hunks."""
        return applied(self.before, hunks)


def search_hunks(
    services: Services, case: Case, transition: Transition, folder: Path, request: BisectRequest, listener: Listener
) -> ChangedLines:
    """Find the lines that make one transition of a finished search; what cannot be searched says why.

    Args:
        services: The world.
        case: The repro, with the package of the search under test.
        transition: Of the search.
        folder: Where its run lies.
        request: Whether the cache is used, and the budget.
        listener: Hears what is run.

    Raises:
        InfrastructureError: machine, index or disk failed; what is finished is in the cache.
    """
    watch = Stopwatch()
    budget = max(LEAST_TRIALS, request.max_trials or MOST_TRIALS)
    found = ChangedLines(
        symptom=transition.symptom,
        kind=transition.kind,
        last_before=transition.last_before,
        first_after=transition.first_after,
    )
    try:
        setting, trees = _set_up(services, case, transition, folder, request, listener)
    except UsageError as reason:
        hint = f"; {reason.hint}" if reason.hint else ""
        return replace(found, refused=f"{reason.what}{hint}")
    detail = f"{found.place}: {len(trees.changed)} files differ; which of their lines?"
    listener.notify(Event(kind=EventKind.MESSAGE, detail=detail))
    experiments = Experiments(setting=setting, budget=budget)
    found = _searched(replace(found, changed_files=len(trees.changed)), trees, experiments)
    return replace(found, trials=experiments.trials, unresolved=experiments.unresolved, seconds=round(watch.seconds, 1))


def _set_up(
    services: Services, case: Case, transition: Transition, folder: Path, request: BisectRequest, listener: Listener
) -> tuple[Setting, Trees]:
    header, entries = services.runs.read(folder)
    environments = services.environments(recorded_companions(services, header, listener), listener)
    sides = [_environment(header, entries, one) for one in (transition.last_before, transition.first_after)]
    built = [environments.restore(side) for side in sides]
    before, after = (services.tree(environment, case) for environment in built)
    changed = changed_files(before, after)
    if not changed:
        raise UsageError(f"no file of {case.package} differs between the two; the change lies elsewhere")
    setting = Setting(
        services=services,
        listener=listener,
        case=case,
        variant=header.question.variant,
        transition=transition,
        environments=environments,
        environment=sides[0],
        fresh=request.fresh,
        memory_bytes=request.memory_bytes,
    )
    return setting, Trees(before=before, after=after, changed=changed)


def _environment(header: RunHeader, entries: Sequence[Entry], version: str) -> Environment:
    """Where a release was tried."""
    for entry in entries:
        if entry.release == version and entry.crossing is None and entry.environment is not None:
            return entry.environment
    raise UsageError(f"{version} has no environment in the run of {header.case.package}")


def _searched(found: ChangedLines, trees: Trees, experiments: Experiments) -> ChangedLines:
    """Try both ends, then shrink what lies between them."""
    whole = trees.of_files(trees.changed)
    before, after = experiments.shown({}, measured=True), experiments.shown(whole, measured=True)
    assert before is not None
    assert after is not None  # the least budget has room for both
    experiments.known_by = (after if found.kind is Kind.REGRESSION else before).signature
    if experiments.effect_of(before) is not Effect.KEEPS:
        why = f"a copy of {found.last_before} does not show what {found.last_before} shows: {_told(before)}"
        return replace(found, refused=why)
    if experiments.effect_of(after) is not Effect.FLIPS:
        why = (
            f"{found.last_before} with all files of {found.first_after} does not show what {found.first_after} shows: "
            f"{_told(after)}. What flips it lies outside of the files, or they need other companions"
        )
        return replace(found, refused=why)
    experiments.budget -= 1  # for the way back
    executed = _executed(trees, before, after)
    found = replace(found, executed_files=len(executed) if before.imported and after.imported else None)
    candidates: Sequence[str] = trees.changed
    if executed and experiments.effect(trees.of_files(executed)) is Effect.FLIPS:
        candidates = executed
    return _shrunk(found, trees, candidates, experiments)


def _executed(trees: Trees, before: Shown, after: Shown) -> tuple[str, ...]:
    """The changed files that the case imports from either tree."""
    imported = {*before.imported, *after.imported}
    return tuple(name for name in trees.changed if name in imported)


def _shrunk(found: ChangedLines, trees: Trees, files: Sequence[str], experiments: Experiments) -> ChangedLines:
    """Shrink files, then the hunks of those that are left, and try the way back, for which one trial is kept."""
    wanted = needs(trees.before, trees.after, files)
    fewer = minimize(files, lambda some: experiments.effect(trees.of_files(closed(some, wanted))))
    hunks = hunks_of(trees.before, trees.after, closed(fewer.changes, wanted))
    least = minimize(hunks, lambda some: experiments.effect(trees.of_hunks(some))) if fewer.complete else None
    chosen = least.changes if least else hunks
    experiments.budget += 1
    added, removed = counted(chosen, trees.before)
    overlay = trees.of_hunks(chosen)
    return _way_back(
        replace(
            found,
            diff=unified(trees.before, overlay).encode("utf-8", "replace").decode("utf-8"),
            files=tuple(overlay),
            hunks=len(chosen),
            added=added,
            removed=removed,
            minimal=bool(least and least.complete),
            left=_left(fewer, least),
        ),
        trees,
        chosen,
        experiments,
    )


def _left(files: Minimal[str], hunks: Minimal[Hunk] | None) -> str:
    """What was not done when the budget was spent."""
    if hunks is not None and hunks.complete:
        return ""
    left = f"{len(files.changes)} files" if hunks is None else f"{len(hunks.changes)} hunks"
    return f"The budget is spent: {left} were not shrunk further; give a larger --max-trials, nothing is run twice."


def _way_back(found: ChangedLines, trees: Trees, chosen: Sequence[Hunk], experiments: Experiments) -> ChangedLines:
    """Try the tree after without the lines that were found."""
    rest = [hunk for hunk in hunks_of(trees.before, trees.after, trees.changed) if hunk not in chosen]
    effect = experiments.effect(trees.of_hunks(rest))
    shown = experiments.shown(trees.of_hunks(rest))
    assert effect is not None  # a trial was kept for this
    assert shown is not None
    shows, gone = "it shows", "it is gone"
    before, after = (gone, shows) if found.kind is Kind.REGRESSION else (shows, gone)
    match effect:
        case Effect.KEEPS:
            text = before
        case Effect.FLIPS:
            text = f"{after} all the same, so other changes do it too"
        case Effect.UNRESOLVED:
            text = f"unresolved, the rest of the change needs them ({_told(shown)})"
    return replace(found, backward=text, proven=effect is Effect.KEEPS)


def _told(shown: Shown) -> str:
    return f"{shown.outcome.value}: {shown.reason[:200]}" if shown.outcome is not Outcome.GOOD else "good"

"""What an attack is made of, and how it is carried out and judged: the same for every kind."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.adapters.storage import journal
from harness.domain.errors import HarnessError
from tests.faults.attack_judge import ANSWERS, STOPS, Fault, Result, Truth, manners, result_of, stop_faults
from tests.faults.attack_world import RELEASES, UNTESTABLE, IndexFault, Kill, Setting, World

CASE = """\
# /// script
# [tool.harness]
# title = "an attack"
# package = {package!r}
# companions = ["toynumpy<2"]
# timeout_seconds = {timeout}
# ///
import os, sys, time
import {package} as tested
with open({log!r}, "a") as log:
    log.write(tested.__version__ + "\\n")
CODES = {codes!r}
ON = os.path.exists({flag!r}) and tested.__version__ in {hit!r}
time.sleep({pause})
{body}
sys.exit(tested.check(CODES))
"""

Damage = Callable[["Scene"], None]


@dataclass(frozen=True, kw_only=True)
class History:
    """A window of the timeline with the exit code that the case has for each release."""

    package: str
    codes: Mapping[str, int]
    untestable: Collection[str] = ()

    @property
    def verdicts(self) -> dict[str, str]:
        """The true verdict of each release."""
        return {
            version: "skip" if version in self.untestable or code == 125 else "bad" if code else "good"
            for version, code in self.codes.items()
        }

    def turned(self) -> History:
        """What is good is bad, and the other way round."""
        return replace(self, codes={version: 0 if code else 1 for version, code in self.codes.items()})

    @property
    def tested(self) -> list[str]:
        """Releases that can be run."""
        return [version for version in self.codes if version not in self.untestable]


def draw_history(rng: random.Random, *, least: int = 3, most: int = 5) -> History:
    """A random window of the toys with one to three transitions, or none."""
    length = rng.randint(least, most)
    start = rng.randrange(len(RELEASES) - length + 1)
    window = RELEASES[start : start + length]
    bad = rng.random() < 0.2
    codes = {}
    for version in window:
        bad ^= rng.random() < 0.35
        codes[version] = rng.choice([1, 1, 2, 77, 124, 127]) if bad else 125 if rng.random() < 0.04 else 0
    return History(package="toykeras", codes=codes, untestable=[v for v in window if v in UNTESTABLE])


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One attack.

    Attributes:
        what: What is done, for the report.
        history: What is true.
        body: Further lines of the case, run before it checks; `ON` is true on the releases `hit` while the flag is there.
        excused: Releases that may be skip.
        kills: A signal for each of the first runs.
        rivals: Harnesses at the same time on the same question.
        before: Damage before the first run.
        between: Damage before the run without disturbance.
        always_again: The run is resumed though it gave an answer.
        anew: The second run is a new one, not a resumed one.
        budget: Further words of the first run, after which an answer may be incomplete.
        codes: Exit codes with which the disturbed run may stop.
        refusals: Exit codes with which the damaged run may refuse to be resumed.
        again: How often a release may be started beyond what its journal holds, per run; None: not counted.
        damages: The home may be spoiled for later runs: a clean question must get a clean answer.
        secrets: Words that must stand nowhere in the run's folder.
    """

    what: str
    history: History
    body: str = ""
    hit: tuple[str, ...] = ()
    excused: Collection[str] = ()
    setting: Setting = field(default_factory=Setting)
    kills: tuple[Kill, ...] = ()
    rivals: int = 1
    fault: IndexFault | None = None
    before: Damage | None = None
    between: Damage | None = None
    always_again: bool = False
    anew: bool = False
    words: tuple[str, ...] = ()
    budget: tuple[str, ...] = ()
    codes: Collection[int] = frozenset(STOPS)
    refusals: Collection[int] = ()
    again: int | None = 0
    damages: bool = False
    secrets: tuple[str, ...] = ()
    timeout: int = 20
    pause: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Scene:
    """Where an attack takes place."""

    world: World
    folder: Path
    plan: Plan
    rng: random.Random

    @property
    def run(self) -> Path:
        """Folder of the run."""
        return self.folder / "run"

    @property
    def flag(self) -> Path:
        """While this file is there, the case disturbs."""
        return self.folder / "on"

    @property
    def case(self) -> Path:
        """The case."""
        return self.folder / "case.py"

    @property
    def home(self) -> Path:
        """The home that the run uses."""
        return Path(self.plan.setting.env.get("HARNESS_HOME") or self.world.home)

    def text(self) -> str:
        """The case of this attack."""
        plan = self.plan
        return CASE.format(
            package=plan.history.package,
            log=str(self.folder / "log"),
            codes=dict(plan.history.codes),
            flag=str(self.flag),
            hit=plan.hit,
            pause=plan.pause,
            body=plan.body.replace("CASEPATH", repr(str(self.case))),
            timeout=plan.timeout,
        )

    def command(self, *more: str) -> list[str]:
        """A bisection of the whole window."""
        versions = list(self.plan.history.codes)
        return [
            "bisect",
            str(self.case),
            "--from",
            versions[0],
            "--to",
            versions[-1],
            "--json",
            *self.plan.words,
            *more,
        ]

    def starts(self) -> Counter[str]:
        """How often the case was started with each release."""
        log = self.folder / "log"
        return Counter(log.read_text().split()) if log.exists() else Counter()

    def size(self) -> int:
        """Bytes of the run's journal: who was stopped before he wrote to it repeats the command that he gave."""
        path = self.run / journal.NAME
        return path.stat().st_size if path.is_file() else 0

    def began(self, run: Path | None = None) -> bool:
        """Whether there is a run that can be resumed."""
        try:
            journal.read(run or self.run)
        except HarnessError:
            return False
        return True


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What one attack showed."""

    kind: str
    number: int
    what: str
    result: Result
    faults: tuple[Fault, ...]
    seconds: float = 0.0


def carry_out(scene: Scene) -> tuple[Result, list[Fault]]:
    """Disturb a run, undo the disturbance, go on, and judge all of it."""
    plan, world = scene.plan, scene.world
    scene.case.write_text(scene.text(), encoding="utf-8")
    scene.flag.touch()
    if plan.before:
        plan.before(scene)
    world.index.arm(plan.fault)
    faults, answered = _disturbed(scene)
    world.index.arm(None)
    scene.flag.unlink(missing_ok=True)
    scene.case.write_text(scene.text(), encoding="utf-8")
    if plan.between:
        plan.between(scene)
    if not answered or plan.always_again:
        faults += _undisturbed(scene)
    faults += _lost(scene)
    if plan.damages and not faults:
        faults += _clean_question(scene)
    faults += _secrets(scene)
    return result_of(faults, stopped=not answered), faults


def _disturbed(scene: Scene) -> tuple[list[Fault], bool]:
    plan = scene.plan
    truth = Truth(verdicts=plan.history.verdicts, excused=plan.excused)
    faults: list[Fault] = []
    for kill in plan.kills or (None,):
        known = scene.size()
        resumed = ["--resume" if scene.began() else "--output", str(scene.run)]
        commands = [scene.command(*resumed, *plan.budget)]
        commands += [scene.command("--output", str(scene.folder / f"rival-{n}")) for n in range(1, plan.rivals)]
        for ran in scene.world.run_all(commands, scene.folder, _placed(scene), kill):
            faults += manners(ran)
            answered = ran.code in ANSWERS
            if answered:
                faults += truth.faults(ran, partial=bool(plan.budget))
            else:
                faults += stop_faults(ran, journal=scene.began() and scene.size() != known, allowed=plan.codes)
        if answered:
            return faults, not plan.budget
    return faults, False


def _placed(scene: Scene) -> Setting:
    places = {"{home}": str(scene.home), "{run}": str(scene.run), "{saved}": str(scene.folder / "saved")}
    return replace(scene.plan.setting, wrapper=tuple(places.get(word, word) for word in scene.plan.setting.wrapper))


def _undisturbed(scene: Scene) -> list[Fault]:
    """Go on without the disturbance; what was recorded in it and is excused stays excused."""
    plan = scene.plan
    calm = Setting()
    truth = Truth(verdicts=plan.history.verdicts, excused=plan.excused)
    there = scene.began() or (bool(plan.refusals) and (scene.run / journal.NAME).exists())
    if plan.anew or not there:
        ran = scene.world.run(scene.command("--output", str(scene.folder / "anew")), scene.folder, calm)
    else:
        ran = scene.world.run(scene.command("--resume", str(scene.run)), scene.folder, calm)
        if ran.code in plan.refusals and "journal" in ran.err:
            faults = manners(ran)
            ran = scene.world.run(scene.command("--output", str(scene.folder / "anew")), scene.folder, calm)
            return [*faults, *manners(ran), *truth.faults(ran, partial=False)]
    return [*manners(ran), *truth.faults(ran, partial=False)]


def _lost(scene: Scene) -> list[Fault]:
    """Each start of the case must be an entry of a journal, but those that were under way when a run was stopped."""
    if scene.plan.again is None:
        return []
    entries: Counter[str] = Counter()
    for folder in scene.folder.iterdir():
        if (folder / journal.NAME).exists() and scene.began(folder):
            found = Counter(one.release for one in journal.read(folder)[1] if one.finished is not None)
            entries = entries + found if scene.plan.rivals > 1 else entries | found
    starts = scene.starts()
    more = starts - entries
    for version in scene.plan.hit:
        more.pop(version, None)
    if more.total() > scene.plan.again:
        detail = f"started {dict(starts)}, {dict(entries)} in the journal, {scene.plan.again} may be missing"
        return [Fault(result=Result.LOST, detail=detail)]
    return []


def _clean_question(scene: Scene) -> list[Fault]:
    """The opposite case on the same releases: nothing of it is in the cache of trials, all else is."""
    folder = scene.folder / "clean"
    folder.mkdir()
    calm = Scene(
        world=scene.world,
        folder=folder,
        rng=scene.rng,
        plan=Plan(what="clean", history=scene.plan.history.turned(), words=scene.plan.words),
    )
    calm.case.write_text(calm.text(), encoding="utf-8")
    ran = scene.world.run(calm.command("--output", str(calm.run)), folder)
    found = [
        *manners(ran),
        *Truth(verdicts=calm.plan.history.verdicts, excused=_import_skips(scene)).faults(ran, partial=False),
    ]
    return [replace(one, detail=f"in a later clean run: {one.detail}") for one in found]


def _import_skips(scene: Scene) -> Collection[str]:
    return scene.plan.excused if scene.plan.history.package != "toykeras" else ()


def _secrets(scene: Scene) -> list[Fault]:
    for secret in scene.plan.secrets:
        for path in scene.folder.rglob("*"):
            if path.is_file() and secret.encode() in path.read_bytes():
                return [Fault(result=Result.WRONG, detail=f"a password stands in {path.relative_to(scene.folder)}")]
    return []


def tidy(scene: Scene, *, keep: bool) -> None:
    """Remove what an attack left; what went wrong is kept to be looked at."""
    if not keep:
        shutil.rmtree(scene.folder, ignore_errors=True)

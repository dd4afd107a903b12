"""Named histories with the transitions that the search must find.

Each: name, what it is, what a careless tool answers, the releases as letters (see `simulate.LETTERS`), the
expected transitions ("n" NaN, "e" exception, "w" wrong metric; "+" begins, "-" ends; before : after).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from harness.domain.cases.symptoms import Symptom
from harness.domain.search.policy import Policy
from tests.histories.simulate import NAN, RAISES, WRONG

SHORT = {"n": NAN, "e": RAISES, "w": WRONG}


@dataclass(frozen=True)
class History:
    name: str
    what: str
    careless: str
    letters: str
    expected: str
    rate: float = 1.0
    seed: int = 0
    policy: Policy = field(default_factory=Policy)
    accidents: tuple[tuple[int, int], ...] = ()

    @property
    def transitions(self) -> set[tuple[Symptom, int, int, bool]]:
        found = set()
        for text in self.expected.split():
            before, after = text[2:].split(":")
            found.add((SHORT[text[0]], int(before), int(after), text[1] == "+"))
        return found


SPARSE = Policy(max_gap=None)
COARSE = Policy(max_gap=8)
ONLY_NAN = Policy(symptoms=(NAN,))
THRICE = Policy(repeats=3)
H = History

PLAIN = [
    H("all-good", "nothing is wrong", "blames the newest release", "gggggggggg", ""),
    H("all-bad", "wrong in every release", "blames the oldest release", "nnnnnnnnnn", ""),
    H("one-release-good", "a single good release", "divides by zero", "g", ""),
    H("one-release-bad", "a single bad release", "blames it", "n", ""),
    H("two-releases", "the smallest regression", "tests nothing in the middle", "gn", "n+0:1"),
    H("two-releases-cured", "the smallest recovery", "wants good before bad", "ng", "n-0:1"),
    H("regression-middle", "good, then bad", "is right", "gggggnnnnn", "n+4:5"),
    H("regression-second", "bad from the second release", "is off by one", "gnnnnnnnnn", "n+0:1"),
    H("regression-last", "only the newest is bad", "calls it an accident", "gggggggggn", "n+8:9"),
    H("recovery-middle", "bad, then good", "refuses: the old end must be good", "nnnnngggggg", "n-4:5"),
    H("recovery-second", "only the oldest is bad", "refuses", "nggggggggg", "n-0:1"),
    H("recovery-last", "cured in the newest", "refuses", "nnnnnnnnng", "n-8:9"),
    H(
        "keras-20568",
        "3.7.0 to 3.9.2 give NaN",
        "sees equal ends and stops",
        "ggnnnnngggggggggggggggg",
        "n+1:2 n-6:7",
    ),
    H("long-stable", "24 releases, late regression", "is right", "g" * 20 + "nnnn", "n+19:20"),
    H("wrong-metric", "finite and wrong", "looks for NaN only", "ggggwwwww", "w+3:4"),
    H("always-raises", "raises in every release", "reports a regression", "eeeeee", ""),
]

NON_MONOTONIC = [
    H("island", "bad for a while", "sees equal ends and stops", "gggnnnnggg", "n+2:3 n-6:7"),
    H("island-of-one", "one bad release", "sees equal ends and stops", "gggggngggg", "n+4:5 n-5:6"),
    H("island-second", "one bad release beside the end", "stops", "gngggggggg", "n+0:1 n-1:2"),
    H("island-before-last", "one bad release beside the end", "stops", "ggggggggng", "n+7:8 n-8:9"),
    H("gap-of-one", "one good release in a bad range", "stops", "nnnnngnnnn", "n-4:5 n+5:6"),
    H("good-bad-good-bad", "cured, then back", "finds one of three", "ggnnnggnnnn", "n+1:2 n-4:5 n+6:7"),
    H("bad-good-bad", "cured for a while", "stops", "nnnggggnnnn", "n-2:3 n+6:7"),
    H("two-islands", "two islands", "stops", "ggnngggnngg", "n+1:2 n-3:4 n+6:7 n-8:9"),
    H("two-islands-of-one", "two islands of one", "stops", "gggngggggnggg", "n+2:3 n-3:4 n+8:9 n-9:10"),
    H(
        "alternating",
        "changes at every release",
        "finds one of five",
        "gngngn",
        "n+0:1 n-1:2 n+2:3 n-3:4 n+4:5",
    ),
    H("three-wide", "good, bad, good", "stops", "gng", "n+0:1 n-1:2"),
    H(
        "island-and-transition",
        "an island, then a regression",
        "finds the later",
        "ggnggggnnn",
        "n+1:2 n-2:3 n+6:7",
    ),
    H("transition-and-gap", "a regression, then a gap of one", "finds either", "ggnnngnnnn", "n+1:2 n-4:5 n+5:6"),
    H("long-island-of-one", "one bad of 40", "stops", "g" * 23 + "n" + "g" * 16, "n+22:23 n-23:24"),
]

SYMPTOMS = [
    H("two-symptoms-touch", "raises, then NaN", "takes both for one", "ggeennggg", "e+1:2 e-3:4 n+1:4 n-5:6"),
    H("nan-then-raises", "NaN, then raises", "one range", "ggnneeggg", "n+1:2 n-3:6 e+3:4 e-5:6"),
    H("dropout-3.7.0", "one raises, then NaN", "one range", "ggennnnggg", "e+1:2 e-2:3 n+1:3 n-6:7"),
    H(
        "hidden-inside",
        "an exception hides NaN in its range",
        "sees two NaN ranges",
        "ggnneennggg",
        "n+1:2 n-7:8 e+3:4 e-5:6",
    ),
    H("hidden-in-good", "an exception in good releases", "blames it for NaN", "ggggeeggg", "e+3:4 e-5:6"),
    H("hidden-end", "the newest raises", "calls NaN cured", "ggnnnneee", "n+1:2 e+5:6"),
    H("hidden-start", "the oldest raise", "calls NaN new", "eeennnn", "e-2:3"),
    H(
        "wrong-becomes-nan",
        "wrong, then NaN, then good",
        "takes wrong for cured",
        "ggwwnnnggg",
        "w+1:2 w-3:7 n+3:4 n-6:7",
    ),
    H("nan-becomes-wrong", "NaN, then wrong", "calls it cured", "ggnnnwwggg", "n+1:2 n-4:5 w+1:5 w-6:7"),
    H("wrong-both-sides", "wrong around NaN", "sees two wrong ranges", "ggwnnwgg", "w+1:2 w-5:6 n+2:3 n-4:5"),
    H(
        "asked-one",
        "only NaN was asked",
        "answers about the exception",
        "ggeegnnnn",
        "n+4:5",
        policy=ONLY_NAN,
    ),
    H(
        "asked-hidden",
        "only NaN was asked, hidden at the transition",
        "is exact",
        "ggggeennn",
        "n+3:6",
        policy=ONLY_NAN,
    ),
    H(
        "asked-never",
        "NaN was asked, others happen",
        "blames the exception",
        "gggeeewww",
        "",
        policy=ONLY_NAN,
    ),
    H("all-hidden", "NaN was asked, everything raises", "says good", "eeeeee", "", policy=ONLY_NAN),
    H(
        "symptoms-apart",
        "two ranges of two symptoms",
        "finds one",
        "gnnggggwwgg",
        "n+0:1 n-2:3 w+0:7 w-8:9".replace("w+0:7", "w+6:7"),
    ),
    H("turns-into-another", "one range, two exceptions", "one cause", "ggpppqqqgg", "e+1:2 e-7:8"),
]

UNTESTABLE = [
    H("blocked-middle", "the middle cannot be installed", "gives up", "ggggxnnnn", "n+3:5"),
    H(
        "blocked-beside-transition",
        "30 broken releases beside a transition",
        "blames the first testable",
        "ggggg" + "x" * 30 + "nnnnn",
        "n+4:35",
    ),
    H("blocked-before-transition", "broken, then good, then bad", "is right", "gg" + "x" * 12 + "ggnnn", "n+15:16"),
    H("blocked-after-transition", "good, bad, then broken", "is right", "gggnn" + "x" * 12 + "nn", "n+2:3"),
    H("blocked-start", "the oldest are broken", "gives up", "xxxxggggnnnn", "n+7:8"),
    H("blocked-end", "the newest are broken", "gives up", "ggggnnnnxxxx", "n+3:4"),
    H("blocked-both", "both ends are broken", "gives up", "xxxggnnxxx", "n+4:5"),
    H("blocked-start-bad", "broken, then bad", "blames the first testable", "xxxxxnnnnn", ""),
    H("blocked-end-good", "good, then broken", "calls the broken bad", "gggggxxxxx", ""),
    H("blocked-all", "nothing can be tested", "runs for ever", "xxxxxxxxxx", ""),
    H("blocked-all-but-one", "one can be tested", "blames it", "xxxxnxxxxx", ""),
    H("blocked-checkered", "every other one is broken", "exact", "gxgxgxnxnxn", "n+4:6"),
    H("blocked-island", "an island between broken ones", "stops", "gggxxnxxggg", "n+2:5 n-5:8"),
    H("skipped-runs", "runs that say skip", "takes them for good", "ggggssnnn", "n+3:6"),
    H("skipped-all", "every run says skip", "says good", "ssssss", ""),
    H("blocked-and-hidden", "broken and hidden beside a transition", "exact", "gggxeexnnn", "n+2:7 e+2:4 e-5:7"),
    H("blocked-two-stretches", "two broken stretches and two transitions", "exact", "ggxxnnnnxxgg", "n+1:4 n-7:10"),
    H(
        "sparse-blocked-start",
        "300 broken nightlies first",
        "walks one by one",
        "x" * 300 + "g" * 100 + "n" * 100,
        "n+399:400",
        policy=SPARSE,
    ),
]

LONG = [
    H("nightlies", "500 nightlies", "runs all", "g" * 333 + "n" * 167, "n+332:333", policy=SPARSE),
    H(
        "nightlies-early",
        "500 nightlies, early transition",
        "runs all",
        "g" * 3 + "n" * 497,
        "n+2:3",
        policy=SPARSE,
    ),
    H(
        "nightlies-recovery",
        "500 nightlies, cured",
        "refuses",
        "n" * 250 + "g" * 250,
        "n-249:250",
        policy=SPARSE,
    ),
    H(
        "nightlies-broken-week",
        "a broken week at the transition",
        "exact",
        "g" * 100 + "x" * 7 + "n" * 93,
        "n+99:107",
        policy=SPARSE,
    ),
    H(
        "nightlies-island",
        "an island of 20 nightlies",
        "stops",
        "g" * 90 + "n" * 20 + "g" * 90,
        "n+89:90 n-109:110",
        policy=COARSE,
    ),
]

FLAKY = [
    H("flake-30", "fails at 30 % everywhere", "finds many transitions", "N" * 24, "", 0.3, 1),
    H("flake-50", "fails at 50 % everywhere", "finds many transitions", "N" * 24, "", 0.5, 2),
    H("flake-70", "fails at 70 % everywhere", "finds many transitions", "N" * 24, "", 0.7, 3),
    H(
        "flake-begins-90",
        "90 % from the middle on",
        "one pass: off by one",
        "g" * 10 + "N" * 10,
        "n+9:10",
        0.9,
        4,
    ),
    H("flake-begins-70", "70 % from the middle on", "off by some", "g" * 10 + "N" * 10, "n+9:10", 0.7, 5),
    H("flake-begins-50", "50 % from the middle on", "off by some", "g" * 10 + "N" * 10, "n+9:10", 0.5, 6),
    H("flake-begins-30", "30 % from the middle on", "off by many", "g" * 10 + "N" * 10, "n+9:10", 0.3, 7),
    H("flake-ends-50", "50 % until the middle", "off by some", "N" * 10 + "g" * 10, "n-9:10", 0.5, 8),
    H("flake-island", "50 % for a while", "stops", "g" * 8 + "N" * 8 + "g" * 8, "n+7:8 n-15:16", 0.5, 9),
    H("flake-blocked", "70 % behind broken ones", "exact", "g" * 8 + "xxx" + "N" * 8, "n+7:11", 0.7, 10),
    H(
        "flake-thrice",
        "50 %, three runs each",
        "majority is off by some",
        "g" * 8 + "N" * 8,
        "n+7:8",
        0.5,
        11,
        THRICE,
    ),
    H(
        "flake-beside-steady",
        "always, later at 30 %",
        "calls the rest cured",
        "ggggnnnnNNNNNNNN",
        "n+3:4",
        0.3,
        12,
    ),
    H(
        "flake-nightlies",
        "70 %, 200 nightlies",
        "off by many",
        "g" * 120 + "N" * 80,
        "n+119:120",
        0.7,
        13,
        SPARSE,
    ),
    H("accident", "one failure of a good release", "two transitions", "gggggggggg", "", accidents=((4, 0),)),
    H("accident-last", "one failure of the newest", "a transition", "gggggggggg", "", accidents=((9, 0),)),
    H(
        "accident-and-transition",
        "one failure and a regression",
        "three transitions",
        "gggggggnnnn",
        "n+6:7",
        accidents=((3, 0),),
    ),
    H(
        "accident-beside-transition",
        "one failure beside the transition",
        "off by one",
        "gggggnnnnn",
        "n+4:5",
        accidents=((4, 0),),
    ),
    H(
        "accident-confirming",
        "a failure when confirming",
        "off by one",
        "gggggnnnnn",
        "n+4:5",
        accidents=((4, 1),),
    ),
]

HISTORIES = [*PLAIN, *NON_MONOTONIC, *SYMPTOMS, *UNTESTABLE, *LONG, *FLAKY]

"""A grid of two toy packages over a real index: the border, cells that cannot be installed, and going on after a stop."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.local_index import LocalIndex
from tests.toy_runs import Harness
from tests.toys import Toy

RELEASES = [f"1.{n}" for n in range(8)]
OTHERS = ["1.0", "2.0", "3.0"]
CASE = """\
# /// script
# [tool.harness]
# title = "the sum of two versions is too large"
# package = "toygrid"
# timeout_seconds = 60
# ///
import os, sys
import toyaxis
import toygrid
row, column = int(toygrid.__version__[2:]), int(toyaxis.__version__[0])
with open({log!r}, "a") as log:
    log.write(f"{{toygrid.__version__}}/{{toyaxis.__version__}}\\n")
if os.path.exists({stop!r}) and column == 2:
    sys.exit(130)
sys.exit(row + column >= 6)
"""


@dataclass(frozen=True, kw_only=True)
class World:
    """A case that is bad where row and column add up to six, and notes where it ran."""

    harness: Harness
    folder: Path
    case: Path
    log: Path
    stop: Path

    def words(self, *more: str | Path) -> list[str | Path]:
        ranges = ("--from", "1.0", "--to", "1.7", "--also", "toyaxis", "--also-from", "1.0", "--also-to", "3.0")
        return ["grid", self.case, *ranges, "--jobs", "1", *more]

    def ran(self) -> Counter[str]:
        return Counter(self.log.read_text().split())


@pytest.fixture
def world(index: LocalIndex, tmp_path: Path, harness_run: Harness) -> World:
    """toygrid 1.4 does not take toyaxis 2.0."""
    fussy = ("toyaxis!=2.0",)
    index.publish([Toy(name="toygrid", version=v, requires=fussy if v == "1.4" else ()) for v in RELEASES])
    index.publish([Toy(name="toyaxis", version=v) for v in OTHERS])
    made = World(
        harness=harness_run,
        folder=tmp_path / "grid",
        case=tmp_path / "sum.py",
        log=tmp_path / "ran.log",
        stop=tmp_path / "stop",
    )
    made.case.write_text(CASE.format(log=str(made.log), stop=str(made.stop)), encoding="utf-8")
    return made


def test_the_border_is_found_with_few_cells_and_a_stopped_search_goes_on(world: World):
    world.stop.touch()
    stopped = world.harness(*world.words("--output", world.folder))
    assert stopped.code == 6
    assert f"--resume {world.folder}" in stopped.err
    kept = {cell for cell in world.ran() if cell.endswith("/1.0")}
    assert kept

    world.stop.unlink()
    found = world.harness(*world.words("--resume", world.folder, "--json", "--fresh"))
    assert found.code == 0, found.err
    report = json.loads(found.out)
    assert all(world.ran()[cell] == 1 for cell in kept)  # nothing finished runs again
    for place, column in enumerate(report["columns"]):
        sides = [cell["side"] for cell in column]
        right = ["bad" if row + place + 1 >= 6 else "good" for row in range(8)]
        assert all(side in (None, truth) for side, truth in zip(sides, right, strict=True))
        assert [row for row, side in enumerate(sides) if side is None] == ([4] if place == 1 else [])
    assert [(b["also"], b["last_before"], b["first_after"], b["untested"]) for b in report["borders"]] == [
        ("1.0", "1.4", "1.5", []),
        ("2.0", "1.3", "1.5", ["1.4"]),
        ("3.0", "1.2", "1.3", []),
    ]
    assert "toyaxis" in report["columns"][1][4]["reason"]
    assert report["run"] == sum(cell["outcome"] is not None for column in report["columns"] for cell in column) <= 14
    assert json.loads((world.folder / "grid.json").read_text()) == report
    assert "(good)" in (world.folder / "grid.md").read_text()


def test_a_version_beside_which_nothing_can_be_installed_is_skip_from_end_to_end(world: World, index: LocalIndex):
    index.publish([Toy(name="toyaxis", version="2.5", requires=("toynowhere==1",))])
    words = list(world.words("--json", "--output", world.folder))
    words[words.index("--also-from") + 1] = "2.5"
    words[words.index("--to") + 1] = "1.3"
    found = world.harness(*words)
    column = json.loads(found.out)["columns"][0]
    assert {cell["outcome"] for cell in column if cell["outcome"]} == {"skip"}
    assert any("toynowhere" in cell["reason"] or "2.5" in cell["reason"] for cell in column)
    assert found.code == 0
    assert found.out.count('"becomes"') == 1


def test_a_case_that_compares_with_another_release_is_refused(world: World):
    refused = world.harness(*world.words("--value", "sum ([0-9]+)"))
    assert refused.code == 2
    assert "compares with another release" in refused.err


@pytest.mark.parametrize(("more", "why"), [(["--with", "toyaxis==1.0"], "is an axis and pinned")])
def test_the_other_axis_is_not_pinned_as_well(world: World, more: list[str], why: str):
    refused = world.harness(*world.words(*more))
    assert refused.code == 2
    assert why in refused.err

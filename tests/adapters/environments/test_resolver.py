"""Real uv against the local index."""

from __future__ import annotations

import pytest
import tenacity

from harness.adapters.environments.failures import Transient
from harness.adapters.environments.interpreters import base_executable
from harness.adapters.environments.resolver import Resolver, Unsatisfiable, read_lock, uv_program
from harness.adapters.processes.process import Processes
from harness.adapters.storage.home import Home
from harness.domain.errors import InfrastructureError
from harness.domain.releases.companions import name_of, pin_of
from tests.local_index import LocalIndex, fails_with, stalls

PYTHON = base_executable()


@pytest.fixture
def resolver(home: Home, processes: Processes, index: LocalIndex) -> Resolver:
    return Resolver(processes, home, uv_program())


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tenacity, "sleep_using_event", lambda event: lambda seconds: None)


def pins(lock: tuple[str, ...]) -> list[str]:
    return [pin_of(line) for line in lock]


def test_a_lock_pins_everything_with_hashes(resolver: Resolver) -> None:
    lock = resolver.lock(["toykeras==1.8"], python=PYTHON)
    assert pins(lock) == ["toykeras==1.8", "toynumpy==2.0"]
    assert all("--hash=sha256:" in line for line in lock)


def test_constraints_hold_and_overrides_replace(resolver: Resolver) -> None:
    assert pins(resolver.lock(["toynumpy"], python=PYTHON, constraints=["toynumpy<2"])) == ["toynumpy==1.0"]
    kept_out = resolver.lock(["toykeras==1.8"], python=PYTHON, overrides=['toynumpy ; sys_platform == "never"'])
    assert pins(kept_out) == ["toykeras==1.8"]
    assert pins(resolver.lock(["toykeras==1.8"], python=PYTHON, without_dependencies=True)) == ["toykeras==1.8"]


def test_what_is_preferred_is_kept_where_it_fits_and_only_there(resolver: Resolver) -> None:
    preferred = [f"toynumpy==1.0 --hash=sha256:{'0' * 64}"]
    assert pins(resolver.lock(["toynumpy"], python=PYTHON, preferred=preferred)) == ["toynumpy==1.0"]
    assert pins(resolver.lock(["toynumpy>=2"], python=PYTHON, preferred=preferred)) == ["toynumpy==2.0"]


def test_with_new_pages_a_conflict_is_known_without_the_index_and_a_gap_in_the_cache_is_none(
    resolver: Resolver, index: LocalIndex
) -> None:
    assert pins(resolver.lock(["toynumpy<2"], python=PYTHON, pages_are_new=True)) == ["toynumpy==1.0"]
    index.asked.clear()
    with pytest.raises(Unsatisfiable, match="toynumpy"):
        resolver.lock(["toynumpy<2", "toynumpy>=2"], python=PYTHON, pages_are_new=True)
    assert index.asked == []


def test_a_limit_of_time_hides_what_came_later(resolver: Resolver) -> None:
    assert pins(resolver.lock(["toynumpy"], python=PYTHON, exclude_newer="2023-02-01T00:00:00Z")) == ["toynumpy==1.0"]


def test_what_does_not_fit_is_explained_by_uv(resolver: Resolver) -> None:
    with pytest.raises(Unsatisfiable) as failure:
        resolver.lock(["toykeras==1.8", "toynumpy<2"], python=PYTHON)
    assert failure.value.what.startswith("Because toykeras==1.8 depends on toynumpy>=2")


def test_a_warm_cache_needs_no_index(resolver: Resolver, index: LocalIndex) -> None:
    first = resolver.lock(["toykeras==1.0"], python=PYTHON)
    index.asked.clear()
    assert resolver.lock(["toykeras==1.0"], python=PYTHON, prefer_offline=True) == first
    assert index.asked == []


@pytest.mark.usefixtures("at_once")
def test_an_index_that_fails_is_asked_again_and_is_never_a_conflict(resolver: Resolver, index: LocalIndex) -> None:
    notes: list[str] = []
    for fault in (fails_with(503), stalls(index)):
        index.faults["/simple/toykeras/"] = fault
        notes.clear()
        with pytest.raises(Transient):
            resolver.lock(["toykeras==1.0"], python=PYTHON, notify=notes.append)
        assert len(notes) == 2


def test_an_interpreter_that_is_gone(resolver: Resolver) -> None:
    with pytest.raises((Unsatisfiable, InfrastructureError)):
        resolver.lock(["toykeras==1.0"], python="/nosuch/python")


def test_read_lock_joins_lines_and_drops_the_rest() -> None:
    text = "# by uv\n--index-url x\na==1 \\\n    --hash=sha256:1 \\\n    --hash=sha256:2\n\nB_c==2 ; python_version > '3'\n"
    lock = read_lock(text)
    assert pins(lock) == ["a==1", "B_c==2 ; python_version > '3'"]
    assert [name_of(line) for line in lock] == ["a", "b-c"]

"""Random small indexes, and what resolves with them by trying everything: the oracle for resolution."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from hypothesis import strategies as st

from harness.adapters.environments.resolver import Unsatisfiable
from tests.toys import Toy

COMPANIONS = ("a", "b", "c")
LEAST_VERSIONS = (1, 2, 3)

Needs = Mapping[str, tuple[int, int]]
"""By companion the lowest and the highest version that is taken."""
Chosen = Mapping[str, int]
"""A version of each companion."""


@dataclass(frozen=True, kw_only=True)
class SmallIndex:
    """Three companions of three versions each, and a package under test that needs some of them.

    Attributes:
        releases: What each release needs, the oldest first.
        companions: What each version of a companion needs of those behind it.
        named: What the question names, with what it takes.
    """

    releases: tuple[Needs, ...]
    companions: Mapping[tuple[str, int], Needs]
    named: Needs = field(default_factory=dict)

    def solutions(self, place: int) -> Iterator[Chosen]:
        """Every set that resolves with a release, without what it does not need; the newest first."""
        seen: list[Chosen] = []
        for versions in product(reversed(LEAST_VERSIONS), repeat=len(COMPANIONS)):
            chosen = self._closure(place, dict(zip(COMPANIONS, versions, strict=True)))
            if chosen is not None and chosen not in seen:
                seen.append(chosen)
                yield chosen

    def _closure(self, place: int, versions: Chosen) -> Chosen | None:
        needs = [*self.releases[place].items(), *self.named.items()]
        found: dict[str, int] = {}
        while needs:
            name, (low, high) = needs.pop()
            if not low <= versions[name] <= high:
                return None
            if name not in found:
                found[name] = versions[name]
                needs += self.companions.get((name, versions[name]), {}).items()
        return found

    def toys(self, prefix: str) -> Iterator[Toy]:
        """The index as wheels; every name begins with `prefix`."""
        for place, needs in enumerate(self.releases):
            yield Toy(name=prefix, version=f"{place + 1}.0", requires=_requirements(prefix, needs))
        for name, version in product(COMPANIONS, LEAST_VERSIONS):
            needs = self.companions.get((name, version), {})
            yield Toy(name=f"{prefix}-{name}", version=f"{version}.0", requires=_requirements(prefix, needs))

    def requirements(self, prefix: str) -> tuple[str, ...]:
        """What the question names."""
        return _requirements(prefix, self.named)


def _requirements(prefix: str, needs: Needs) -> tuple[str, ...]:
    return tuple(f"{prefix}-{name}>={low},<={high}" for name, (low, high) in needs.items())


def holding(chosen: Chosen, pins: Chosen) -> bool:
    """Whether a set has its companions where the pins hold them."""
    return all(version == pins.get(name, version) for name, version in chosen.items())


def resolve(index: SmallIndex, place: int, pins: Chosen, liked: Chosen) -> Chosen:
    """As an installer resolves: the preferred version of one companion after the other, else the newest."""
    found = [chosen for chosen in index.solutions(place) if holding(chosen, pins)]
    if not found:
        raise Unsatisfiable(f"release {place} with {dict(pins)}")
    return min(found, key=lambda chosen: [liked.get(n, v) != v for n, v in sorted(chosen.items())])


def needless(index: SmallIndex, place: int, chosen: Chosen, reference: Chosen) -> list[str]:
    """Companions that moved although all else, and they themselves, could have stayed."""
    moved = {name for name, version in chosen.items() if reference.get(name, version) != version}
    pins = {name: version for name, version in reference.items() if name not in moved}
    return [
        name
        for name in sorted(moved)
        if any(holding(one, {**pins, name: reference[name]}) for one in index.solutions(place))
    ]


_ranges = st.tuples(st.sampled_from(LEAST_VERSIONS), st.sampled_from(LEAST_VERSIONS)).map(
    lambda ends: (min(ends), max(ends))
)


def _needs(names: Sequence[str]) -> st.SearchStrategy[Needs]:
    return st.dictionaries(st.sampled_from(names), _ranges, max_size=len(names))


def small_indexes() -> st.SearchStrategy[SmallIndex]:
    """Timelines of two to five releases."""
    companions = st.fixed_dictionaries(
        {
            (name, version): _needs(COMPANIONS[n + 1 :])
            for n, name in enumerate(COMPANIONS[:-1])
            for version in LEAST_VERSIONS
        }
    )
    return st.builds(
        SmallIndex,
        releases=st.lists(_needs(COMPANIONS), min_size=2, max_size=5).map(tuple),
        companions=companions,
        named=_needs(COMPANIONS),
    )

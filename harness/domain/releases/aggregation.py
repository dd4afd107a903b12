"""What the source of a release says about aggregation and synchronization; parsed, never imported."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

CORE_FILE = "keras/src/backend/tensorflow/core.py"
METRIC_FILE = "keras/src/metrics/metric.py"
VARIABLE_FILE = "keras/src/backend/common/variables.py"
FILES = (CORE_FILE, METRIC_FILE, VARIABLE_FILE)
_WORDS = ("aggregation", "synchronization")


@dataclass(frozen=True, kw_only=True)
class SourceFacts:
    """What one release's source says.

    Attributes:
        version: The release.
        aggregation: ``_map_aggregation``: Keras' word to a ``tf.VariableAggregation``; None: no such function.
        synchronization: ``_map_synchronization``, likewise.
        passed: Keyword arguments about distribution that reach ``tf.Variable``.
        metric: What the variables of a metric ask for, by keyword.
        default: What a variable has that asks for nothing.
        problem: Why the source could not be read.
    """

    version: str
    aggregation: Mapping[str, str] | None = None
    synchronization: Mapping[str, str] | None = None
    passed: tuple[str, ...] = ()
    metric: Mapping[str, str] = field(default_factory=dict)
    default: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""

    @property
    def expected_aggregation(self) -> str:
        """What a live metric variable should have, by the source alone."""
        if "aggregation" not in self.passed or self.aggregation is None:
            return "NONE"
        return self.aggregation.get(self.metric.get("aggregation", "none"), "NONE")

    @property
    def expected_synchronization(self) -> str:
        """What a live metric variable should have under MirroredStrategy, where AUTO means ON_WRITE."""
        if "synchronization" not in self.passed or self.synchronization is None:
            return "ON_WRITE"
        wanted = self.synchronization.get(self.metric.get("synchronization", "auto"), "AUTO")
        return "ON_WRITE" if wanted == "AUTO" else wanted


def read_source(version: str, files: Mapping[str, str]) -> SourceFacts:
    """Read the facts of one release from its two source files (path in the wheel to text)."""
    if CORE_FILE not in files:
        return SourceFacts(version=version, problem=f"the wheel has no {CORE_FILE}")
    try:
        core, metric, variable = (ast.parse(files.get(name, "")) for name in FILES)
    except (SyntaxError, ValueError, RecursionError) as error:
        return SourceFacts(version=version, problem=f"not Python: {error}")
    constants = [_constants(call) for call in _calls(metric, "backend.Variable")]
    return SourceFacts(
        version=version,
        aggregation=_mapping(core, "_map_aggregation"),
        synchronization=_mapping(core, "_map_synchronization"),
        passed=tuple(word for word in _WORDS if any(word in _keywords(c) for c in _calls(core, "tf.Variable"))),
        metric=_chosen({**_defaults(metric, "add_variable"), **{k: v for one in constants for k, v in one.items()}}),
        default=_chosen(_defaults(variable, "__init__")),
    )


def _chosen(words: Mapping[str, str]) -> dict[str, str]:
    return {word: words[word] for word in _WORDS if word in words}


def _defaults(tree: ast.AST, function: str) -> dict[str, str]:
    """Default values, as far as they are plain strings, of every function of that name."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            given = node.args
            named = (
                *zip(reversed([*given.posonlyargs, *given.args]), reversed(given.defaults), strict=False),
                *zip(given.kwonlyargs, given.kw_defaults, strict=True),
            )
            found |= {
                argument.arg: value.value
                for argument, value in named
                if isinstance(value, ast.Constant) and isinstance(value.value, str)
            }
    return found


def _mapping(tree: ast.AST, function: str) -> dict[str, str] | None:
    """The dictionary inside a function, its values by their last name; None when there is no such function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.name == function:
            tables = [inner for inner in ast.walk(node) if isinstance(inner, ast.Dict)]
            return {
                key.value: value.attr
                for table in tables
                for key, value in zip(table.keys, table.values, strict=True)
                if isinstance(key, ast.Constant) and isinstance(key.value, str) and isinstance(value, ast.Attribute)
            }
    return None


def _calls(tree: ast.AST, name: str) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) == name)


def _keywords(call: ast.Call) -> set[str]:
    return {keyword.arg for keyword in call.keywords if keyword.arg}


def _constants(call: ast.Call) -> dict[str, str]:
    """Keyword arguments that are plain strings."""
    return {
        keyword.arg: keyword.value.value
        for keyword in call.keywords
        if keyword.arg and isinstance(keyword.value, ast.Constant) and isinstance(keyword.value.value, str)
    }


@dataclass(frozen=True, kw_only=True)
class ReleaseFacts:
    """One release: its source, and if asked for its live variables by role (aggregation/synchronization)."""

    source: SourceFacts
    released: str | None = None
    live: Mapping[str, Sequence[str]] | None = None
    disagreement: str = ""


def disagreement(source: SourceFacts, live: Mapping[str, Sequence[str]]) -> str:
    """Say where source and live disagree on the variables of metrics; "" where they agree."""
    if source.problem or not live.get("metric"):
        return ""
    expected = f"{source.expected_aggregation}/{source.expected_synchronization}"
    others = [kind for kind in live["metric"] if kind != expected]
    return f"metric variables: the source says {expected}, live they are {', '.join(others)}" if others else ""


def milestones(releases: Sequence[ReleaseFacts]) -> list[str]:
    """Where the two mappings appear or change along the releases."""
    sources = [facts.source for facts in releases if not facts.source.problem]
    aggregation = _changes("_map_aggregation", ((s.version, s.aggregation) for s in sources))
    return [*aggregation, *_changes("synchronization", ((s.version, s.synchronization) for s in sources))]


def _changes(name: str, mappings: Iterable[tuple[str, Mapping[str, str] | None]]) -> Iterator[str]:
    for (before, was), (after, now) in pairwise(mappings):
        if was != now:
            verb = "appears" if was is None else "disappears" if now is None else "changes"
            yield f"{name} {verb} in {after} (not yet so in {before})."

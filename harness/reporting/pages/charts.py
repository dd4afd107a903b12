"""Charts as static SVG, drawn by pygal; the colours are the page's: one drawing for light, dark and print."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pygal

from harness.reporting.text import clean, number

WIDTH, HEIGHT = 920, 260
MOST_PLACES = 120
"""Of one chart; a longer timeline is thinned out around what must be seen."""
LARGEST, SMALLEST = 1e30, 1e-30
"""What is larger stands on the line of what is not finite, what is smaller on zero: no axis can show both."""
TOP = 1.2
"""Height of the line of what is not finite; what is finite stands between 0 and 1."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a chart.

    Attributes:
        name: What it shows.
        values: One value for each label, or points where the chart has no labels; None: not measured.
    """

    name: str
    values: Sequence[float | None]


@dataclass(frozen=True, kw_only=True)
class Chart:
    """A drawing and the same in words.

    Attributes:
        title: What it shows.
        svg: The drawing.
        lines: Names of the lines, in the order in which the page styles them.
        nonfinite: Some value is not finite and stands on its own line at the top.
        rows: Label and values as text: the table behind the drawing.
    """

    title: str
    svg: str
    lines: tuple[str, ...]
    nonfinite: bool
    rows: tuple[tuple[str, ...], ...]


def by_label(title: str, labels: Sequence[str], lines: Sequence[Line]) -> Chart | None:
    """A value for each label, for example for each release; None where nothing was measured."""
    if not any(value is not None for line in lines for value in line.values):
        return None
    title, labels = clean(title, 120), [clean(label, 40) for label in labels]
    lines = [Line(name=clean(line.name, 80), values=line.values) for line in lines]
    scale = _scale([value for line in lines for value in line.values])
    chart = _new(pygal.Line, scale, allow_interruptions=True, x_label_rotation=60 if len(labels) > 8 else 0)
    chart.x_labels = list(labels)
    chart.x_labels_major_every = max(1, -(-len(labels) // 40))
    chart.show_minor_x_labels = len(labels) <= 40
    for line in lines:
        chart.add(line.name, [_dot(scale, *one, broken=False) for one in zip(labels, line.values, strict=True)])
    for line in lines:
        marks = [_dot(scale, *one, broken=True) for one in zip(labels, line.values, strict=True)]
        chart.add(f"{line.name}, not finite", marks, stroke=False, dots_size=6)
    rows = tuple((label, *(_said(line.values[n]) for line in lines)) for n, label in enumerate(labels))
    return _chart(title, chart, [line.name for line in lines], scale, rows)


def by_step(title: str, curves: Mapping[str, Sequence[tuple[int, float]]]) -> Chart | None:
    """A value after each training step; the first that is not finite is marked, and nothing is drawn behind it."""
    if not any(curves.values()):
        return None
    title, curves = clean(title, 120), {clean(name, 80): points for name, points in curves.items()}
    scale = _scale([value for points in curves.values() for _, value in points])
    chart = _new(pygal.XY, scale, show_dots=False, height=220, width=WIDTH // 2)
    last = max(step for points in curves.values() for step, _ in points)
    chart.x_labels = sorted({1 + (last - 1) * n // 4 for n in range(5)})
    broken = {
        name: next((step for step, value in points if not _drawable(value)), None) for name, points in curves.items()
    }
    for name, points in curves.items():
        end = broken[name]
        chart.add(name, [(step, scale.height(value)) for step, value in points if end is None or step < end])
    for name, step in broken.items():
        label = f"{name}: first not finite at step {step}"
        marks = [{"value": (step, TOP), "label": label}] if step is not None else []
        chart.add(label, marks, stroke=False, dots_size=6, show_dots=True)
    rows = tuple((name, _curve_in_words(points)) for name, points in curves.items())
    return _chart(title, chart, list(curves), scale, rows)


def thinned(count: int, kept: Sequence[int]) -> list[int]:
    """Places to draw of `count`: all, or evenly chosen ones with those that must be seen and their neighbours."""
    if count <= MOST_PLACES:
        return list(range(count))
    near = {place + step for place in kept for step in (-1, 0, 1)}
    even = set(range(0, count, -(-count // (MOST_PLACES // 2))))
    return sorted(n for n in near | even | {count - 1} if 0 <= n < count)


def _curve_in_words(points: Sequence[tuple[int, float]]) -> str:
    if not points:
        return "not recorded"
    broken = next(((step, value) for step, value in points if not math.isfinite(value)), None)
    (first, begin), (last, end) = points[0], points[-1]
    said = f"{_said(begin)} at step {first}, {_said(end)} at step {last}"
    return f"{said}; first not finite at step {broken[0]}" if broken else said


def _chart(title: str, chart: Any, lines: Sequence[str], scale: _Scale, rows: tuple[tuple[str, ...], ...]) -> Chart:
    return Chart(title=title, svg=_drawn(chart, title), lines=tuple(lines), nonfinite=scale.broken, rows=rows)


@dataclass(frozen=True, kw_only=True)
class _Scale:
    """Maps values to heights from 0 to 1: pygal's own scale does not end where two numbers are very near."""

    low: float
    high: float
    broken: bool

    def height(self, value: float) -> float:
        near = value if abs(value) >= SMALLEST else 0.0
        return round((near - self.low) / (self.high - self.low), 5)

    @property
    def ticks(self) -> list[Mapping[str, object]]:
        steps = [n / 4 for n in range(5)]
        named = [{"label": f"{self.low + (self.high - self.low) * step:.4g}", "value": step} for step in steps]
        return [*named, *([{"label": "not finite", "value": TOP}] if self.broken else [])]


def _scale(values: Sequence[float | None]) -> _Scale:
    measured = [value for value in values if value is not None]
    finite = [value if abs(value) >= SMALLEST else 0.0 for value in measured if _drawable(value)]
    low, high = min(finite, default=0.0), max(finite, default=1.0)
    low = 0.0 if 0 < low < high / 2 else low
    if high - low <= abs(high) * 1e-9:
        low, high = low - abs(low or 1) / 2, high + abs(high or 1) / 2
    return _Scale(low=low, high=high, broken=not all(map(_drawable, measured)))


def _new(kind: type[Any], scale: _Scale, **settings: object) -> Any:
    """A chart without script, style and legend of its own: the page has them once for all."""
    own = {"width": WIDTH, "height": HEIGHT, "dots_size": 3, "margin": 8, "no_data_text": "", "show_legend": False}
    height = TOP if scale.broken else 1
    made = kind(js=[], css=[], disable_xml_declaration=True, range=(0, height), **{**own, **settings})
    made.y_labels = scale.ticks
    return made


def _dot(scale: _Scale, label: str, value: float | None, *, broken: bool) -> Mapping[str, object] | None:
    """A mark with its words, either of what can be drawn or of what stands on the top line; None: no mark."""
    if value is None or _drawable(value) is broken:
        return None
    return {"value": TOP if broken else scale.height(value), "label": f"{label}: {_said(value)}"}


def _drawable(value: float) -> bool:
    return math.isfinite(value) and abs(value) <= LARGEST


def _said(value: float | None) -> str:
    if value is None:
        return "not measured"
    return number(value)


def _drawn(chart: Any, title: str) -> str:
    """The SVG without what changes from day to day (pygal writes the date), without its style, with native tooltips."""
    chart.uuid = "c"
    text: str = chart.render(is_unicode=True)
    text = re.sub(r"<!--.*?-->|<defs>.*?</defs>|<title>.*?</title>|<script.*?</script>", "", text, flags=re.DOTALL)
    text = re.sub(r'<desc class="label">([^<]*)</desc>', r"<title>\1</title>", text)
    text = re.sub(r'<g class="series[^>]*/>|<g [^>]*class="plot (?:text|tooltip)-overlay">.*(?=</g></svg>)', "", text)
    text = re.sub(r"<desc[^>]*>[^<]*</desc>|<desc[^>]*/>| id=\"[^\"]*\"| xmlns(:xlink)?=\"[^\"]*\"", "", text)
    text = re.sub(r"(\d+\.\d{2})\d+", r"\1", text)
    return text.replace("<svg ", f'<svg role="img" aria-label="{_quoted(title)}" ', 1)


def _quoted(text: str) -> str:
    return re.sub(r"[<>&\"\x00-\x1f]", " ", text)

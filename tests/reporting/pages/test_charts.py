"""Static drawings: always drawn, always the same, and what is not finite is never left out."""

from __future__ import annotations

import math
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from harness.reporting.pages import charts
from harness.reporting.pages.charts import Chart, Line

VALUES = st.lists(st.one_of(st.none(), st.floats()), min_size=1, max_size=12)


def drawn(*values: float | None, title: str = "loss") -> Chart:
    chart = charts.by_label(title, [f"{n}.0" for n in range(len(values))], [Line(name="1 replica", values=values)])
    assert chart is not None
    return chart


def test_nothing_measured_is_no_chart():
    assert charts.by_label("loss", ["1.0"], [Line(name="1 replica", values=[None])]) is None
    assert charts.by_step("loss", {"reference": []}) is None


def test_what_is_not_finite_is_its_own_mark_on_its_own_line():
    chart = drawn(1.0, math.nan, 2.0)
    assert chart.nonfinite
    assert "1.0: NaN" in chart.svg
    assert ">not finite</text>" in chart.svg
    assert not drawn(1.0, 2.0).nonfinite
    assert "not finite" not in drawn(1.0, 2.0).svg


@given(VALUES)
def test_every_value_is_drawn_or_said_to_be_missing(values):
    chart = charts.by_label("loss", [f"{n}.0" for n in range(len(values))], [Line(name="one", values=values)])
    measured = [value for value in values if value is not None]
    assert (chart is None) == (not measured)
    if chart is not None:
        marks = [e for e in ElementTree.fromstring(chart.svg).iter() if e.tag == "circle"]
        assert len(marks) == len(measured)
        assert len(chart.rows) == len(values)


@given(st.lists(st.floats(), min_size=1, max_size=12))
def test_the_first_step_that_is_not_finite_is_marked(values):
    chart = charts.by_step("loss", {"2 replicas": list(enumerate(values, 1))})
    assert chart is not None
    first = next((n for n, value in enumerate(values, 1) if not math.isfinite(value)), None)
    said = chart.rows[0][1]
    assert (f"first not finite at step {first}" in said) == (first is not None)


def test_the_same_values_give_the_same_bytes_without_date_script_and_style():
    assert drawn(1.0, 2.0) == drawn(1.0, 2.0)
    for part in ("<!--", "<script", "<style", "pygal.org", "id="):
        assert part not in drawn(1.0, 2.0).svg


def test_hostile_text_ends_no_attribute():
    svg = drawn(1.0, title='"><script>alert(1)</script>').svg
    assert "<script" not in svg
    ElementTree.fromstring(svg)


def test_a_long_axis_is_thinned_out_around_what_must_be_seen():
    assert charts.thinned(3, [1]) == [0, 1, 2]
    places = charts.thinned(1800, [901])
    assert {0, 900, 901, 902, 1799} <= set(places)
    assert len(places) < charts.MOST_PLACES

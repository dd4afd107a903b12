"""How close two numbers, and the weights of two trials, must be."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.case import Tolerance
from harness.domain.cases.symptoms import Symptom
from harness.domain.verdicts.tolerance import close, weight_differences
from tests.domain.verdicts.judging import BAD, GOOD, outcomes
from tests.examples import case, observation, weights


class TestTolerance:
    @pytest.mark.parametrize(
        ("value", "reference", "tolerance", "near"),
        [
            (1.001, 1.0, 1e-3, True),
            (1.0011, 1.0, 1e-3, False),
            (0.9990001, 1.0, 1e-3, True),
            (0.9989, 1.0, 1e-3, False),
            (-1.0, 1.0, 1e-3, False),
            (0.0, 1e-7, 0.0, True),
            (0.0, 1.1e-7, 0.0, False),
            (1.0, 1.0, 0.0, True),
            (2.0, 1.0, 0.5, True),
            (2.01, 1.0, 0.5, False),
            (math.nan, 1.0, 10.0, False),
            (math.inf, 1.0, 0.5, False),
            (math.nan, math.nan, 0.5, False),
        ],
    )
    def test_its_edge_belongs_to_it(self, value, reference, tolerance, near):
        assert close(value, reference, tolerance) is near

    @given(st.floats(allow_nan=False, allow_infinity=False), st.floats(0, 1))
    def test_a_value_is_close_to_itself(self, value, tolerance):
        """A release that computes the same number is never called wrong."""
        assert close(value, value, tolerance)

    @given(st.floats(allow_nan=False), st.floats(allow_nan=False), st.floats(0, 1))
    def test_closeness_does_not_depend_on_which_one_is_the_reference(self, one, other, tolerance):
        """The tolerance is relative to the larger of the two."""
        assert close(one, other, tolerance) == close(other, one, tolerance)

    @given(st.floats(0.01, 1e6), st.floats(1e-6, 0.5), st.floats(0, 1))
    def test_a_wider_tolerance_never_makes_a_good_metric_wrong(self, reference, tolerance, part):
        """Loosening a case can only turn bad into good."""
        seen, held = observation({"loss": reference * (1 + tolerance * part)}), observation({"loss": reference})
        tight = outcomes(case(tolerance=Tolerance(metric=tolerance)), seen, held)[Symptom.WRONG_METRIC]
        loose = outcomes(case(tolerance=Tolerance(metric=2 * tolerance)), seen, held)[Symptom.WRONG_METRIC]
        assert tight is BAD or loose is GOOD


class TestWeightDifferences:
    def test_the_bound_is_relative_to_the_largest_value_of_the_variable(self):
        """A tiny weight beside a large one is compared at the scale of the large one."""
        theirs = weights(values={"kernel": (100.0, 1e-6)})
        assert weight_differences(weights(values={"kernel": (100.0, 0.09)}), theirs, 1e-3) == []
        assert weight_differences(weights(values={"kernel": (100.0, 0.11)}), theirs, 1e-3) == [("kernel", 0.11, 1e-6)]

    def test_the_worst_value_is_shown(self):
        mine, theirs = weights(values={"k": (1.0, 5.0, 2.0)}), weights(values={"k": (1.5, 1.0, 2.0)})
        assert weight_differences(mine, theirs, 1e-3) == [("k", 5.0, 1.0)]

    def test_a_nan_is_the_worst_of_all(self):
        mine, theirs = weights(values={"k": (9.0, math.nan)}), weights(values={"k": (1.0, 1.0)})
        ((name, own, other),) = weight_differences(mine, theirs, 0.5)
        assert (name, math.isnan(own), other) == ("k", True, 1.0)

    def test_a_variable_that_is_missing_or_of_another_size_differs(self):
        theirs = weights(values={"k": (1.0, 1.0), "b": (0.0,)})
        ((name, own, _),) = weight_differences(weights(values={"k": (1.0, 1.0)}), theirs, 0.5)
        assert (name, math.isnan(own)) == ("b", True)
        shorter = weight_differences(weights(values={"k": (1.0,), "b": (0.0,)}), theirs, 0.5)
        assert [name for name, *_ in shorter] == ["k"]

    def test_a_sample_of_the_values_is_backed_by_the_norms(self):
        """A large model keeps 64 values of each variable; what happened to the others shows in the norm."""
        large = {"count": 1000, "values": {"k": (1.0,), "b": (1.0,)}}
        theirs = weights(**large, norms={"k": 10.0, "b": 10.0})
        assert weight_differences(weights(**large, norms={"k": 10.0, "b": 20.0}), theirs, 1e-3) == [("b", 20.0, 10.0)]
        other = weights(count=1000, values={"k": (2.0,), "b": (1.0,)}, norms={"k": 20.0, "b": 10.0})
        assert weight_differences(other, theirs, 1e-3) == [("k", 2.0, 1.0)]

    def test_values_within_rounding_of_a_bound_are_no_difference(self):
        """The bound is the tolerance at the scale of the reference, and 1e-7 for float32 near 0."""
        theirs = weights(values={"k": (-2.0, 1.0)})
        assert weight_differences(weights(values={"k": (-2.0, 1.02)}), theirs, 1e-2) == []
        assert weight_differences(weights(values={"k": (-2.0, 1.0200002)}), theirs, 1e-2) == [("k", 1.0200002, 1.0)]
        zero = weights(values={"k": (0.0,)})
        assert weight_differences(weights(values={"k": (1e-7,)}), zero, 1e-2) == []
        assert weight_differences(weights(values={"k": (1.1e-7,)}), zero, 1e-2) == [("k", 1.1e-7, 0.0)]

    def test_a_variable_that_only_the_reference_has_values_of_is_no_number(self):
        ((name, own, other),) = weight_differences(
            weights(values={"k": (1.0,)}), weights(values={"k": (1.0,), "b": (0.5,)}), 0.5
        )
        assert (name, math.isnan(own), math.isnan(other)) == ("b", True, True)

    def test_values_that_are_all_known_need_no_norms(self):
        """Two values of two: what the norms say cannot be news."""
        mine, theirs = weights(norms={"kernel": 9.0, "bias": 9.0}), weights()
        assert weight_differences(mine, theirs, 1e-3) == []
        sample = weights(count=3, norms={"kernel": 9.0, "bias": 0.25})
        assert weight_differences(sample, theirs, 1e-3) == [("kernel", 9.0, 0.5)]

    def test_norms_speak_where_only_one_of_both_kept_values(self):
        kept, without = weights(norms={"kernel": 9.0}), weights(values=None, norms={"kernel": 0.5})
        assert weight_differences(kept, without, 1e-3) == [("kernel", 9.0, 0.5)]
        assert weight_differences(without, kept, 1e-3) == [("kernel", 0.5, 9.0)]

    def test_empty_variables_are_equal(self):
        assert weight_differences(weights(values={"k": ()}), weights(values={"k": ()}), 0.0) == []

    def test_large_models_are_compared_by_their_norms(self):
        theirs = weights(values=None, norms={"kernel": 10.0, "bias": 1.0})
        assert weight_differences(weights(values=None, norms={"kernel": 10.0, "bias": 1.0}), theirs, 1e-3) == []
        differing = weight_differences(weights(norms={"kernel": 10.1}), theirs, 1e-3)
        assert differing[0] == ("kernel", 10.1, 10.0)
        assert (differing[1][0], math.isnan(differing[1][1])) == ("bias", True)

    @given(st.dictionaries(st.sampled_from("abc"), st.lists(st.floats(-1e6, 1e6), max_size=3).map(tuple)))
    def test_weights_do_not_differ_from_themselves(self, values):
        """Two trials that end with the same weights are never called wrong, with tolerance 0 either."""
        assert weight_differences(weights(values=values), weights(values=values), 0.0) == []

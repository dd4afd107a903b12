"""What a release's source says, from small sources written here."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.releases.aggregation import (
    CORE_FILE,
    METRIC_FILE,
    VARIABLE_FILE,
    ReleaseFacts,
    SourceFacts,
    disagreement,
    milestones,
    read_source,
)

BEFORE = """
class Variable:
    def _initialize(self, value):
        self._value = tf.Variable(value, dtype=self._dtype)
"""
MAPPED = """
class Variable:
    def _initialize(self, value):
        self._value = tf.Variable(value, aggregation=self._map_aggregation(self.aggregation))

    def _map_aggregation(self, aggregation):
        mapping = {
            "none": tf.VariableAggregation.NONE,
            "sum": tf.VariableAggregation.SUM,
            "mean": tf.VariableAggregation.MEAN,
        }
        return mapping[aggregation]
"""
SYNCHRONIZED = """
class Variable:
    def _initialize(self, value):
        self._value = tf.Variable(
            value,
            aggregation=self._map_aggregation(self.aggregation),
            synchronization=self._map_synchronization(self.synchronization),
        )

    def _map_aggregation(self, aggregation):
        return {"none": tf.VariableAggregation.NONE, "sum": tf.VariableAggregation.SUM}[aggregation]

    def _map_synchronization(self, synchronization):
        return {
            "auto": tf.VariableSynchronization.AUTO,
            "on_read": tf.VariableSynchronization.ON_READ,
        }[synchronization]
"""
METRIC = """
class Metric:
    def add_variable(self, shape, initializer, dtype=None, {defaults}):
        return backend.Variable(initializer=initializer, {passed})
"""
VARIABLE = """
class Variable:
    def __init__(self, initializer, shape=None, trainable=True, aggregation="none", synchronization="auto"):
        pass
"""


def facts(core, *, defaults="name=None", passed="shape=shape", variable=VARIABLE):
    metric = METRIC.format(defaults=defaults, passed=passed)
    return read_source("3.9.0", {CORE_FILE: core, METRIC_FILE: metric, VARIABLE_FILE: variable})


class TestMapping:
    def test_a_release_without_it(self):
        found = facts(BEFORE)
        assert (found.aggregation, found.synchronization, found.passed) == (None, None, ())
        assert (found.expected_aggregation, found.expected_synchronization) == ("NONE", "ON_WRITE")

    def test_a_release_that_maps_aggregation_only(self):
        found = facts(MAPPED, passed='aggregation="sum"')
        assert found.aggregation == {"none": "NONE", "sum": "SUM", "mean": "MEAN"}
        assert found.synchronization is None
        assert found.passed == ("aggregation",)
        assert (found.expected_aggregation, found.expected_synchronization) == ("SUM", "ON_WRITE")

    def test_a_release_that_maps_both(self):
        found = facts(SYNCHRONIZED, defaults='aggregation="sum", synchronization="on_read"')
        assert found.synchronization == {"auto": "AUTO", "on_read": "ON_READ"}
        assert found.passed == ("aggregation", "synchronization")
        assert found.metric == {"aggregation": "sum", "synchronization": "on_read"}
        assert (found.expected_aggregation, found.expected_synchronization) == ("SUM", "ON_READ")

    def test_auto_is_on_write_under_a_strategy(self):
        assert facts(SYNCHRONIZED).expected_synchronization == "ON_WRITE"

    def test_what_never_reaches_tensorflow_does_not_count(self):
        """A mapping that nobody calls maps nothing."""
        unused = MAPPED.replace("aggregation=self._map_aggregation(self.aggregation)", "")
        assert facts(unused, passed='aggregation="sum"').expected_aggregation == "NONE"

    def test_a_word_that_the_mapping_lacks_is_none(self):
        assert facts(MAPPED, passed='aggregation="median"').expected_aggregation == "NONE"

    def test_entries_that_are_no_plain_words_are_left_out(self):
        odd = MAPPED.replace(
            '"sum": tf.VariableAggregation.SUM',
            'SUM: tf.VariableAggregation.SUM, "max": 3, 1: tf.VariableAggregation.ONE, **more',
        )
        assert facts(odd).aggregation == {"none": "NONE", "mean": "MEAN"}


class TestDefaults:
    def test_what_a_call_says_stands_above_the_default(self):
        found = facts(MAPPED, defaults='aggregation="none"', passed='aggregation="sum", name=name')
        assert found.metric == {"aggregation": "sum"}

    def test_what_a_call_hands_on_is_the_default(self):
        found = facts(MAPPED, defaults='aggregation="sum"', passed="aggregation=aggregation")
        assert found.metric == {"aggregation": "sum"}

    def test_other_variables_have_the_defaults_of_the_class(self):
        assert facts(MAPPED).default == {"aggregation": "none", "synchronization": "auto"}

    @pytest.mark.parametrize(
        "signature",
        [
            'self, shape, aggregation="sum"',
            'self, shape="()", aggregation="sum", /',
            'self, shape="()", /, aggregation="sum"',
            'self, shape, *, dtype, aggregation="sum"',
            'self, shape=None, *rest, aggregation="sum", dtype',
        ],
    )
    def test_a_default_counts_wherever_it_stands(self, signature):
        found = read_source("3.9.0", {CORE_FILE: MAPPED, METRIC_FILE: f"def add_variable({signature}): pass"})
        assert found.metric == {"aggregation": "sum"}

    def test_every_function_of_that_name_counts(self):
        """The file has one metric per class; what any of them asks for is asked for."""
        two = """
class First:
    def add_variable(self, aggregation="sum"):
        return backend.Variable(name, synchronization="on_read")

class Second:
    def add_variable(self, shape, synchronization="auto"):
        return elsewhere.Variable(aggregation="mean")
"""
        found = read_source("3.9.0", {CORE_FILE: MAPPED, METRIC_FILE: two})
        assert found.metric == {"aggregation": "sum", "synchronization": "on_read"}

    def test_a_call_that_passes_no_word_leaves_the_default(self):
        found = facts(MAPPED, defaults='aggregation="sum"', passed="aggregation=None, synchronization=3, **more")
        assert found.metric == {"aggregation": "sum"}

    def test_a_function_without_defaults_and_one_with_other_types(self):
        assert facts(MAPPED, variable="def __init__(self):\n    pass\n").default == {}
        assert (
            facts(MAPPED, variable="def __init__(self, aggregation=None, synchronization=3):\n    pass\n").default == {}
        )


class TestProblems:
    def test_a_wheel_without_the_file(self):
        found = read_source("2.15.0", {})
        assert found == SourceFacts(version="2.15.0", problem=f"the wheel has no {CORE_FILE}")

    @pytest.mark.parametrize("text", ["def (", "a\x00b", "(" * 5000])
    def test_a_file_that_is_no_python(self, text):
        found = read_source("3.9.0", {CORE_FILE: text})
        assert found.problem.startswith("not Python: ")
        assert found == SourceFacts(version="3.9.0", problem=found.problem)

    def test_the_other_two_files_may_be_missing(self):
        found = read_source("3.9.0", {CORE_FILE: MAPPED})
        assert (found.version, found.metric, found.default, found.problem) == ("3.9.0", {}, {}, "")

    @given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
    def test_no_text_makes_it_fail(self, core, metric, variable):
        found = read_source("3.9.0", {CORE_FILE: core, METRIC_FILE: metric, VARIABLE_FILE: variable})
        assert found.expected_aggregation == "NONE"


class TestDisagreement:
    SOURCE = facts(MAPPED, passed='aggregation="sum"')

    def test_where_both_say_the_same_there_is_nothing_to_say(self):
        assert disagreement(self.SOURCE, {"metric": ["SUM/ON_WRITE"]}) == ""

    def test_every_kind_that_the_source_does_not_say_is_named(self):
        sentence = disagreement(self.SOURCE, {"metric": ["NONE/ON_WRITE", "SUM/ON_WRITE", "MEAN/ON_READ"]})
        assert sentence == "metric variables: the source says SUM/ON_WRITE, live they are NONE/ON_WRITE, MEAN/ON_READ"

    @pytest.mark.parametrize("live", [{}, {"metric": []}, {"model": ["NONE/ON_WRITE"]}])
    def test_without_a_live_metric_nothing_is_compared(self, live):
        assert disagreement(self.SOURCE, live) == ""

    def test_a_source_that_could_not_be_read_disagrees_with_nothing(self):
        assert disagreement(read_source("3.9.0", {}), {"metric": ["SUM/ON_WRITE"]}) == ""


class TestMilestones:
    @staticmethod
    def line(*mappings: tuple[dict[str, str] | None, dict[str, str] | None] | str) -> list[ReleaseFacts]:
        return [
            ReleaseFacts(
                source=SourceFacts(version=f"3.{n}.0", problem=one)
                if isinstance(one, str)
                else SourceFacts(version=f"3.{n}.0", aggregation=one[0], synchronization=one[1])
            )
            for n, one in enumerate(mappings)
        ]

    def test_a_mapping_appears_changes_and_disappears(self):
        sentences = milestones(
            self.line(
                (None, None), ({"sum": "SUM"}, None), ({"sum": "NONE"}, {"auto": "AUTO"}), (None, {"auto": "AUTO"})
            )
        )
        assert sentences == [
            "_map_aggregation appears in 3.1.0 (not yet so in 3.0.0).",
            "_map_aggregation changes in 3.2.0 (not yet so in 3.1.0).",
            "_map_aggregation disappears in 3.3.0 (not yet so in 3.2.0).",
            "synchronization appears in 3.2.0 (not yet so in 3.1.0).",
        ]

    def test_a_release_whose_source_could_not_be_read_is_stepped_over(self):
        sentences = milestones(self.line((None, None), "no wheel on the index", ({"sum": "SUM"}, None)))
        assert sentences == ["_map_aggregation appears in 3.2.0 (not yet so in 3.0.0)."]

    @given(st.lists(st.sampled_from([None, "SUM", "NONE"]), max_size=8))
    def test_there_is_one_sentence_for_each_change_and_none_besides(self, words):
        """Neighbours that say the same are no milestone."""
        sentences = milestones(self.line(*((None if word is None else {"sum": word}, None) for word in words)))
        assert len(sentences) == sum(one != other for one, other in pairwise(words))

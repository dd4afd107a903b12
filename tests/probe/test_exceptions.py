"""Exceptions as text."""

from __future__ import annotations

import pytest

from harness.probe.exceptions import MESSAGE_LIMIT, describe


class TestDescribe:
    def test_long_messages_are_cut(self):
        assert len(describe(ValueError("x" * 10_000))[1]) == MESSAGE_LIMIT

    @pytest.mark.parametrize(
        ("tail", "first"),
        [
            ("2 root error(s) found.\n  (0) INVALID_ARGUMENT:  no value\n  (1) more\n", "INVALID_ARGUMENT:  no value"),
            (
                "Incompatible shapes: [3] vs. [4]\n\t [[{{node mul}}]] [Op:__inference_1]",
                "Incompatible shapes: [3] vs. [4]",
            ),
        ],
    )
    def test_the_cause_of_a_failing_graph_comes_first(self, tail, first):
        """It stands behind pages of places, and the first line is what is shown and what identifies the failure."""
        places = 'Detected at node x defined at (most recent call last):\n  File "a.py", line 3, in f\n\n' * 50
        message = describe(RuntimeError(f"Graph execution error:\n\n{places}{tail}"))[1]
        assert message.splitlines()[0] == f"Graph execution error: {first}"

    def test_a_graph_error_without_a_cause_stays_as_it_is(self):
        assert describe(RuntimeError("Graph execution error:"))[1] == "Graph execution error:"
        assert describe(RuntimeError("Graph execution error:\nwhy"))[1].startswith("Graph execution error: why\n")

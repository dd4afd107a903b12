"""Settings of parameters: what is accepted, in which order, and what a mistake is told."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases import parameters
from harness.domain.errors import UsageError
from tests.examples import case

CASE = case(parameters={"fault": ("silent_log", "zero_norm", "none"), "remedy": ("none", "log_epsilon")})


class TestParse:
    @given(st.permutations(["remedy=log_epsilon", "fault=zero_norm"]))
    def test_the_same_settings_are_the_same_trial_however_they_were_typed(self, texts):
        assert parameters.parse(CASE, texts) == (("fault", "zero_norm"), ("remedy", "log_epsilon"))

    def test_nothing_set_leaves_the_defaults_to_the_case(self):
        assert parameters.parse(CASE, []) == ()

    def test_the_same_setting_twice_is_one(self):
        assert parameters.parse(CASE, ["fault=none", "fault=none"]) == (("fault", "none"),)

    @pytest.mark.parametrize(
        ("texts", "what", "where", "hint"),
        [
            (["fault"], "'fault' sets nothing", "--set", "write it as NAME=VALUE, for example fault=none"),
            (["fault=none", "fault=zero_norm"], "'fault' is set twice", "--set none and zero_norm", "keep one"),
            (
                ["fualt=none"],
                "the case identity has no parameter 'fualt'",
                "--set",
                "did you mean 'fault'? its parameters: fault, remedy",
            ),
            (["x=none"], "the case identity has no parameter 'x'", "--set", "its parameters: fault, remedy"),
            (
                ["fault=zero_nrom"],
                "the parameter 'fault' of identity has no value 'zero_nrom'",
                "--set",
                "did you mean 'zero_norm'? its values: silent_log, zero_norm, none",
            ),
            (
                ["fault="],
                "the parameter 'fault' of identity has no value ''",
                "--set",
                "its values: silent_log, zero_norm, none",
            ),
            (
                ["fault=a=b"],
                "the parameter 'fault' of identity has no value 'a=b'",
                "--set",
                "its values: silent_log, zero_norm, none",
            ),
        ],
    )
    def test_a_mistake_is_told_with_what_would_be_right(self, texts, what, where, hint):
        with pytest.raises(UsageError) as raised:
            parameters.parse(CASE, texts)
        assert (raised.value.what, raised.value.where, raised.value.hint) == (what, where, hint)

    def test_the_place_of_a_mistake_is_the_one_that_was_given(self):
        for texts in (["fault"], ["x=none"], ["fault=x"]):
            with pytest.raises(UsageError) as raised:
                parameters.parse(CASE, texts, where="the file")
            assert raised.value.where == "the file"
        with pytest.raises(UsageError) as raised:
            parameters.parse(CASE, ["fault=a", "fault=b"], where="the file")
        assert raised.value.where == "the file a and b"

    def test_a_case_without_parameters_says_so(self):
        with pytest.raises(UsageError) as raised:
            parameters.parse(case(), ["fault=none"])
        assert raised.value.what == "the case identity has no parameters"
        assert raised.value.where == "--set fault=none"
        assert raised.value.hint == (
            "declare it in the case: [tool.harness.parameters] with name = [default, other, ...]"
        )

    @given(st.text())
    def test_any_text_is_read_or_refused_by_a_message(self, text):
        try:
            read = parameters.parse(CASE, [text])
        except UsageError as error:
            assert error.hint
        else:
            assert parameters.words(read) == ["--set", text]


def test_settings_are_typed_as_they_were_read():
    assert parameters.words((("fault", "none"), ("remedy", "log_epsilon"))) == [
        "--set",
        "fault=none",
        "--set",
        "remedy=log_epsilon",
    ]
    assert parameters.words(()) == []


class TestMerge:
    def test_the_later_setting_wins(self):
        assert parameters.merge((("a", "1"), ("b", "1")), {"b": "2"}) == {"a": "1", "b": "2"}

"""What a case looks for beside its end: read, refused, and laid over by a request."""

from __future__ import annotations

import pytest

from harness.domain.cases.case import Case, Level
from harness.domain.cases.shapes.runners import Runner
from harness.domain.cases.sought import check_sought, looking_for, read_equals, read_flags, read_value
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from tests.examples import case

SCRIPT = case(level=Level.SCRIPT)


@pytest.mark.parametrize(("given", "text"), [(0, "0"), (7.5, "7.5"), (float("nan"), "nan"), ("adam", "adam")])
def test_what_a_value_should_be_is_a_number_or_a_text(given, text):
    assert read_equals("case.py", "equals", given) == text


@pytest.mark.parametrize("where", ["json:loss", "json: history.loss", "loss: (.*)", "[0-9]+ (?:passed|failed)"])
def test_where_a_value_stands(where):
    assert read_value("case.py", "value", where) == where


@pytest.mark.parametrize(
    "flags", [["-W", "error::FutureWarning"], ["-Werror"], ["-X", "dev", "-O"], ["-OO", "-bb", "-u", "-vv"], []]
)
def test_flags_that_leave_python_to_run_the_script(flags):
    assert read_flags("case.py", "python_flags", flags) == tuple(flags)


@pytest.mark.parametrize("flags", [["-c", "1"], ["-m", "pdb"], ["-i"], ["script.py"], ["-X"], ["--version"], ["-"]])
def test_flags_that_run_something_else_are_refused(flags):
    with pytest.raises(UsageError, match="python_flags"):
        read_flags("case.py", "python_flags", flags)


@pytest.mark.parametrize(
    ("about", "asked", "what"),
    [
        (case(equals="1"), (), "it says what a value should be, but not which"),
        (case(value="x", equals="1", reference="3.5.0"), (), "the reference release says"),
        (case(level=Level.SCRIPT, reference="3.5.0"), (), "there must be a value to compare"),
        (case(expects=Symptom.WARNING), (), "which warning"),
        (SCRIPT, (Symptom.WARNING,), "which warning"),
        (SCRIPT, (Symptom.CHANGED_VALUE,), "which value"),
        (case(python_flags=("-O",)), (), "are for scripts"),
        (case(level=Level.SCRIPT, runner=Runner.COMMAND, python_flags=("-O",)), (), "starts Python itself"),
    ],
)
def test_what_cannot_be_found_in_this_way_is_refused_with_what_to_do(about: Case, asked, what):
    with pytest.raises(UsageError, match=what) as refusal:
        check_sought(about, asked)
    assert refusal.value.hint


@pytest.mark.parametrize(
    "about",
    [
        case(reference="3.5.0"),
        case(level=Level.SCRIPT, value="x", reference="3.5.0", expects=Symptom.CHANGED_VALUE),
        case(warning="x", expects=Symptom.WARNING),
        case(level=Level.SCRIPT, python_flags=("-O",)),
    ],
)
def test_what_can_is_taken_as_it_is(about: Case):
    assert check_sought(about) is about


class TestRequest:
    def test_it_stands_in_for_what_the_case_says(self):
        own = case(level=Level.SCRIPT, value="loss: (.*)", equals="1")
        assert looking_for(own, {}) == own
        assert looking_for(own, {"equals": "2"}).equals == "2"
        changed = looking_for(own, {"reference": "3.6.0", "python_flags": ("-W", "error")})
        assert (changed.value, changed.equals, changed.reference) == ("loss: (.*)", "", "3.6.0")
        assert changed.python_flags == ("-W", "error")
        assert looking_for(changed, {"equals": "2"}).reference == ""

    @pytest.mark.parametrize(
        ("given", "option"),
        [
            ({"value": "("}, "--value"),
            ({"reference": "x"}, "--reference"),
            ({"python_flags": ("-c",)}, "--python-flag"),
        ],
    )
    def test_a_mistake_names_the_option(self, given, option):
        with pytest.raises(UsageError) as refusal:
            looking_for(SCRIPT, given)
        assert refusal.value.where == option

    def test_asking_for_an_import_error_makes_one_bad(self):
        assert looking_for(SCRIPT, {}, [Symptom.IMPORT_ERROR]).expects is Symptom.IMPORT_ERROR
        about = case(level=Level.SCRIPT, expects=Symptom.KILLED)
        assert looking_for(about, {}, [Symptom.IMPORT_ERROR]).expects is Symptom.KILLED


def test_the_hash_of_a_case_counts_what_it_looks_for_and_is_as_before_where_it_looks_for_nothing():
    hashes = {
        SCRIPT.digest,
        *(looking_for(SCRIPT, given).digest for given in ({"value": "x"}, {"warning": "x"}, {"match": "x"})),
    }
    assert len(hashes) == 4
    assert case(text="# a case\n").digest == "72ba4a6cba22deff"

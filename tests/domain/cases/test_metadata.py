"""What each key of a case takes, and one clear message for each thing that is wrong."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.domain.cases.case import Case, Claim, Level, Tolerance, Workaround
from harness.domain.cases.metadata import build_case, harness_table
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import ExitCode, UsageError


def build(*, defines_model: bool = True, dependencies: object = (), **table: object) -> Case:
    """Build a case from the keys of its [tool.harness] table."""
    metadata = {"dependencies": list(dependencies) if isinstance(dependencies, tuple) else dependencies}
    return build_case(
        name="my",
        path="my.py",
        text="text",
        metadata={**metadata, "tool": {"harness": table}},
        defines_model=defines_model,
    )


def refusal(**table: object) -> UsageError:
    with pytest.raises(UsageError) as caught:
        build(**table)  # type: ignore[arg-type]
    assert caught.value.exit_code is ExitCode.USAGE
    assert caught.value.where == "my.py"
    assert caught.value.hint
    return caught.value


class TestHarnessTable:
    def test_absent_is_not_empty(self):
        assert harness_table({}, path="my.py") is None
        assert harness_table({"tool": {"ruff": {}}}, path="my.py") is None
        assert harness_table({"tool": {"harness": {}}}, path="my.py") == {}

    @pytest.mark.parametrize(("metadata", "key"), [({"tool": 3}, "tool"), ({"tool": {"harness": [1]}}, "tool.harness")])
    def test_what_is_no_table_is_refused_by_its_key(self, metadata, key):
        with pytest.raises(UsageError) as caught:
            harness_table(metadata, path="my.py")
        assert caught.value.what.startswith(f"bad value for {key!r}: expected a table, got ")
        assert caught.value.where == "my.py"


class TestDefaults:
    def test_a_case_that_says_nothing(self):
        made = build()
        assert (made.package, made.level, made.replicas, made.strategy) == ("keras", Level.MODEL, 2, "mirrored")
        assert (made.timeout_seconds, made.repeats, made.seed, made.since) == (120.0, 1, 0, "")
        assert made.tolerance == Tolerance(metric=1e-3, weights=1e-3)
        assert made.expects is None
        assert made == Case(name="my", path="my.py", text="text", level=Level.MODEL)

    def test_metadata_without_a_table_of_ours_is_a_case_that_says_nothing(self):
        made = build_case(name="my", path="my.py", text="text", metadata={}, defines_model=False)
        assert (made.package, made.level) == ("keras", Level.SCRIPT)

    def test_the_level_follows_from_what_the_script_defines(self):
        assert build(defines_model=True).level is Level.MODEL
        assert build(defines_model=False).level is Level.SCRIPT
        assert build(defines_model=True, level="script").level is Level.SCRIPT

    def test_the_level_model_needs_its_functions(self):
        error = refusal(defines_model=False, level="model")
        assert error.what == "level = 'model' needs the functions model() and data()"
        assert error.hint == "define both, or use level = 'script'"

    def test_companions_are_the_dependencies_without_the_package_and_the_data(self):
        made = build(dependencies=("Keras>=3.5", "tensorflow", "numpy<2.1", "ml_xtend"), data_packages=["ml-xtend"])
        assert made.companions == ("tensorflow", "numpy<2.1")

    def test_the_package_itself_is_no_companion_under_whichever_spelling(self):
        made = build(dependencies=("keras_nightly", "keras", "jax[cpu]>=0.4"), package="Keras.Nightly")
        assert made.companions == ("keras", "jax[cpu]>=0.4")

    def test_companions_that_are_named_replace_the_dependencies(self):
        assert build(dependencies=("keras", "tensorflow"), companions=["jax"]).companions == ("jax",)


class TestKeys:
    def test_every_key_is_read(self):
        made = build(
            title="t",
            origin=["https://example.org/1"],
            package="keras-nightly",
            since="3.5.0",
            expects="wrong-metric",
            replicas=4,
            strategy="multi-worker",
            timeout_seconds=30,
            repeats=3,
            seed=2**32 - 1,
            tolerance=0.5,
            fixes=["none"],
            fit={"batch_size": 32, "shuffle": False, "validation_split": 0.1, "steps": "all"},
            parameters={"fault": ["off", "on"]},
        )
        assert (made.title, made.origin, made.package) == ("t", ("https://example.org/1",), "keras-nightly")
        assert (made.since, made.expects, made.replicas, made.strategy) == (
            "3.5.0",
            Symptom.WRONG_METRIC,
            4,
            "multi-worker",
        )
        assert (made.timeout_seconds, made.repeats, made.seed) == (30.0, 3, 2**32 - 1)
        assert made.tolerance == Tolerance(metric=0.5, weights=0.5)
        assert made.fixes == ("none",)
        assert made.fit == {"batch_size": 32, "shuffle": False, "validation_split": 0.1, "steps": "all"}
        assert made.parameters == {"fault": ("off", "on")}

    def test_a_tolerance_by_part(self):
        assert build(tolerance={"metric": 0.35, "weights": "not compared"}).tolerance == Tolerance(
            metric=0.35, weights=None
        )
        assert build(tolerance={"weights": 0}).tolerance == Tolerance(metric=1e-3, weights=0.0)
        assert build(tolerance="not compared").tolerance == Tolerance(metric=None, weights=None)

    def test_workarounds_and_claims(self):
        made = build(
            workarounds={"on-read": {"title": "t", "options": {"a": "1"}, "against": {"b": "2"}, "origin": "o"}},
            claims=[
                {
                    "says": "s",
                    "predicts": "good",
                    "release": "3.9.0",
                    "replicas": 4,
                    "options": {"a": "1"},
                    "origin": "o",
                },
                {"says": "u", "untestable": "needs a TPU"},
                {"says": "n", "predicts": "nonfinite-metric"},
            ],
        )
        assert made.workarounds == (
            Workaround(name="on-read", title="t", options={"a": "1"}, against={"b": "2"}, origin="o"),
        )
        assert made.claims == (
            Claim(says="s", predicts="good", release="3.9.0", replicas=4, options={"a": "1"}, origin="o"),
            Claim(says="u", untestable="needs a TPU"),
            Claim(says="n", predicts="nonfinite-metric"),
        )


BAD_VALUES = [
    ("backend", "theano", "one of tensorflow, jax, torch"),
    ("env", ["A=1"], "a table of NAME = 'value'"),
    ("title", "", "a non-empty string"),
    ("title", 3, "a non-empty string"),
    ("origin", "https://example.org", "a list of strings"),
    ("origin", [3], "a list of strings"),
    ("package", "../evil", "a distribution name"),
    ("package", "jax[", "a distribution name"),
    ("overrides", ["=="], "requirements such as"),
    ("package", "keras==3.9", "a distribution name"),
    ("package", " ", "a non-empty string"),
    ("package", ["keras"], "a non-empty string"),
    ("since", "3.x", "a version such as '3.5.0'"),
    ("since", 3.5, "a non-empty string"),
    ("companions", ["numpy <"], "requirements such as 'numpy<2.1'"),
    ("companions", "numpy", "a list of strings"),
    ("data_packages", ["-r evil.txt"], "requirements such as 'numpy<2.1'"),
    ("expects", "nan", "one of exception, killed, timeout, import-error, nonfinite-metric"),
    ("value", "loss: (", "a regular expression (missing ), unterminated subpattern at position 6)"),
    ("value", "(a)(b)", "a regular expression with at most one group"),
    ("value", "json: ", "a key, such as 'json:loss'"),
    ("equals", "", "a non-empty string"),
    ("equals", True, "a non-empty string"),
    ("reference", "three", "a version such as"),
    ("warning", "*", "a regular expression"),
    ("match", "(?", "a regular expression"),
    ("python_flags", ["-c", "print()"], "options of Python such as '-W', 'error::FutureWarning'"),
    ("python_flags", ["-W"], "options of Python"),
    ("python_flags", "-W error", "a list of strings"),
    ("expects", ["timeout"], "one of exception"),
    ("level", "notebook", "one of script, model"),
    ("strategy", "horovod", "one of mirrored, multi-worker, tpu, parameter-server"),
    ("strategy", ["mirrored"], "one of mirrored"),
    ("replicas", 0, "a whole number from 1"),
    ("replicas", True, "a whole number from 1"),
    ("replicas", "2", "a whole number from 1"),
    ("replicas", 2.0, "a whole number from 1"),
    ("repeats", -1, "a whole number from 1"),
    ("seed", -1, "a whole number from 0 to 2**32 - 1"),
    ("seed", 2**32, "a whole number from 0 to 2**32 - 1"),
    ("seed", False, "a whole number from 0 to 2**32 - 1"),
    ("timeout_seconds", 0, "seconds, above 0 and at most 86400"),
    ("timeout_seconds", 86_401, "seconds, above 0 and at most 86400"),
    ("timeout_seconds", float("nan"), "seconds, above 0 and at most 86400"),
    ("timeout_seconds", True, "seconds, above 0 and at most 86400"),
    ("timeout_seconds", "60", "seconds, above 0 and at most 86400"),
    ("tolerance", -1e-3, "a relative tolerance such as 1e-3, or 'not compared'"),
    ("tolerance", float("inf"), "a relative tolerance such as 1e-3, or 'not compared'"),
    ("tolerance", float("nan"), "a relative tolerance such as 1e-3, or 'not compared'"),
    ("tolerance", "loose", "a relative tolerance such as 1e-3, or 'not compared'"),
    ("tolerance", True, "a relative tolerance such as 1e-3, or 'not compared'"),
    ("fixes", "none", "a list of strings"),
    ("files", "cells.csv", "a list of strings"),
    ("runner", "nose", "one of script, pytest, unittest, main, command"),
    ("fit", ["epochs"], "a table of numbers, strings and booleans"),
    ("fit", {"epochs": [1]}, "a table of numbers, strings and booleans"),
    ("fit", {"since": date(2025, 1, 1)}, "a table of numbers, strings and booleans"),
    ("parameters", ["fault"], "a table of parameter = [default, other, ...]"),
    ("workarounds", ["on-read"], "a table of workarounds by name"),
    ("claims", {"says": "s"}, "a list of tables ([[tool.harness.claims]])"),
]
BAD_PARTS = [
    ("env", {"HARNESS_HOME": "/x"}, "env.HARNESS_HOME", "NAME = 'value', and no name that begins with HARNESS_"),
    ("env", {"A": 1}, "env.A", "NAME = 'value', and no name that begins with HARNESS_"),
    ("env", {"A B": "1"}, "env.A B", "NAME = 'value', and no name that begins with HARNESS_"),
    ("tolerance", {"metric": "loose"}, "tolerance.metric", "a relative tolerance such as 1e-3, or 'not compared'"),
    ("tolerance", {"loss": 1}, "tolerance.loss", "only 'metric' and 'weights'"),
    ("parameters", {"fault": "on"}, "parameters.fault", "a list of strings"),
    ("parameters", {"fault": []}, "parameters.fault", "a Python identifier with at least one value"),
    ("parameters", {"not a name": ["on"]}, "parameters.not a name", "a Python identifier with at least one value"),
    (
        "workarounds",
        {"x": 3},
        "workarounds.x",
        "a table with title and no other keys than title, options, against, origin",
    ),
    ("workarounds", {"x": {"options": {}}}, "workarounds.x", "a table with title and no other keys"),
    ("workarounds", {"x": {"title": "t", "cost": "1"}}, "workarounds.x", "a table with title and no other keys"),
    ("workarounds", {"x": {"title": "t", "options": ["a"]}}, "workarounds.x.options", "a table of parameter = 'value'"),
    (
        "workarounds",
        {"x": {"title": "t", "against": {"a": 1}}},
        "workarounds.x.against",
        "a table of parameter = 'value'",
    ),
    ("claims", ["s"], "claims[0]", "a table with says and no other keys than says, origin, predicts"),
    ("claims", [{"says": "s"}], "claims[0]", "exactly one of 'predicts' and 'untestable'"),
    (
        "claims",
        [{"says": "a", "predicts": "good"}, {"says": "s", "predicts": "good", "untestable": "no TPU"}],
        "claims[1]",
        "exactly one of 'predicts' and 'untestable'",
    ),
    ("claims", [{"says": "s", "predicts": "fine"}], "claims[0].predicts", "one of good, finite, exception, killed"),
    ("claims", [{"says": "s", "predicts": ["good"]}], "claims[0].predicts", "one of good, finite, exception, killed"),
    ("claims", [{"says": "s", "predicts": "good", "replicas": 0}], "claims[0].replicas", "a whole number from 1"),
    ("claims", [{"says": "s", "predicts": "good", "release": "?"}], "claims[0].release", "a version such as '3.5.0'"),
]


class TestNamesOfTheFirstVersion:
    def test_they_are_read_as_what_they_are_called_now(self):
        made = build(switches={"fault": ["none"]}, remedies={"x": {"title": "t"}})
        assert (made.parameters, made.workarounds) == ({"fault": ("none",)}, (Workaround(name="x", title="t"),))

    def test_extras_are_told_from_the_name(self):
        made = build(package="jax[tpu, cpu]")
        assert (made.package, made.extras) == ("jax", ("cpu", "tpu"))
        assert made.digest != build(package="jax").digest

    def test_the_interpreters_that_a_script_takes(self):
        def read(specifier):
            metadata = {"requires-python": specifier}
            return build_case(name="my", path="my.py", text="text", metadata=metadata, defines_model=False)

        assert read(">=3.8,<3.11").requires_python == ">=3.8,<3.11"
        with pytest.raises(UsageError, match="bad value for 'requires-python': expected versions such as"):
            read("new")

    def test_a_mistake_is_named_as_it_was_written(self):
        assert refusal(switches=3).what.startswith("bad value for 'switches': expected a table of parameter =")

    def test_both_names_at_once_are_refused(self):
        error = refusal(switches={}, parameters={})
        assert (error.what, error.hint) == ("'switches' is the old name of 'parameters'", "keep 'parameters'")


class TestRefusals:
    @pytest.mark.parametrize(("key", "value", "expected"), BAD_VALUES)
    def test_a_bad_value_names_file_key_and_what_was_expected(self, key, value, expected):
        error = refusal(**{key: value})
        assert error.what.startswith(f"bad value for {key!r}: expected {expected}")
        assert error.hint == f"correct {key!r} in the '# /// script' block at the top of the file"

    @pytest.mark.parametrize(("key", "value", "place", "expected"), BAD_PARTS)
    def test_a_bad_part_of_a_table_is_named_by_its_place(self, key, value, place, expected):
        error = refusal(**{key: value})
        assert error.what.startswith(f"bad value for {place!r}: expected {expected}")
        assert error.hint == f"correct {place!r} in the '# /// script' block at the top of the file"

    @pytest.mark.parametrize(
        ("table", "what"),
        [
            ({"seed": -1}, "'seed': expected a whole number from 0 to 2**32 - 1, got -1"),
            (
                {"strategy": "horovod"},
                "'strategy': expected one of mirrored, multi-worker, tpu, parameter-server, got 'horovod'",
            ),
            (
                {"expects": "nan"},
                (
                    "'expects': expected one of exception, killed, timeout, import-error, nonfinite-metric, "
                    "nonfinite-weights, wrong-metric, wrong-weights, changed-value, warning, got 'nan'"
                ),
            ),
            ({"companions": ["numpy", "tensor flow"]}, "'companions': expected requirements such as 'numpy<2.1', got"),
            ({"tolerance": {"x": 1, "loss": 1}}, "'tolerance.loss': expected only 'metric' and 'weights', got {'x': 1"),
            (
                {"claims": [{"says": "it is so", "predicts": "good", "untestable": "no TPU"}]},
                "'claims[0]': expected exactly one of 'predicts' and 'untestable', got 'it is so'",
            ),
            (
                {"claims": [{"says": "s", "predicts": "fine"}]},
                (
                    "'claims[0].predicts': expected one of good, finite, exception, killed, timeout, import-error, "
                    "nonfinite-metric, nonfinite-weights, wrong-metric, wrong-weights, changed-value, warning, got 'fine'"
                ),
            ),
            (
                {"claims": [{"predicts": "good"}]},
                (
                    "'claims[0]': expected a table with says and no other keys than says, origin, predicts, release, "
                    "replicas, options, untestable, got {'predicts': 'good'}"
                ),
            ),
            ({"parameters": {"fault": []}}, "'parameters.fault': expected a Python identifier with at least one value"),
            (
                {"workarounds": {"x": {"title": "t", "options": {"a": 1}}}},
                "'workarounds.x.options': expected a table of parameter = 'value', got {'a': 1}",
            ),
            ({"fit": [1]}, "'fit': expected a table of numbers, strings and booleans, got [1]"),
            ({"workarounds": []}, "'workarounds': expected a table of workarounds by name, got []"),
            ({"claims": {}}, "'claims': expected a list of tables ([[tool.harness.claims]]), got {}"),
            ({"parameters": []}, "'parameters': expected a table of parameter = [default, other, ...], got []"),
            (
                {"parameters": {"a b": ["x"]}},
                "'parameters.a b': expected a Python identifier with at least one value, got ['x']",
            ),
            ({"tolerance": "x"}, "'tolerance': expected a relative tolerance such as 1e-3, or 'not compared', got 'x'"),
            ({"title": 3}, "'title': expected a non-empty string, got 3"),
            ({"fixes": "x"}, "'fixes': expected a list of strings, got 'x'"),
            ({"companions": ["a", "b c"]}, "'companions': expected requirements such as 'numpy<2.1', got 'b c'"),
            ({"since": "x"}, "'since': expected a version such as '3.5.0', got 'x'"),
            ({"replicas": 0}, "'replicas': expected a whole number from 1, got 0"),
            ({"timeout_seconds": 0}, "'timeout_seconds': expected seconds, above 0 and at most 86400, got 0"),
            ({"workarounds": {"x": {"title": ""}}}, "'workarounds.x.title': expected a non-empty string, got ''"),
            ({"claims": [{"says": "s", "origin": 3}]}, "'claims[0].origin': expected a non-empty string, got 3"),
        ],
    )
    def test_the_whole_message_of_a_bad_value(self, table, what):
        assert refusal(**table).what.startswith(f"bad value for {what}")

    @pytest.mark.parametrize(
        ("key", "value"),
        [
            ("replicas", 1),
            ("repeats", 1),
            ("seed", 0),
            ("timeout_seconds", 86_400),
            ("timeout_seconds", 1e-3),
            ("tolerance", 0),
            ("package", "a"),
            ("package", "a_b.C-9"),
            ("since", "3.5.0rc1"),
            ("level", "script"),
        ],
    )
    def test_the_last_value_that_is_taken(self, key, value):
        assert isinstance(build(**{key: value}), Case)

    def test_numbers_become_what_the_case_declares(self):
        made = build(timeout_seconds=30, tolerance=1)
        assert (type(made.timeout_seconds), type(made.tolerance.metric)) == (float, float)

    @pytest.mark.parametrize("value", ["keras", ["keras", "numpy <"], [3]])
    def test_bad_dependencies_are_named_too(self, value):
        with pytest.raises(UsageError, match="bad value for 'dependencies'") as caught:
            build(dependencies=value)
        assert caught.value.where == "my.py"

    def test_a_backend_brings_its_framework_beside_what_is_named(self):
        made = build(dependencies=["keras", "tensorflow==2.18.1"], backend="jax", env={"A": "1"})
        assert (made.companions, made.env) == (("tensorflow==2.18.1", "jax"), {"A": "1"})
        assert build(dependencies=["keras"], env={"KERAS_BACKEND": "torch"}).companions == ("torch",)

    def test_a_backend_is_named_once(self):
        with pytest.raises(UsageError, match="both 'backend' and KERAS_BACKEND"):
            build(backend="jax", env={"KERAS_BACKEND": "jax"})

    def test_a_table_of_tools_that_is_none_is_named_too(self):
        with pytest.raises(UsageError, match="bad value for 'tool': expected a table, got 3") as caught:
            build_case(name="my", path="my.py", text="", metadata={"tool": 3}, defines_model=True)
        assert caught.value.where == "my.py"

    def test_every_key_that_is_checked_has_a_bad_value_here(self):
        """A key that nobody tries to break is a key whose message nobody has read."""
        with pytest.raises(UsageError) as caught:
            build(nonsense=1)
        known = (caught.value.hint or "").removeprefix("known keys: ").split(", ")
        assert set(known) == {key for key, *_ in (*BAD_VALUES, *BAD_PARTS)}

    def test_an_unknown_key_suggests_the_near_one_and_lists_all(self):
        error = refusal(timeout=3)
        assert error.what == "unknown key 'timeout' in [tool.harness]"
        assert (error.hint or "").startswith("did you mean 'timeout_seconds'? known keys: backend, claims, ")
        assert refusal(zzz=3, nonsense=1).what == "unknown key 'nonsense' in [tool.harness]"

    @given(
        key=st.sampled_from(sorted({key for key, *_ in BAD_VALUES})),
        value=st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dates(),
            lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
            max_leaves=6,
        ),
    )
    def test_whatever_toml_can_hold_is_read_or_refused_by_its_key(self, key, value):
        """No value of any key ends in another error than one that names the file and the key."""
        try:
            made = build(**{key: value})
        except UsageError as error:
            assert error.where == "my.py"
            assert error.what.startswith((f"bad value for '{key}", f'bad value for "{key}'))  # as repr quotes it
            assert len(error.what) < 400
        else:
            assert isinstance(made, Case)


def test_what_stands_in_the_case_and_beside_it_is_refused():
    claims = [{"says": "it is finite", "predicts": "finite"}]
    with pytest.raises(UsageError) as caught:
        build_case(
            name="my",
            path="my.py",
            text="text",
            metadata={"tool": {"harness": {"claims": claims}}},
            defines_model=True,
            claims={"claims": claims},
            claims_path="my.claims.toml",
        )
    assert caught.value.what == "'claims' is given in the case and beside it"
    assert caught.value.where == "my.py and my.claims.toml"

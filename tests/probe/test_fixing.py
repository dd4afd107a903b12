"""A fix is loaded from its file and called; only three answers count."""

from __future__ import annotations

import pytest

from harness.probe import fixing


@pytest.fixture
def apply(tmp_path):
    """Apply a fix whose function has this body."""

    def run(body, **options):
        path = tmp_path / "my_fix.py"
        path.write_text(f"def apply({', '.join(options)}):\n    {body}\n")
        return fixing.apply({"name": "my-fix", "path": str(path), "options": options})

    return run


@pytest.mark.parametrize("outcome", fixing.OUTCOMES)
def test_an_outcome_counts_alone_or_with_a_sentence(apply, outcome):
    assert apply(f"return {outcome!r}") == {"name": "my-fix", "outcome": outcome, "detail": ""}
    assert apply(f"return {outcome!r}, 'why'") == {"name": "my-fix", "outcome": outcome, "detail": "why"}


@pytest.mark.parametrize(
    "answer",
    ["42", "None", "'Applied'", "True", "('applied',)", "('applied', 'a', 'b')", "['applied', 'a']", "b'absent'"],
)
def test_any_other_answer_is_refused(apply, answer):
    found = apply(f"return {answer}")
    assert found["outcome"] == "refused"
    assert found["detail"].startswith("apply() returned ")
    assert found["detail"].endswith(", expected one of applied, absent, refused")


def test_an_answer_without_end_is_cut(apply):
    assert len(apply("return 'applied', 'x' * 10_000")["detail"]) == fixing.DETAIL_LIMIT
    assert len(apply("return 'x' * 10_000")["detail"]) < 300


def test_options_are_its_arguments(apply):
    assert apply("return 'applied', f'{key} -> {value}'", key="sum", value="NONE")["detail"] == "sum -> NONE"


def test_what_it_raises_ends_the_trial(apply):
    with pytest.raises(ZeroDivisionError):
        apply("return 1 / 0")


def test_a_file_that_is_no_module_is_named(tmp_path):
    path = tmp_path / "fix.txt"
    path.write_text("def apply(): ...")
    with pytest.raises(ImportError, match=r"cannot load the fix .*fix\.txt"):
        fixing.apply({"name": "text", "path": str(path), "options": {}})

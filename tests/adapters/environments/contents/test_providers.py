"""One module, one distribution, by what the wheels hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.local_index import LocalIndex
from tests.toy_runs import Harness, Outcome
from tests.toys import Toy

PLAIN = "import sys\nimport toytuner\nimport toyflow\nsys.exit(toytuner.check())\n"


def searched(harness_run: Harness, folder: Path, *pins: str, more: Sequence[str] = ()) -> Outcome:
    script = folder / "plain.py"
    script.write_text(PLAIN)
    with_pins = [word for pin in pins for word in ("--with", pin)]
    words = ("bisect", script, "--package", "toytuner", "--from", "1.0", "--to", "1.2", "--json", "--jobs", "1")
    return harness_run(*words, *with_pins, *more)


def flows(*versions: str) -> list[Toy]:
    names = ("toyflow", "toyflow-cpu")
    return [Toy(name=name, module="toyflow", version=version) for version in versions for name in names]


def tuners(requirement: str) -> list[Toy]:
    return [
        Toy(name="toytuner", version="1.0", requires=(requirement,)),
        Toy(name="toytuner", version="1.1"),
        Toy(name="toytuner", version="1.2", requires=(requirement,), source="def check(): return 1"),
    ]


def test_what_was_asked_for_stands_in_for_what_a_release_requires(
    tmp_path: Path, index: LocalIndex, harness_run: Harness
) -> None:
    """keras-tuner asks for tensorflow beside tensorflow-cpu; they lay over each other and were skip."""
    index.publish([*flows("2.0", "2.1"), *tuners("toyflow>=2.0")])
    ended = searched(harness_run, tmp_path, "toyflow-cpu==2.0")
    assert ended.verdicts == {"1.0": "good", "1.1": "good", "1.2": "bad"}
    assert ended.report["environment"]["companions"] == ["toyflow-cpu==2.0"]
    (told,) = [one for one in ended.report["conclusion"]["caveats"] if "stands in for" in one]
    assert told == "1.0 (and 1 more): toyflow-cpu 2.0 stands in for toyflow: they bring the same module."


def test_what_stands_in_must_be_a_version_that_is_required(
    tmp_path: Path, index: LocalIndex, harness_run: Harness
) -> None:
    index.publish([*flows("2.0", "2.1"), *tuners("toyflow>=2.0")[:2], *tuners("toyflow>=2.1")[2:]])
    ended = searched(harness_run, tmp_path, "toyflow-cpu==2.0")
    assert ended.verdicts == {"1.0": "good", "1.1": "good", "1.2": "skip"}
    assert "toyflow" in ended.reasons["1.2"]


def test_a_shared_word_is_no_shared_module(tmp_path: Path, index: LocalIndex, harness_run: Harness) -> None:
    index.publish(
        [Toy(name="toyflow", version="2.0"), Toy(name="toyflow-data", version="2.0"), *tuners("toyflow-data")]
    )
    ended = searched(harness_run, tmp_path, "toyflow==2.0")
    assert ended.verdicts == {"1.0": "good", "1.1": "good", "1.2": "bad"}
    assert not [one for one in ended.report["conclusion"]["caveats"] if "stands in for" in one]


def test_extras_of_the_package_under_test_are_installed(
    tmp_path: Path, index: LocalIndex, harness_run: Harness
) -> None:
    index.publish([*flows("2.0"), *tuners('toyflow ; extra == "flow"')])
    script = tmp_path / "plain.py"
    script.write_text(PLAIN)
    words = ("bisect", script, "--from", "1.0", "--to", "1.2", "--json", "--jobs", "1", "--package")
    assert "there is no module 'toyflow'" in harness_run(*words, "toytuner").err
    index.publish([Toy(name="toytuner", version="1.1.1", requires=('toyflow ; extra == "flow"',))])
    index.withdraw("toytuner", "1.1")
    ended = harness_run(*words, "toytuner[flow]")
    assert ended.verdicts["1.0"] == "good"
    assert ended.verdicts["1.2"] == "bad"


def test_an_override_lays_the_pin_of_another_package_aside(
    tmp_path: Path, index: LocalIndex, harness_run: Harness
) -> None:
    index.publish([*flows("2.0")[:1], *tuners("toyflow<2")[:1], *tuners("toyflow<2")[2:]])
    index.publish([Toy(name="toyflow", version="1.0")])
    plain = searched(harness_run, tmp_path, "toyflow==2.0")
    assert plain.code == 2
    ended = searched(harness_run, tmp_path, more=("--override", "toyflow==2.0"))
    assert ended.verdicts == {"1.0": "good", "1.2": "bad"}
    assert ended.report["environment"]["companions"] == ["toyflow==2.0"]
    assert any("toyflow==2.0 was laid aside" in one for one in ended.report["conclusion"]["caveats"])
    assert "--override toyflow==2.0" in ended.report["reproduce"]


def test_the_package_under_test_may_be_overridden_by_its_name(
    tmp_path: Path, index: LocalIndex, harness_run: Harness
) -> None:
    """TensorFlow pins protobuf below 6; a search of protobuf beside it goes on all the same."""
    index.publish([*flows("1.0", "2.0"), Toy(name="toytuner", version="1.0", requires=("toyflow<2",))])
    script = tmp_path / "plain.py"
    script.write_text("import sys\nimport toyflow, toytuner\nsys.exit(toyflow.__version__ == '2.0')\n")
    words = ("bisect", script, "--package", "toyflow", "--from", "1.0", "--to", "2.0", "--json", "--jobs", "1")
    beside = ("--with", "toytuner==1.0")
    assert harness_run(*words, *beside).verdicts == {"1.0": "good", "2.0": "skip"}
    assert harness_run(*words, *beside, "--override", "toyflow").verdicts == {"1.0": "good", "2.0": "bad"}
    refused = harness_run(*words, *beside, "--override", "toyflow==2.0")
    assert (refused.code, "toyflow alone" in refused.err) == (2, True)

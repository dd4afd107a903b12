"""Cases found and read; whatever is written in one, it is a case or one clear refusal."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.adapters.storage import case_files
from harness.domain.cases.case import Case, Level
from harness.domain.errors import UsageError

HEAD = "# /// script\n# [tool.harness]\n# title = 'x'\n# ///\n"


def write(folder: Path, text: str, name: str = "mine.py") -> str:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_name_is_looked_up_in_the_working_folder_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "repro_cases").mkdir()
    write(tmp_path / "repro_cases", HEAD, "identity.py")
    monkeypatch.chdir(tmp_path)
    assert case_files.read("identity").title == "x"


def test_near_names_are_offered() -> None:
    with pytest.raises(UsageError, match="unknown case 'identiti'") as failure:
        case_files.read("identiti")
    assert "did you mean identity" in str(failure.value)


def test_model_and_data_make_a_model_case(tmp_path: Path) -> None:
    assert case_files.read(write(tmp_path, HEAD)).level is Level.SCRIPT
    text = HEAD + "def model(): ...\ndef data(): ...\n"
    assert case_files.read(write(tmp_path, text)).level is Level.MODEL


def test_package_stands_in_for_metadata(tmp_path: Path) -> None:
    assert case_files.read(write(tmp_path, "print(1)\n"), package="toykeras").package == "toykeras"
    assert case_files.read(write(tmp_path, HEAD), package="toykeras").title == "x"


CLAIMS = """
[workarounds.root_floor]
title = "a floor under the root"
options = { floor = "1e-6" }

[[claims]]
says = "silence gives NaN"
predicts = "nonfinite-metric"
"""


class TestClaimsBesideACase:
    def test_they_are_read_with_it(self, tmp_path: Path) -> None:
        write(tmp_path, CLAIMS, "mine.claims.toml")
        read = case_files.read(write(tmp_path, HEAD))
        assert [one.name for one in read.workarounds] == ["root_floor"]
        assert [one.says for one in read.claims] == ["silence gives NaN"]

    def test_another_sentence_is_no_other_question(self, tmp_path: Path) -> None:
        write(tmp_path, CLAIMS, "mine.claims.toml")
        path = write(tmp_path, HEAD)
        before = case_files.read(path)
        write(tmp_path, CLAIMS.replace("silence gives", "a silent clip gives"), "mine.claims.toml")
        after = case_files.read(path)
        assert after.claims != before.claims
        assert after.digest == before.digest

    def test_the_names_of_the_first_version_are_read_in_the_case(self, tmp_path: Path) -> None:
        inline = "# switches.fault = ['none']\n# remedies.x.title = 't'\n# claims = [{says = 's', predicts = 'good'}]\n# ///\n"
        read = case_files.read(write(tmp_path, HEAD[: -len("# ///\n")] + inline))
        assert dict(read.parameters) == {"fault": ("none",)}
        assert [one.name for one in read.workarounds] == ["x"]
        assert [one.says for one in read.claims] == ["s"]

    @pytest.mark.parametrize(
        ("text", "what", "hint"),
        [
            ("[[claim]]\n", "unknown table 'claim'", "did you mean 'claims'? use [workarounds.NAME] and [[claims]]"),
            ("claims = [", "the metadata is not TOML: ", "correct it"),
            ("[[claims]]\n", "bad value for 'claims[0]': expected a table with says", "correct 'claims[0]'"),
            (
                "[workarounds.x]\n",
                "bad value for 'workarounds.x': expected a table with title",
                "correct 'workarounds.x'",
            ),
        ],
    )
    def test_a_mistake_is_named_with_that_file(self, tmp_path: Path, text: str, what: str, hint: str) -> None:
        path = write(tmp_path, text, "mine.claims.toml")
        with pytest.raises(UsageError) as caught:
            case_files.read(write(tmp_path, HEAD))
        assert caught.value.what.startswith(what)
        assert (caught.value.where, caught.value.hint) == (path, hint)

    def test_what_stands_in_both_places_is_refused(self, tmp_path: Path) -> None:
        beside = write(tmp_path, CLAIMS, "mine.claims.toml")
        path = write(tmp_path, HEAD[: -len("# ///\n")] + "# claims = []\n# ///\n")
        with pytest.raises(UsageError, match="'claims' is given in the case and beside it") as caught:
            case_files.read(path)
        assert caught.value.where == f"{path} and {beside}"


REFUSED = {
    "a list as tool": "# /// script\n# tool = [1]\n# ///\n",
    "a number as tool": "# /// script\n# tool = 7\n# ///\n",
    "a string as harness": "# /// script\n# tool.harness = 'x'\n# ///\n",
    "deep toml": "# /// script\n# x = " + "[" * 20_000 + "]" * 20_000 + "\n# ///\n",
    "deep python": HEAD + "(" * 50_000 + ")" * 50_000,
    "deep unary": HEAD + "x = " + "-" * 100_000 + "1",
    "null byte": HEAD + "\0",
    "not closed": "# /// script\n# [tool.harness]\n",
    "a thousand openings": "# /// script\n" * 70_000,
    "two blocks": HEAD + "\n" + HEAD,
    "a package that is a path": "# /// script\n# [tool.harness]\n# package = '../../etc'\n# ///\n",
}


@pytest.mark.parametrize("package", [None, "toykeras"])
@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_is_no_case_is_refused_with_file_and_advice(tmp_path: Path, text: str, package: str | None) -> None:
    if package and "package = " in text:
        pytest.skip("--package stands in for it")
    with pytest.raises(UsageError) as failure:
        case_files.read(write(tmp_path, text), package=package)
    assert failure.value.where
    assert failure.value.hint


def test_binary_large_and_missing_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "large.py").write_bytes(b"#" * 1_000_001)
    (tmp_path / "folder.py").mkdir()
    for name in ("binary.py", "large.py", "folder.py", "missing.py"):
        with pytest.raises(UsageError):
            case_files.read(str(tmp_path / name))


values = st.recursive(
    st.sampled_from(
        ["1", "-1", "1e400", "nan", "true", "'x'", "''", "[]", "{}", "1979-05-27", "'toykeras'", "'killed'"]
    )
    | st.text(st.characters(exclude_categories=["C", "Z"]), max_size=8).map(repr),
    lambda inner: (
        st.lists(inner, max_size=3).map(lambda items: f"[{', '.join(items)}]")
        | inner.map(lambda value: f"{{a = {value}}}")
    ),
    max_leaves=4,
)
KEYS = (
    "claims", "companions", "data_packages", "expects", "fit", "fixes", "level", "origin", "package", "parameters",
    "remedies", "repeats", "replicas", "seed", "since", "strategy", "switches", "timeout_seconds", "title", "tolerance",
    "workarounds", "nosuch",
)  # fmt: skip
tables = st.dictionaries(st.sampled_from(KEYS), values, max_size=4).map(
    lambda rows: "".join(f"# {key} = {value}\n" for key, value in rows.items())
)
bodies = st.sampled_from(["", "def model(): ...\ndef data(): ...\n", "x = (", "\f", "import this"])


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(table=tables | st.text(max_size=60), body=bodies | st.text(max_size=40))
def test_any_metadata_is_a_case_or_refused(tmp_path: Path, table: str, body: str) -> None:
    text = f"# /// script\n# [tool.harness]\n{table}# ///\n{body}"
    path = tmp_path / "mine.py"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        read = case_files.read(str(path))
    except UsageError as refused:
        assert refused.where
    else:
        assert isinstance(read, Case)
        assert read.timeout_seconds > 0

"""The package under test as files: read from an environment, copied, and replaced in the copy alone."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from harness.adapters.trials.trees import laid_over, overlay, package_folder, read_tree
from harness.domain.errors import HarnessError, UsageError
from harness.domain.trials.trial import Environment
from tests.examples import case

TOY = case(package="toy")


@pytest.fixture
def environment(tmp_path: Path) -> Environment:
    """An environment with a package of three files, of which one is no UTF-8."""
    site = tmp_path / "env" / "lib" / "python3.11" / "site-packages"
    for name, content in {
        "toy/__init__.py": b"from toy.src.core import value\n",
        "toy/src/core.py": b"value = 1\r\n",
        "toy/data.bin": b"\xff\x00",
        "toy/__pycache__/core.pyc": b"",
        "other/__init__.py": b"",
    }.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_bytes(content)
    return Environment(key="k", executable=str(tmp_path / "env" / "bin" / "python"), python="3.11", lock=())


class TestReadTree:
    def test_it_has_every_file_of_the_package_and_no_byte_code(self, environment: Environment):
        assert read_tree(environment, TOY) == {
            "toy/__init__.py": "from toy.src.core import value\n",
            "toy/src/core.py": "value = 1\r\n",
            "toy/data.bin": "\udcff\0",
        }

    def test_a_compiled_package_is_refused(self, environment: Environment):
        (package_folder(environment, TOY) / "fast.so").write_bytes(b"")
        with pytest.raises(UsageError, match=r"toy is compiled \(fast.so and 0 more\): its lines cannot be changed"):
            read_tree(environment, TOY)

    def test_a_package_without_a_folder_is_refused(self, environment: Environment):
        with pytest.raises(UsageError, match="six installs no folder six"):
            read_tree(environment, case(package="six"))
        with pytest.raises(HarnessError, match="six is not a folder"):
            package_folder(environment, case(package="six"))


class TestOverlay:
    def test_its_name_is_that_of_its_content(self):
        one, same = (overlay({"a": "1", "b": None}, measured=False) for _ in range(2))
        others = [overlay({"a": "1"}, measured=False), overlay({"a": "1", "b": ""}, measured=False)]
        assert one == same
        assert len({fix.digest for fix in (one, *others, overlay({"a": "1", "b": None}, measured=True))}) == 4

    def test_files_are_replaced_in_the_copy_alone(self, environment: Environment, tmp_path: Path):
        before = read_tree(environment, TOY)
        fix = overlay({"toy/src/core.py": "\udcfe\n", "toy/data.bin": None, "toy/new/x.py": ""}, measured=False)
        tree = laid_over(fix, package_folder(environment, TOY), tmp_path / "scratch")
        copied = {p.relative_to(tree).as_posix(): p.read_bytes() for p in tree.rglob("*") if p.is_file()}
        assert copied == {
            "toy/__init__.py": before["toy/__init__.py"].encode(),
            "toy/src/core.py": b"\xfe\n",
            "toy/__pycache__/core.pyc": b"",
            "toy/new/x.py": b"",
        }
        assert read_tree(environment, TOY) == before

    def test_nothing_replaced_is_the_package_itself(self, environment: Environment, tmp_path: Path):
        tree = laid_over(replace(overlay({}, measured=True)), package_folder(environment, TOY), tmp_path / "scratch")
        assert (tree / "toy" / "src" / "core.py").read_bytes() == b"value = 1\r\n"

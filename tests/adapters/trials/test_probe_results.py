"""What a probe wrote is held against what was asked of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.domain.errors import HarnessError, InfrastructureError, Untestable
from tests.adapters.toy_environment import ToyEnvironment


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("raise ImportError('planted: libtoy.so')", "ImportError: planted: libtoy.so"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("import os; os.kill(os.getpid(), 11)", "killed by SIGSEGV while importing"),
        ("import os; os._exit(0)", "it printed nothing"),
        ("import os; print('gone'); os.close(1); os._exit(4)", "cannot be imported"),
        ("class E(Exception):\n def __str__(self): raise SystemError\nraise E", "cannot be shown"),
    ],
)
def test_a_release_that_cannot_be_imported_is_untestable_with_its_reason(
    toys: ToyEnvironment, source: str, expected: str
) -> None:
    toys.installs(source)
    with pytest.raises(Untestable) as refused:
        toys.see("pass")
    assert expected in refused.value.what


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import os; os.kill(os.getpid(), 9)", "memory ran out"),
        (
            "import sys; sys.stderr.write('OSError: [Errno 28] No space left on device\\n'); import os; os._exit(1)",
            "disk",
        ),
    ],
)
def test_a_machine_that_fails_while_importing_is_no_skip(toys: ToyEnvironment, source: str, expected: str) -> None:
    toys.installs(source)
    with pytest.raises(InfrastructureError, match=expected):
        toys.see("pass")


def test_a_machine_that_fails_once_is_asked_again(toys: ToyEnvironment, tmp_path: Path) -> None:
    flag = str(tmp_path / "flag")
    toys.installs(f"import os\nif not os.path.exists({flag!r}): open({flag!r}, 'w'); os.kill(os.getpid(), 9)\n")
    assert toys.see("pass").ending.exit_code == 0


def test_another_version_than_asked_for_is_our_fault(toys: ToyEnvironment) -> None:
    toys.installs("__version__ = '2.0'")
    with pytest.raises(HarnessError, match=r"environment of 1.0 imports toykeras 2.0") as failure:
        toys.see("pass")
    assert type(failure.value) is HarnessError


def test_a_red_canary_comes_first_and_each_time(toys: ToyEnvironment, tmp_path: Path) -> None:
    toys.installs("__version__ = '1.0'\nSequential = None")
    for _ in range(2):
        with pytest.raises(Untestable, match="canary"):
            toys.see(f"open({str(tmp_path / 'ran')!r}, 'w')")
    assert not (tmp_path / "ran").exists()

"""Runs tests by unittest: ``unittest_runner.py FILE ARGUMENT...``.

It leaves with 1 where a test failed, 125 where all were skipped or expected to fail, and 5 where there is none. A file
that cannot be imported fails as it does under ``python FILE``.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import types
import unittest

SKIPPED = 125
NO_TESTS = 5


def main(path: str, arguments: list[str]) -> int:
    """Run the tests of a file and return the exit code."""
    sys.argv[:] = [path, *arguments]
    sys.path[0] = os.path.dirname(path)  # noqa: PTH120
    result = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromModule(_module(path)))
    failed = [*result.errors, *result.failures]
    left_out = len(result.skipped) + len(result.expectedFailures)
    if failed or result.unexpectedSuccesses:
        print(_first(failed) if failed else "a test that is expected to fail passes", flush=True)
        return 1
    if not result.testsRun and not left_out:
        print("unittest found no test", flush=True)
        return NO_TESTS
    return SKIPPED if left_out >= result.testsRun else 0


def _module(path: str) -> types.ModuleType:
    name = os.path.splitext(os.path.basename(path))[0]  # noqa: PTH119, PTH122
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _first(failed: list[tuple[unittest.TestCase, str]]) -> str:
    """The first failure in one line."""
    test, text = failed[0]
    lines = [line for line in text.splitlines() if line.strip()]
    return f"{len(failed)} failed, first {test.id().rpartition('.')[2]}: {lines[-1] if lines else ''}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))

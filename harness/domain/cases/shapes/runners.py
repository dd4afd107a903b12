"""Which program runs a file, so that what it checks is checked: a file that only defines things is never good."""

from __future__ import annotations

from enum import Enum

from harness.domain.cases.shapes.source import Source
from harness.domain.errors import UsageError


class Runner(str, Enum):
    """What runs a case of the level script."""

    SCRIPT = "script"
    PYTEST = "pytest"
    UNITTEST = "unittest"
    MAIN = "main"
    COMMAND = "command"


TESTERS = (Runner.PYTEST, Runner.UNITTEST)
"""Runners that say with exit code 2 to 5 that the case itself cannot be run."""


MAIN_CALL = "\n__import__('sys').exit((lambda code: code if type(code) is int else 0)(main()))\n"
"""What runs a file whose work stands in ``main()``: a number that it returns is its exit code."""


def choose_runner(source: Source, *, node: str = "") -> Runner | None:
    """Choose what runs a file of which nothing else is said.

    A test that the file itself calls, or a call of ``unittest.main()``, shows that it can be run as a script, but
    neither says which tests were skipped: where tests are all that it does, the program for tests runs it.

    Args:
        source: What the file does.
        node: What of it is asked for, as pytest names it.

    Returns:
        The runner, or None: it defines things and calls none of them.
    """
    if node:
        return Runner.PYTEST
    alone = not source.acts or source.starts_tests
    if source.test_cases and alone:
        return Runner.UNITTEST if not source.tests else Runner.PYTEST
    if source.tests and not source.called.intersection(source.tests) and (alone or not source.checks_itself):
        return Runner.PYTEST
    if source.acts or source.imports_only or not (source.functions or source.classes):
        return Runner.SCRIPT
    return Runner.MAIN if "main" in source.without_arguments else None


def refuse(source: Source, *, path: str) -> UsageError:
    """The error for a file that nothing runs: what it defines, and what to do."""
    named = [f"{name}()" for name in source.functions] + [f"class {name}" for name in source.classes]
    shown = ", ".join(named[:5]) + (f" and {len(named) - 5} more" if len(named) > 5 else "")
    return UsageError(
        f"the case checks nothing: it defines {shown} and calls none of it",
        where=path,
        hint="call it at the end of the file, name a check test_..., put all of it into main(), "
        'or say what runs it: [tool.harness] runner = "pytest"',
    )

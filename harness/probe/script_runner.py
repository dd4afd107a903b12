"""Runs a script from a private copy as if it were run in its own place: ``script_runner.py COPY PLACE ARGUMENT...``.

The text that runs is the one that was read and hashed, whatever becomes of the user's file meanwhile. ``__file__``,
``sys.argv[0]``, ``sys.path[0]`` (so what lies beside it can be imported) and tracebacks are those of the user's file.
Only a process that reads ``__file__`` again (``multiprocessing`` with the start method spawn) meets the file itself.
"""

from __future__ import annotations

import builtins
import importlib.machinery
import os
import sys
import types

MEASURED = "HARNESS_MEASURED"
"""Variable with the folder of the copy under test and the file that notes what is imported from it."""


def main(copy: str, place: str, arguments: list[str]) -> None:
    """Run the copy of a script as ``__main__``."""
    with open(copy, "rb") as file:  # noqa: PTH123
        source = file.read()
    _note_at_exit()
    sys.argv[:] = [place, *arguments]
    sys.path[0] = os.path.dirname(os.path.realpath(place))  # noqa: PTH120
    module = types.ModuleType("__main__")
    loader = importlib.machinery.SourceFileLoader("__main__", place)
    vars(module).update(__file__=place, __builtins__=builtins, __loader__=loader, __cached__=None)
    sys.modules["__main__"] = module
    sys.excepthook = _Tracebacks(place, source)
    exec(compile(source, place, "exec", dont_inherit=True), vars(module))  # noqa: S102


def note_imports(folder: str, noted: str) -> None:
    """Add the files below a folder whose modules are imported now to a file of names, one a line."""
    below = os.path.join(os.path.realpath(folder), "")  # noqa: PTH118
    files = [
        getattr(module, "__dict__", {}).get("__file__") for module in list(sys.modules.values())
    ]  # wakes no lazy one
    places = {os.path.realpath(file) for file in files if isinstance(file, str)}
    own = sorted(place[len(below) :] for place in places if place.startswith(below))
    with open(noted, "a", encoding="utf-8") as file:  # noqa: PTH123
        file.writelines(f"{name}\n" for name in own)


def _note_at_exit() -> None:
    """Where the trial is measured, note what the script has imported when it ends; a script that is killed does not."""
    measured = os.environ.pop(MEASURED, "")
    if measured:
        import atexit

        atexit.register(note_imports, *measured.split(os.pathsep))


class _Tracebacks:
    """Prints an exception as the interpreter does, with lines of the copy and without this module's own frame."""

    def __init__(self, place: str, source: bytes) -> None:
        self.place, self.source = place, source

    def __call__(self, kind: type[BaseException], error: BaseException, traceback: types.TracebackType | None) -> None:
        while traceback is not None and traceback.tb_frame.f_code.co_filename == __file__:
            traceback = traceback.tb_next
        if issubclass(kind, KeyboardInterrupt):
            # The interpreter then leaves by SIGINT, unless Python code runs that evaluates a text, as imports may.
            sys.__excepthook__(kind, error.with_traceback(traceback), traceback)
            return
        import linecache
        import traceback as printing

        lines = self.source.decode("utf-8", "replace").splitlines(keepends=True)
        linecache.cache[self.place] = (len(self.source), None, lines, self.place)
        if isinstance(error, SyntaxError) and error.filename == self.place:
            error.text = next(iter(lines[(error.lineno or 1) - 1 :]), error.text)
        printing.print_exception(kind, error, traceback)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])

"""A case as one script for an upstream issue: its own code, and a comparison that needs nothing of the harness."""

from __future__ import annotations

import ast
import math
import pprint
import re
from collections.abc import Mapping, Sequence

from harness.domain.cases.case import Case, Level
from harness.domain.cases.inline_metadata import metadata_text
from harness.domain.errors import UsageError
from harness.domain.trials.exported_case import ExportedCase
from harness.reporting.templating import environment
from harness.reporting.text import clean

OPENS, CLOSES = "# /// script", "# ///"
IMPORT_SECONDS = 120  # added to the case's deadline: each run imports the framework anew
TEMPLATES = {Level.MODEL: "export_model.txt", Level.SCRIPT: "export_script.txt"}


def script(export: ExportedCase) -> str:
    """Return the whole script.

    Raises:
        UsageError: the strategy is none of one process, so that no single script can show it.
    """
    case, variant = export.case, export.variant
    if case.level is Level.MODEL and variant.strategy not in ("none", "mirrored"):
        raise UsageError(
            f"the strategy {variant.strategy!r} cannot be exported as one script",
            where=case.path,
            hint="export it with --strategy mirrored, or write the case as a script",
        )
    head, body = parts(case)
    text = (
        environment()
        .get_template(TEMPLATES[case.level])
        .render(
            export=export,
            head=head,
            body=body,
            pins=" ".join(f"'{pin}'" if re.search(r"[<>!;\[ ]", pin) else pin for pin in export.pins),
            origin=[clean(url) for url in case.origin],
            data_call=call(case, "data", variant.options),
            model_call=call(case, "model", variant.options),
            arguments=" ".join(f"--{name}={value}" for name, value in variant.options),
            import_seconds=IMPORT_SECONDS,
            fit=literal(case.fit),
            metric=_tolerance(case.tolerance.metric),
            weights=_tolerance(case.tolerance.weights),
            library=f"{case.import_name}.keras" if case.import_name == "tensorflow" else case.import_name,
        )
    )
    return re.sub(r"\n{4,}", "\n\n\n", text).rstrip() + "\n"


def parts(case: Case) -> tuple[str, str]:
    """Split a case into what stands before its metadata block and what stands behind it, without block and main."""
    lines = case.text.splitlines(keepends=True)
    if case.level is Level.MODEL:
        for first, last in reversed(_main_blocks(case.text)):
            del lines[first:last]
    metadata = metadata_text(case.text, where=case.path)
    if metadata is None:
        return "", "".join(lines).strip("\n")
    kept = [line.rstrip("\n") for line in lines]
    length = metadata.count("\n") + 2  # with the lines that open and close it
    first = next(n for n in range(len(kept)) if kept[n] == OPENS and kept[n + length - 1 : n + length] == [CLOSES])
    return "\n".join(kept[:first]).strip("\n"), "\n".join(kept[first + length :]).strip("\n")


def _main_blocks(text: str) -> list[tuple[int, int]]:
    """Lines of each ``if __name__ == "__main__":`` at the top level."""
    tests = [node for node in ast.parse(text).body if isinstance(node, ast.If) and _is_main_guard(node)]
    return [(node.lineno - 1, node.end_lineno or node.lineno) for node in tests]


def _is_main_guard(node: ast.If) -> bool:
    return "__name__" in {part.id for part in ast.walk(node.test) if isinstance(part, ast.Name)}


def call(case: Case, function: str, options: Sequence[tuple[str, str]]) -> str:
    """The call of ``model`` or ``data`` with those settings that it names; "" for a script."""
    for node in ast.parse(case.text).body:
        if isinstance(node, ast.FunctionDef) and node.name == function:
            named = {argument.arg for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)}
            arguments = ", ".join(f"{name}={value!r}" for name, value in options if name in named)
            return f"{function}({arguments})"
    return ""


def literal(fit: Mapping[str, bool | int | float | str]) -> str:
    """The options of ``fit`` as Python."""
    return pprint.pformat(dict(fit), width=100, sort_dicts=False)


def _tolerance(value: float | None) -> str:
    return "None" if value is None or math.isinf(value) else repr(value)

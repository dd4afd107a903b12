"""``harness verify-fix CASE``: is the symptom gone, are the values right, does it break something?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from harness.adapters.storage import case_files
from harness.adapters.storage.files import check_output
from harness.adapters.trials.fixes import find, mapping_sweep, patch
from harness.cli import options
from harness.domain.cases import parameters
from harness.domain.cases.case import Level
from harness.domain.cases.symptoms import Symptom
from harness.domain.errors import UsageError
from harness.domain.fixes.fix import Fix
from harness.jobs import fix_range, fixed_in
from harness.reporting.fixes import fix_report
from harness.services import open_services


@click.command("verify-fix")
@click.argument("case_name", metavar="CASE")
@click.option(
    "--fix", "names", multiple=True, metavar="NAME|FILE", help="A named fix or a Python file with apply() (repeatable)."
)
@click.option(
    "--patch",
    "patch_file",
    type=click.Path(path_type=Path),
    default=None,
    help="A diff, applied to a copy of the package.",
)
@click.option(
    "--fixed-in", "cure", default=None, metavar="RELEASE", help="A release, 'nightly', or 'commit:REF' with --clone."
)
@click.option(
    "--clone",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Git clone that has the commit or pull request.",
)
@click.option("--sweep-mapping", "sweep", is_flag=True, help="Try every change of one key of _map_aggregation.")
@options.range_options
@options.environment_options
@options.set_option
@click.option(
    "--symptom",
    "symptoms",
    multiple=True,
    type=click.Choice([s.value for s in Symptom]),
    help="What the fix should cure (default: what the case expects).",
)
@click.option("--replicas", type=click.IntRange(1, 64), default=None, help="Replicas (default: the case's).")
@click.option("--repeats", type=click.IntRange(1, 100), default=None, help="Runs of each trial (default: the case's).")
@click.option("--jobs", type=click.IntRange(1, 64), default=options.default_jobs, help="Releases tried at once.")
@click.option("--output", type=click.Path(path_type=Path, file_okay=False), default=None, help="Folder of the run.")
@click.option(
    "--resume",
    "resumed",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Go on with an earlier run.",
)
@click.option("--fresh", is_flag=True, help="Run everything anew.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON on stdout.")
def command(case_name: str, **given: Any) -> int:
    """Verify a fix of CASE over a range of releases.

    \b
    Exit codes: 0 proven, 3 does not cure, 4 cures the symptom but is not right, 5 inconclusive,
    7 breaks a healthy release, 2 bad usage, 6 environment, index or disk failed.
    """  # noqa: D301 - click wants the character itself
    case = case_files.read(case_name)
    case = replace(case, **{name: given[name] for name in ("replicas", "repeats") if given[name] is not None})
    given["options"] = parameters.parse(case, given["settings"])
    fixes = _fixes(given)
    if fixes and case.level is Level.SCRIPT:
        hint = "use --fixed-in RELEASE, or let the case define model() and data()"
        raise UsageError("a fix cannot be applied inside a script of its own", where=case.path, hint=hint)
    check_output(given["resumed"] or given["output"] or Path("reports"))
    targets = tuple(Symptom(s) for s in given["symptoms"]) or ((case.expects,) if case.expects else ())
    with open_services() as services:
        if given["cure"]:
            report, folder = fixed_in.answer(services, case, targets, given)
        else:
            report, folder = fix_range.answer(services, case, fixes, targets, given)
    if given["as_json"]:
        click.echo(fix_report.json_text(report), nl=False)
    else:
        options.show(fix_report.terminal(report, folder))
    return report.exit_code


def _fixes(given: dict[str, Any]) -> list[Fix]:
    fixes = [find(name) for name in given["names"]]
    fixes += [patch(given["patch_file"])] if given["patch_file"] else []
    fixes += mapping_sweep() if given["sweep"] else []
    if bool(fixes) == bool(given["cure"]):
        raise UsageError(
            "say what should be verified",
            hint="one of --fix NAME, --patch FILE, --sweep-mapping, or --fixed-in RELEASE alone",
        )
    if given["cure"] and fixed_in.is_commit(given["cure"]) and given["clone"] is None:
        hint = "give --clone PATH of a git clone of the package"
        raise UsageError("a commit needs a clone", where="--fixed-in", hint=hint)
    if len({fix.name for fix in fixes}) != len(fixes):
        raise UsageError("two fixes have the same name", where="--fix", hint="rename one of the files")
    return fixes

"""Failures that come from where a case runs: the same in every release, and no word about any of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from harness.domain.cases.case import Case, Level
from harness.domain.cases.shapes.runners import TESTERS
from harness.domain.errors import HarnessError, InfrastructureError, UsageError
from harness.domain.releases.distributions import import_name
from harness.domain.trials.observation import EndingKind, Observation

CASE_ERRORS = (2, 3, 4, 5)
"""Exit codes with which a program for tests says that the file itself cannot be run."""

ENOUGH = 2
"""So many releases that fail alike, and none that does not, are taken for all: a search begins with both ends."""

_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_FILE = re.compile(r"(?:FileNotFoundError|NotADirectoryError|IsADirectoryError): .*?: '([^'\n]+)'")
_DISPLAY = re.compile(
    r"TclError: no display name|couldn't connect to display|could not connect to display|cannot open display"
)
_NETWORK = re.compile(
    r"URLError|gaierror|Name or service not known|Temporary failure in name resolution|Network is unreachable"
    r"|NewConnectionError|Max retries exceeded|Connection refused|getaddrinfo failed"
)


def from_surroundings(case: Case, observation: Observation) -> str:
    """Why a script failed, where that comes from its surroundings; "" for every other end.

    A module is missing there when it is neither part of the package under test nor of TensorFlow or Keras; a file,
    when the case names it. What a release looks for by itself is the release's matter.
    """
    ending = observation.ending
    failed = ending.kind is EndingKind.EXITED and ending.exit_code not in (0, 125)
    if case.level is not Level.SCRIPT or not failed:
        return ""
    last = "\n".join([line for line in observation.output.splitlines() if line.strip()][-1:])
    if (module := _MODULE.search(last)) is not None:
        top = module[1].partition(".")[0]
        known = {case.import_name, import_name("keras"), import_name("tensorflow")}
        return "" if top in known else f"there is no module {top!r}"
    if (file := _FILE.search(last)) is not None:
        name = file[1].rpartition("/")[2]
        return f"there is no {file[1]!r}" if name and name in case.text else ""
    if _DISPLAY.search(last):
        return "it needs a display"
    return f"it needs the network: {last[:200]}" if _NETWORK.search(last) else ""


def case_error(case: Case, observation: Observation) -> str:
    """Why a program for tests could not run the file; "" where it could."""
    if case.runner not in TESTERS or observation.ending.exit_code not in CASE_ERRORS:
        return ""
    last = [line for line in observation.output.splitlines() if line.strip()][-1:]
    return last[0] if last else f"{case.runner.value} left with exit code {observation.ending.exit_code}"


def runs_here(case: Case, observation: Observation) -> bool:
    """Whether a trial says something of its release, whatever the others showed."""
    return not from_surroundings(case, observation) and not case_error(case, observation)


def not_here(case: Case, shown: Mapping[str, Sequence[Observation]], releases: int) -> HarnessError | None:
    """The error for a case that runs in no release, in the same way in each; None as long as one may differ.

    Args:
        case: What was run.
        shown: By release, what its trials showed.
        releases: How many the question ranges over.
    """
    if len(shown) < min(ENOUGH, releases):
        return None
    everything = [one for observations in shown.values() for one in observations]
    where = f"{case.path}, in {' and '.join(list(shown)[:3])}"
    reasons = {from_surroundings(case, one) for one in everything}
    if len(reasons) == 1 and (why := reasons.pop()):
        return InfrastructureError(f"your case does not run here: {why}", where=where, hint=_hint(why))
    errors = {case_error(case, one) for one in everything}
    if len(errors) == 1 and (why := errors.pop()):
        hint = f"run it alone first, with the same program: python -m {case.runner.value} {case.word}"
        return UsageError(f"the case itself cannot be run: {why}", where=where, hint=hint)
    return None


def _hint(why: str) -> str:
    if "module" in why:
        return "add its package with --with NAME==VERSION, or stand in the folder in which the script finds its modules"
    if "display" in why:
        return "draw without one: matplotlib.use('Agg')"
    if "network" in why:
        return "trials have the network of this machine; let the case make its data itself"
    return "stand in the folder in which `python SCRIPT` finds it, or name it: [tool.harness] files = [...]"

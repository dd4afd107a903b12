# /// script
# dependencies = [
#   "nox[uv]>=2025.5.1", "filelock", "packaging", "platformdirs", "pydantic", "pypi-simple", "requests", "tenacity",
#   "tomli>=2; python_version < '3.11'",
# ]
# ///
"""One session per job. `nox -s bisect` runs the main job, `nox -s tests` the tests, `nox -l` lists all."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nox

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT))

nox.options.default_venv_backend = "uv"
nox.options.sessions = ["lint", "types", "tests"]
nox.options.reuse_existing_virtualenvs = True

PURE_TESTS = (
    "tests/domain",
    "tests/histories/test_table.py",
    "tests/histories/test_cut_short.py",
    "tests/reporting",
    "tests/golden",
)
# Tests keep the processors busy, so one worker more than these fills the pauses; each costs ten seconds of collecting.
WORKERS = min(8, 1 + (os.cpu_count() or 1))
FIRST = "3.5.0"  # the oldest release that the newest fixed companions take


def published() -> list[str]:
    """Stable Keras releases from the cached index, newest last; empty, with a warning, without an index."""
    from harness.adapters.index.package_index import PackageIndex
    from harness.adapters.storage.home import Home
    from harness.domain.errors import HarnessError
    from harness.domain.releases.release import stable_timeline

    try:
        page = PackageIndex(Home.default()).page("keras")
    except HarnessError as error:
        print(f"noxfile: the repro sessions cannot be listed: {error}", file=sys.stderr)
        return []
    if page.stale_reason:
        print(f"noxfile: {page.stale_reason}", file=sys.stderr)
    return list(stable_timeline(page.releases, first=FIRST, last="latest").versions)


def install(session: nox.Session, *groups: str) -> None:
    """Install the harness, editable, with dependency groups of pyproject.toml."""
    wanted = [part for group in groups for part in ("--group", group)]
    session.install("-e", ".", *wanted)


RELEASES = published()


@nox.session(tags=["repro"])
@nox.parametrize("keras", RELEASES, ids=RELEASES)
def repro(session: nox.Session, keras: str) -> None:
    """Run all cases (or those named after --) in the isolated environment of one Keras release."""
    install(session)
    session.run("harness", "repro", keras, *session.posargs)


@nox.session
def bisect(session: nox.Session) -> None:
    """Run the main job: identity over all stable releases. Arguments after -- go to `harness bisect` instead."""
    install(session)
    session.run("harness", "bisect", *(session.posargs or ["identity"]), success_codes=[0, 3, 4, 5])


@nox.session
def nightly(session: nox.Session) -> None:
    """Run the newest nightly beside the newest stable release; arguments after -- go to `harness nightly`."""
    install(session)
    session.run("harness", "nightly", *session.posargs, success_codes=[0, 3, 4, 5])


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests; arguments after -- go to pytest."""
    install(session, "tests")
    session.run("pytest", "-n", str(WORKERS), "--dist", "worksteal", *session.posargs)


@nox.session
def coverage(session: nox.Session) -> None:
    """Measure which branches of harness/domain the pure tests take; fails when it is not every one."""
    install(session, "tests")
    session.run("coverage", "run", "--source=harness/domain", "-m", "pytest", *PURE_TESTS)
    session.run("coverage", "report", "--fail-under=100")


@nox.session
def mutation(session: nox.Session) -> None:
    """Change harness/domain in thousands of small ways and count what its tests notice; it goes on where it stopped."""
    install(session, "mutation")
    session.run("mutmut", "run", *session.posargs)
    session.run("mutmut", "export-cicd-stats")


@nox.session
def attack(session: nox.Session) -> None:
    """Disturb 1,500 searches at random and judge each answer; arguments after -- go to tests.faults.attacks instead."""
    install(session, "tests")
    session.run("python", "-m", "tests.faults.attacks", *(session.posargs or ["--count", "1500"]))


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and format with ruff."""
    session.install("--group", "lint")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session
def types(session: nox.Session) -> None:
    """Check types with mypy, strictly."""
    install(session, "types")
    session.run("mypy")


@nox.session
def verify_fix(session: nox.Session) -> None:
    """Verify the well-known workaround on the identity model. Arguments after -- go to `harness verify-fix` instead."""
    install(session)
    asked = session.posargs or ["identity", "--fix", "aggregation-sum-to-none"]
    session.run("harness", "verify-fix", *asked, success_codes=[0, 3, 4, 5, 7])


@nox.session
def calibration(session: nox.Session) -> None:
    """Play thousands of histories and write reports/calibration.md: stated against real confidence."""
    install(session, "tests")
    session.run("python", "-m", "tests.histories.calibration", "reports/calibration.md")


@nox.session
def docs(session: nox.Session) -> None:
    """Write the parts of the documentation that are taken from code and reports anew."""
    install(session)
    session.run("python", "docs/build.py")


@nox.session
def bench(session: nox.Session) -> None:
    """Measure what the design choices are worth, and what size costs: reports/bench.md and scale.md."""
    install(session)
    session.run("python", "-m", "benchmarks.design_choices", "reports/bench.md")
    session.run("python", "-m", "benchmarks.scale", "reports/scale.md")

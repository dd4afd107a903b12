"""The session that builds every environment; carried inside the package.

``harness`` runs it with a recipe named by HARNESS_RECIPE: a JSON file with `key`, `python` (path of an
interpreter), `requirements` (a lock file) and `base` (a site-packages folder to stand on, or "").
HARNESS_PARENT is its process id: a build ends with the harness that asked for it, however that ended.
"""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv"
RECIPE = json.loads(Path(os.environ["HARNESS_RECIPE"]).read_text(encoding="utf-8"))


def _end_with(parent: int) -> None:
    """Kill this process and uv below it, a group of their own, when the parent is gone."""
    while os.getppid() == parent:
        time.sleep(0.2)
    os.killpg(os.getpgrp(), signal.SIGKILL)


if "HARNESS_PARENT" in os.environ:
    threading.Thread(target=_end_with, args=(int(os.environ["HARNESS_PARENT"]),), daemon=True).start()


@nox.session(python=RECIPE["python"])
@nox.parametrize("recipe", [nox.param(RECIPE, id=RECIPE["key"])])
def repro(session: nox.Session, recipe: dict[str, str]) -> None:
    """Install one lock into an environment of its own, exactly and without resolving."""
    session.install("--no-deps", "--compile-bytecode", *recipe["flags"], "-r", recipe["requirements"])
    program = "import sysconfig; print(sysconfig.get_path('purelib'))"
    printed = session.run_install("python", "-I", "-c", program, silent=True, include_outer_env=False)
    site = printed.strip() if isinstance(printed, str) else ""
    if recipe["base"] and site:
        (Path(site) / "_companions.pth").write_text(recipe["base"] + "\n", encoding="utf-8")
    built = {"executable": str(Path(session.bin) / "python"), "site": site}
    Path(recipe["answer"]).write_text(json.dumps(built), encoding="utf-8")

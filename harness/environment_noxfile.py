"""The session that builds every environment; carried inside the package.

``harness`` runs it with a recipe named by HARNESS_RECIPE: a JSON file with `key`, `python` (path of an
interpreter), `requirements` (a lock file) and `base` (a site-packages folder to stand on, or "").
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import nox

nox.options.default_venv_backend = "uv"
RECIPE = json.loads(Path(os.environ["HARNESS_RECIPE"]).read_text(encoding="utf-8"))


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

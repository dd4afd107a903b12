"""Entry point: ``python -I harness/probe/__main__.py REQUEST``.

The folder is loaded as the package ``harness_probe`` without touching ``sys.path``, so that no module of
the harness can shadow one of the target or of the case.
"""

from __future__ import annotations

import importlib.util
import pathlib
import sys


def _load() -> None:
    here = pathlib.Path(__file__).resolve().parent
    spec = importlib.util.spec_from_file_location(
        "harness_probe", here / "__init__.py", submodule_search_locations=[str(here)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load the probe from {here}")
    module = importlib.util.module_from_spec(spec)
    sys.modules["harness_probe"] = module
    spec.loader.exec_module(module)


if __name__ == "__main__":
    _load()
    from harness_probe.zygote import main  # type: ignore[import-not-found]

    main(sys.argv[1])

"""What child processes inherit: a short list, so that no setting of the user leaks into a verdict."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

# Needed to find programs, GPUs, certificates and proxies; none of them changes what a model computes.
INHERITED = (
    "PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT",
    "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "TPU_NAME",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
    "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE",
)  # fmt: skip
CASE_SETTINGS = ("HARNESS_MNIST",)  # read by cases; part of a trial's identity
INSTALLER_PREFIXES = ("UV_", "PIP_INDEX", "PIP_EXTRA_INDEX", "NETRC")


SECRETS = ("GITHUB_TOKEN", "GH_TOKEN")
"""Never inherited by a process of ours; a night that runs nightly code refuses to start beside one, because a child
can read the environment of its parent."""


def for_trial(scratch: Path) -> dict[str, str]:
    """Environment variables of a probe: own HOME, cache and temporary folder, no PYTHON*, KERAS_* or TF_*."""
    kept = {name: os.environ[name] for name in (*INHERITED, *CASE_SETTINGS) if name in os.environ}
    folders = {name: scratch / name for name in ("home", "cache", "tmp")}
    for folder in folders.values():
        folder.mkdir(exist_ok=True)
    return {
        **kept,
        "HOME": str(folders["home"]),
        "XDG_CACHE_HOME": str(folders["cache"]),
        "TMPDIR": str(folders["tmp"]),
        "KERAS_BACKEND": "tensorflow",
        "PYTHONHASHSEED": "0",
        "TF_CPP_MIN_LOG_LEVEL": "2",
    }


def for_installer(extra: Mapping[str, str]) -> dict[str, str]:
    """Environment variables of uv and nox: those of the user that name the index, and no virtual environment."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name in INHERITED
        or name.startswith(INSTALLER_PREFIXES)
        or name in ("HOME", "USER", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")
    }
    dropped = ("UV_PYTHON", "UV_PROJECT_ENVIRONMENT", "UV_FIND_LINKS", "UV_SYSTEM_PYTHON", "UV_NO_VERIFY_HASHES")
    return {**{name: value for name, value in kept.items() if name not in dropped}, **extra}


def case_settings() -> dict[str, str]:
    """Settings of cases that are in force; they are part of what identifies a trial."""
    return {name: os.environ[name] for name in CASE_SETTINGS if name in os.environ}

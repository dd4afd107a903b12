"""What child processes inherit: a short list, so that no setting of the user leaks into a verdict."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from pypi_simple import PYPI_SIMPLE_ENDPOINT

from harness.adapters.index.find_links import local_versions
from harness.adapters.index.settings import for_uv, index_settings
from harness.adapters.processes.accelerators import has_gpu
from harness.adapters.processes.redaction import redacted

# Needed to find programs, GPUs, certificates and proxies; none of them changes what a model computes.
INHERITED = (
    "PATH", "LANG", "LC_ALL", "TZ", "SYSTEMROOT",
    "LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "TPU_NAME",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
    "OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE",
)  # fmt: skip
CASE_SETTINGS = ("HARNESS_MNIST",)  # read by cases; part of a trial's identity
# How to reach the index and where to keep files. What would change the packages themselves (UV_RESOLUTION,
# UV_CONSTRAINT, UV_NO_VERIFY_HASHES, ...) is not handed on, nor UV_LINK_MODE: environments that are
# links to the cache break with it.
INSTALLER = (
    "HOME", "USER", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "NETRC", "PYENV_ROOT",
    "UV_CACHE_DIR", "UV_LOCK_TIMEOUT", "UV_OFFLINE", "UV_INSECURE_HOST", "UV_NATIVE_TLS",
    "UV_SYSTEM_CERTS", "UV_KEYRING_PROVIDER", "UV_CREDENTIALS_DIR", "UV_EXTRA_INDEX_URL", "UV_PYTHON_DOWNLOADS",
    "UV_NO_CONFIG",
)  # fmt: skip
INSTALLER_PREFIXES = ("UV_INDEX", "UV_HTTP_", "UV_CONCURRENT_", "UV_PYTHON_INSTALL_")


TORCH_BACKEND = "UV_TORCH_BACKEND"

SECRETS = ("GITHUB_TOKEN", "GH_TOKEN")
"""Never inherited by a process of ours; a night that runs nightly code refuses to start beside one, because a child
can read the environment of its parent."""


def for_trial(scratch: Path, own: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Environment variables of a probe: own HOME, cache and temporary folder, no PYTHON*, KERAS_* or TF_*.

    `own` are those of the case; they win over all others.

    A variable that holds a credential (a proxy with its password) is left out: a trial runs code of strangers.
    """
    named = {name: os.environ[name] for name in (*INHERITED, *CASE_SETTINGS) if name in os.environ}
    inherited = {name: value for name, value in named.items() if redacted(value) == value}
    folders = {name: scratch / name for name in ("home", "cache", "tmp")}
    for folder in folders.values():
        folder.mkdir(exist_ok=True)
    return {
        **inherited,
        "HOME": str(folders["home"]),
        "XDG_CACHE_HOME": str(folders["cache"]),
        "TMPDIR": str(folders["tmp"]),
        "PYTHONHASHSEED": "0",
        "PYTHONDONTWRITEBYTECODE": "1",  # environments are compiled when they are built, and not changed afterwards
        "TF_CPP_MIN_LOG_LEVEL": "2",
        **own,
    }


def for_installer(extra: Mapping[str, str] = MappingProxyType({})) -> dict[str, str]:
    """Environment variables of uv and nox: those of the user that name the index, and no virtual environment.

    The address of the index may hold a password. It is handed over here and never on a command line, which
    everybody can read and nox prints into its log.
    """
    inherited = {
        name: value
        for name, value in os.environ.items()
        if name in INHERITED or name in INSTALLER or name.startswith(INSTALLER_PREFIXES)
    }
    inherited.pop("UV_INDEX_URL", None)  # the old name of what is set here
    return {**inherited, **_torch_builds(), **for_uv(index_settings()), **extra}


def _torch_builds() -> dict[str, str]:
    """Which builds of torch are wanted: without CUDA where there is no GPU.

    uv then takes torch from the index of PyTorch itself. A user who has an index or wheels of his own is not overruled.
    """
    settings = index_settings()
    own = bool(local_versions("torch") or settings.extra) or settings.default != PYPI_SIMPLE_ENDPOINT
    torch = os.environ.get(TORCH_BACKEND) or ("" if own or has_gpu() else "cpu")
    return {TORCH_BACKEND: torch} if torch else {}


def case_settings() -> dict[str, str]:
    """Settings of cases that are in force; they are part of what identifies a trial."""
    return {name: os.environ[name] for name in CASE_SETTINGS if name in os.environ}

"""The user's index settings for pip and uv: variables first, then ``uv.toml``, then ``pip.conf``."""

from __future__ import annotations

import configparser
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import urlsplit

from pypi_simple import PYPI_SIMPLE_ENDPOINT

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ADDRESS_VARIABLES = ("HARNESS_INDEX_URL", "UV_DEFAULT_INDEX", "UV_INDEX_URL", "PIP_INDEX_URL")
FIND_LINKS_VARIABLES = ("UV_FIND_LINKS", "PIP_FIND_LINKS")
"""uv's is heard before pip's, and both before the files."""
_READ = (
    *ADDRESS_VARIABLES, "UV_INDEX", "UV_EXTRA_INDEX_URL", "PIP_EXTRA_INDEX_URL", *FIND_LINKS_VARIABLES,
    "UV_CONFIG_FILE", "UV_NO_CONFIG", "PIP_CONFIG_FILE", "XDG_CONFIG_HOME", "HOME", "VIRTUAL_ENV",
)  # fmt: skip
_PIP_SECTIONS = ("global", "install")  # the later wins, as in pip


@dataclass(frozen=True, kw_only=True)
class IndexSettings:
    """Where packages come from; addresses may hold passwords.

    Attributes:
        default: Address of the index that has what no other has.
        named_by: The variable or file that names it; "" for the installer's own default.
        extra: Further indexes.
        find_links: Folders and pages with files.
        of_pip: Some of the further ones are pip's, which takes the best version of all indexes; uv takes the first
            index that has the package.
    """

    default: str
    named_by: str = ""
    extra: tuple[str, ...] = ()
    find_links: tuple[str, ...] = ()
    of_pip: bool = False


def index_settings() -> IndexSettings:
    """The settings that are in force now; files are read once for the same variables and folder."""
    return _settings(tuple((name, os.environ[name]) for name in _READ if os.environ.get(name)), str(Path.cwd()))


@lru_cache(maxsize=8)
def _settings(variables: tuple[tuple[str, str], ...], folder: str) -> IndexSettings:
    env = dict(variables)
    uv, uv_file = _uv_settings(env, Path(folder))
    pip, pip_file = _pip_settings(env)
    default, named_by = _default(env, (uv, uv_file), (pip, pip_file))
    of_uv = [
        *(env.get("UV_INDEX", "").split()),
        *(env.get("UV_EXTRA_INDEX_URL", "").split() or uv.get("extra", [])),
    ]
    of_pip = env.get("PIP_EXTRA_INDEX_URL", "").split() or pip.get("extra-index-url", [])
    named = (_parts(env.get(name, "")) for name in FIND_LINKS_VARIABLES)
    links = next(filter(None, (*named, uv.get("find-links", []), pip.get("find-links", []))), [])
    return IndexSettings(
        default=default,
        named_by=named_by,
        extra=tuple(dict.fromkeys(_address(word) for word in (*of_uv, *of_pip) if _address(word) != default)),
        find_links=tuple(dict.fromkeys(_placed(link, Path(folder)) for link in links)),
        of_pip=bool(of_pip),
    )


def _default(
    env: Mapping[str, str], uv: tuple[Mapping[str, list[str]], str], pip: tuple[Mapping[str, list[str]], str]
) -> tuple[str, str]:
    for name in ADDRESS_VARIABLES:
        if address := env.get(name, "").strip():
            return address, name
    for (settings, file), key in ((uv, "default"), (pip, "index-url")):
        if settings.get(key):
            return settings[key][-1], file
    return PYPI_SIMPLE_ENDPOINT, ""


def _uv_settings(env: Mapping[str, str], folder: Path) -> tuple[Mapping[str, list[str]], str]:
    """What the nearest ``uv.toml`` says, the user's or the system's where there is none."""
    if env.get("UV_NO_CONFIG"):
        return {}, ""
    home = Path(env.get("XDG_CONFIG_HOME") or Path(env.get("HOME") or Path.home()) / ".config")
    own = [place / "uv.toml" for place in (folder, *folder.parents)]
    files = [Path(env["UV_CONFIG_FILE"])] if "UV_CONFIG_FILE" in env else [*own, home / "uv/uv.toml"]
    for file in (*files, Path("/etc/uv/uv.toml")):
        try:
            table = tomllib.loads(file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        pip = table.get("pip", {})
        indexes = [one for one in table.get("index", ()) if isinstance(one, dict) and isinstance(one.get("url"), str)]
        return {
            "default": [*_texts(table, "index-url"), *(one["url"] for one in indexes if one.get("default"))],
            "extra": [
                *(one["url"] for one in indexes if not one.get("default") and not one.get("explicit")),
                *_texts(table, "extra-index-url"),
                *_texts(pip, "extra-index-url"),
            ],
            "find-links": [
                _placed(link, file.parent) for link in (*_texts(table, "find-links"), *_texts(pip, "find-links"))
            ],
        }, str(file)
    return {}, ""


def _texts(table: Mapping[str, object], key: str) -> Iterator[str]:
    value = table.get(key, ())
    for one in [value] if isinstance(value, str) else value if isinstance(value, list) else ():
        if isinstance(one, str):
            yield one


def _pip_settings(env: Mapping[str, str]) -> tuple[dict[str, list[str]], str]:
    """What pip's configuration files say: the system's, the user's, that of the environment, the one that is named."""
    named = env.get("PIP_CONFIG_FILE", "")
    if named == os.devnull:
        return {}, ""
    home = Path(env.get("HOME") or Path.home())
    config = Path(env.get("XDG_CONFIG_HOME") or home / ".config")
    files = [Path("/etc/pip.conf"), home / ".pip/pip.conf", config / "pip/pip.conf"]
    files += [Path(env["VIRTUAL_ENV"]) / "pip.conf"] if "VIRTUAL_ENV" in env else []
    found: dict[str, list[str]] = {}
    place = ""
    for file in (*files, *([Path(named)] if named else ())):
        parser = configparser.RawConfigParser()
        try:
            parser.read_string(file.read_text(encoding="utf-8"))
        except (OSError, ValueError, configparser.Error):
            continue
        for section in _PIP_SECTIONS:
            for key in ("index-url", "extra-index-url", "find-links"):
                if parser.has_option(section, key):
                    found[key] = parser.get(section, key).split()
                    place = str(file) if key == "index-url" else place
    return found, place


def _address(word: str) -> str:
    """The address of a further index, without the name that uv lets one give it."""
    return word.partition("=")[2] if "=" in word.partition("://")[0] else word


def _placed(link: str, folder: Path) -> str:
    """A page as it is; a folder by its whole path, since the installer runs elsewhere."""
    return link if urlsplit(link).scheme else str(folder / Path(link).expanduser())


def _parts(text: str) -> list[str]:
    return [part for part in re.split(r"[\s,]+", text) if part]


def for_uv(settings: IndexSettings) -> dict[str, str]:
    """The settings as variables of uv; names that ``UV_INDEX`` gives stay there."""
    made = {"UV_DEFAULT_INDEX": settings.default}
    named = {_address(word) for word in os.environ.get("UV_INDEX", "").split()}
    if further := [address for address in settings.extra if address not in named]:
        made["UV_EXTRA_INDEX_URL"] = " ".join(further)
    if settings.find_links:
        made["UV_FIND_LINKS"] = ",".join(settings.find_links)
    if settings.of_pip and "UV_INDEX_STRATEGY" not in os.environ:
        made["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    return made


def described(settings: IndexSettings) -> Iterable[str]:
    """The settings for a report, as far as they are the user's; the addresses still hold their passwords."""
    if settings.named_by:
        yield f"default index by {settings.named_by}"
    yield from (f"extra index {address}" for address in settings.extra)
    yield from (f"find-links {place}" for place in settings.find_links)

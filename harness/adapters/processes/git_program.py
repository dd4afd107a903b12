"""How git is called: nothing that a clone or its user has configured runs a program, and nothing is fetched.

A clone is a stranger's folder with a configuration of its own, and git runs what stands in it: ``gpg.program``,
``diff.NAME.textconv``, ``core.fsmonitor``, hooks, pagers, helpers of remotes. What can be switched off for every
command is switched off by `SETTINGS`; flags of single commands are in `PLAIN`. The environment holds no secret.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

_NEEDED = ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH")

SETTINGS = (
    "core.fsmonitor=false",
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    "core.pager=cat",
    "core.editor=false",
    "core.askPass=false",
    "core.sshCommand=false",
    "core.gitProxy=false",
    "core.alternateRefsCommand=false",
    "credential.helper=",
    "protocol.allow=never",
    "log.showSignature=false",
    "gpg.program=false",
    "gpg.openpgp.program=false",
    "gpg.ssh.program=false",
    "gpg.x509.program=false",
    "diff.external=",
    "diff.submodule=short",
    "diff.renames=true",
    "diff.noprefix=false",
    "diff.mnemonicPrefix=false",
    "apply.whitespace=nowarn",
    "apply.ignoreWhitespace=no",
    "core.autocrlf=false",
    "core.eol=lf",
    "core.safecrlf=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "color.ui=false",
)
"""Settings of the command line: they stand above those of the clone, of the user and of the system."""

PLAIN = ("--no-show-signature", "--no-ext-diff", "--no-textconv", "--no-notes", "--no-color", "--encoding=UTF-8")
"""Flags of the commands that show commits."""


def git_command(*words: str, clone: Path | None = None, trusted: Sequence[str] = ()) -> list[str]:
    """A command line of git.

    Args:
        words: The subcommand and its arguments.
        clone: Folder of the repository; None: none is needed.
        trusted: Folders that the user trusts although they belong to another user (``safe.directory``).
    """
    settings = [*SETTINGS, *(f"safe.directory={folder}" for folder in trusted)]
    place = ["-C", str(clone.absolute())] if clone is not None else []
    return ["git", "--no-pager", *place, *(word for one in settings for word in ("-c", one)), *words]


def for_git(scratch: Path) -> dict[str, str]:
    """Environment variables of git: no setting of the user or the system, no secret, no network.

    Args:
        scratch: An empty folder; it stands for the user's home.
    """
    return {
        **{name: os.environ[name] for name in _NEEDED if name in os.environ},
        "HOME": str(scratch),
        "XDG_CONFIG_HOME": str(scratch),
        "LC_ALL": "C",
        "TZ": "UTC",
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_SYSTEM": os.devnull,
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_PAGER": "cat",
        "GIT_SSH_COMMAND": "false",
    }


def for_trusted_folders(scratch: Path) -> dict[str, str]:
    """Environment variables with which git reads the user's own settings, and those of no repository."""
    user = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
    own = {name: os.environ[name] for name in (*_NEEDED, *user) if name in os.environ}
    return {**own, "LC_ALL": "C", "GIT_CEILING_DIRECTORIES": str(scratch.parent)}

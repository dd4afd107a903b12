"""Start a program that cannot change the folders it stands on: ``python -I -S launch.py PLAN PROGRAM [ARGUMENT...]``.

The plan is JSON: `views`, a list of [folder, upper, work], and `user_namespace`, whether a user namespace may be made.
For the program and all its children each folder is a view of itself: what is written there goes to `upper`, and
nobody else sees it. This is a mount namespace with an overlay per folder; it ends with its last process. Nothing of
the target's site-packages is loaded before it is there, not even a ``.pth`` file.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys

TYPE_CHECKING = False  # as `typing` has it: importing that module is a third of the start of each process
if TYPE_CHECKING:
    from typing import Any

FAILED = 72  # the exit code of a launcher that could not make the views
FAILURE = "harness: the folders cannot be given a private view: "

_CLONE_NEWNS = 0x00020000
_CLONE_NEWUSER = 0x10000000
_PR_CAPBSET_DROP = 24
_CAP_SYS_PTRACE = 19
_CAP_SYS_ADMIN = 21
_MS_PRIVATE_EVERYWHERE = 0x4000 | 0x40000  # MS_REC | MS_PRIVATE


def main(arguments: list[str]) -> None:
    """Make the views, then become the program; never returns."""
    plan = json.loads(arguments[0])
    try:
        if plan["views"]:
            make_views(plan)
    except (OSError, AttributeError) as error:
        print(f"{FAILURE}{error}", file=sys.stderr, flush=True)
        os._exit(FAILED)
    os.execv(arguments[1], arguments[1:])  # noqa: S606


def make_views(plan: dict[str, Any]) -> None:
    """Enter a mount namespace and lay an overlay over each folder; raises OSError where that is not allowed."""
    libc = ctypes.CDLL(None, use_errno=True)
    option = ""
    if libc.unshare(_CLONE_NEWNS) != 0:
        if not plan["user_namespace"]:
            raise OSError(ctypes.get_errno(), "a mount namespace is not allowed")
        _enter_user_namespace(libc)
        option = ",userxattr"
    _check(libc.mount(b"none", b"/", None, ctypes.c_ulong(_MS_PRIVATE_EVERYWHERE), None), "private mounts")
    for folder, upper, work in plan["views"]:
        lower, above, scratch = map(_escaped, (folder, upper, work))
        layers = f"lowerdir={lower},upperdir={above},workdir={scratch}{option}"
        _check(libc.mount(b"overlay", os.fsencode(folder), b"overlay", ctypes.c_ulong(0), os.fsencode(layers)), folder)

    for capability in (_CAP_SYS_ADMIN, _CAP_SYS_PTRACE):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)  # from here on root cannot take the views away again


def _enter_user_namespace(libc: ctypes.CDLL) -> None:
    """Get the right to mount, and stay the same user."""
    user, group = os.getuid(), os.getgid()
    _check(libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNS), "user namespace")
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123
            file.write(text)


def _escaped(path: str) -> str:
    """A path as it stands in the options of an overlay."""
    return "".join(f"\\{sign}" if sign in "\\,:" else sign for sign in path)


def _check(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


if __name__ == "__main__":
    main(sys.argv[1:])

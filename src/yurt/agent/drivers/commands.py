"""Where a task's command is found on the host."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator


def find_command(command: str, *, task_dir: str, paths: tuple[str, ...]) -> str | None:
    """The file that `command` names: in the task's `local`, its folder, the host, or a PATH.

    `paths` are PATH texts, searched in order for a name without a slash. A file in the task's folder is
    made executable, since what a download or template put there rarely is; a host's file is left as it
    is.
    """
    for path in (f"{task_dir}/local/{command}", f"{task_dir}/{command}"):
        if _is_file(path):
            make_executable(path)
            return path
    if "/" in command:
        return command if os.path.isabs(command) and _is_file(command) else None
    return next((path for path in _on_paths(command, paths) if os.access(path, os.X_OK)), None)


def _on_paths(command: str, paths: tuple[str, ...]) -> Iterator[str]:
    for path in paths:
        for directory in filter(os.path.isabs, path.split(os.pathsep)):
            if _is_file(f"{directory}/{command}"):
                yield f"{directory}/{command}"


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def make_executable(path: str) -> None:
    """Let everybody execute a file in a task's folder, if that can be done."""
    # Through a descriptor and not through links: the task's owner may have pointed one at a host file.
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # running it will tell what is wrong
        return
    try:
        mode = stat.S_IMODE(os.fstat(fd).st_mode)
        if mode & 0o555 != 0o555:
            os.fchmod(fd, mode | 0o555)
    except OSError:
        return
    finally:
        os.close(fd)

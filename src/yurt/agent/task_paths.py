"""Where a path that a job file names for a task is on this machine."""

from __future__ import annotations

import os.path
import posixpath

import msgspec

from yurt.agent.alloc_dir import TaskDir
from yurt.agent.task_env import TaskEnv
from yurt.errors import YurtError


class PathOutside(YurtError):
    """The path leads out of the allocation's directory."""

    def __init__(self, path: str) -> None:
        super().__init__(
            f"path {path!r} escapes the alloc directory; name one below local/, secrets/ or alloc/"
        )


class Place(msgspec.Struct, frozen=True):
    """A place below a directory that it must not leave."""

    root: str
    path: str

    @property
    def full(self) -> str:
        """The whole path."""
        return posixpath.normpath(f"{self.root}/{self.path}")


def host_env(env: TaskEnv, directory: TaskDir) -> TaskEnv:
    """The environment with the task's directories as the machine sees them."""
    paths = _directories(directory).items()
    twins = {f"{prefix}_{name}": path for prefix in ("NOMAD", "YURT") for name, path in paths}
    return TaskEnv(env.variables | twins, env.node_values)


def seen_by_task(path: str, env: TaskEnv, directory: TaskDir) -> Place:
    """Where an absolute path is that the task, and `env`, see. Raises PathOutside.

    In a root of its own a task sees all paths below its directory.
    """
    has_own_root = False
    for name, host in _directories(directory).items():
        inside = env.variables.get(f"NOMAD_{name}", "")
        if inside and _is_below(path, inside):
            return _placed(host + path.removeprefix(inside), directory)
        has_own_root = has_own_root or inside not in ("", host)
    return (destination if has_own_root else source)(path, env, directory)


def _directories(directory: TaskDir) -> dict[str, str]:
    return {"ALLOC_DIR": directory.shared, "TASK_DIR": directory.local, "SECRETS_DIR": directory.secrets}


def destination(path: str, env: TaskEnv, directory: TaskDir) -> Place:
    """Where something is to be put; a path outside of the allocation is taken from the task's directory.

    Raises PathOutside.
    """
    wanted = host_env(env, directory).interpolate(path)
    alloc_dir = os.path.dirname(directory.path)
    if not _is_below(wanted, alloc_dir):
        wanted = f"{directory.path}/{wanted}"
    return _placed(wanted, directory)


def source(path: str, env: TaskEnv, directory: TaskDir) -> Place:
    """Where something is to be read from. Raises PathOutside."""
    wanted = host_env(env, directory).interpolate(path)
    return _placed(wanted if wanted.startswith("/") else f"{directory.path}/{wanted}", directory)


def _placed(path: str, directory: TaskDir) -> Place:
    clean = posixpath.normpath(path)
    for root in (directory.path, directory.shared):
        if _is_below(clean, root):
            return Place(root, posixpath.relpath(clean, root))
    raise PathOutside(path)


def _is_below(path: str, root: str) -> bool:
    return path == root or path.startswith(f"{root}/")

"""The directories of allocations: where tasks work, log and keep secrets."""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from yurt.agent.spare_dirs import ALLOC, TASK, Owner, SpareDirs
from yurt.agent.task_env import TaskPaths
from yurt.agent.tmpfs import can_mount, mount_tmpfs, unmount
from yurt.errors import YurtError
from yurt.model.wire import AllocID
from yurt.observe.logger import get_logger

ALLOC_DIR_MODE = 0o711
SPARE = ".spare"
SHARED = "alloc"
SECRETS_MB_DEFAULT = 1
PRIVATE_MB = 1
MEMORY_DIRS = ("secrets", "private")
# Tells those who look into a directory that its content is in memory only.
MOUNT_MARK = ".nomad-mount"


logger = get_logger("agent")


class AllocDirFailed(YurtError):
    """An allocation's directory could not be made or used."""

    def __init__(self, alloc_id: str, *, reason: str) -> None:
        super().__init__(reason)
        self.alloc_id = alloc_id


class TaskDir(msgspec.Struct, frozen=True):
    """The directories of one task, as host paths."""

    path: str
    shared: str

    @property
    def local(self) -> str:
        """Private to the task; moves along with the allocation."""
        return f"{self.path}/local"

    @property
    def secrets(self) -> str:
        """In memory where the agent may mount."""
        return f"{self.path}/secrets"

    @property
    def private(self) -> str:
        """In memory; for the agent and the driver."""
        return f"{self.path}/private"

    @property
    def logs(self) -> str:
        """Shared by the tasks of the allocation."""
        return f"{self.shared}/logs"

    @property
    def paths(self) -> TaskPaths:
        """What a task without a root of its own sees."""
        return TaskPaths(alloc_dir=self.shared, task_dir=self.local, secrets_dir=self.secrets)


class AllocDirs:
    """All allocation directories of a node, below one root.

    `create` takes about 0.2 ms for an allocation of one task and may run on the event loop; what blocks
    for longer says so.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._is_root = can_mount()
        self._owner = _nobody() if self._is_root else Owner(None, None)
        self._spares = SpareDirs(root / SPARE, self._owner)

    def open(self) -> None:
        """Make the root and take over spare directories. Blocks; call once, before anything else."""
        self._root.mkdir(mode=ALLOC_DIR_MODE, parents=True, exist_ok=True)
        self._root.chmod(ALLOC_DIR_MODE)
        self._spares.open()

    def path(self, alloc_id: AllocID) -> Path:
        """Where the allocation's directory is, or would be."""
        return self._root / alloc_id

    def task_dir(self, alloc_id: AllocID, task: str) -> TaskDir:
        """The directories of a task of an allocation that was created."""
        base = f"{self._root}/{alloc_id}"
        return TaskDir(f"{base}/{task}", f"{base}/{SHARED}")

    def exists(self, alloc_id: AllocID) -> bool:
        """Whether the allocation has a directory."""
        return self.path(alloc_id).is_dir()

    def create(self, alloc_id: AllocID, tasks: Mapping[str, int]) -> None:
        """Make what is missing of an allocation's directories.

        `tasks` maps each task's name to the MB of its secrets, 0 for the default. Raises AllocDirFailed.
        """
        for name in (alloc_id, *tasks):
            _check_name(alloc_id, name)
        base = f"{self._root}/{alloc_id}"
        try:
            self._place(ALLOC, base)
            for task, secrets_mb in tasks.items():
                path = f"{base}/{task}"
                is_new = self._place(TASK, path)
                if not self._is_root:
                    continue
                for place, size_mb in (
                    (f"{path}/secrets", secrets_mb or SECRETS_MB_DEFAULT),
                    (f"{path}/private", PRIVATE_MB),
                ):
                    if is_new or not os.path.ismount(place):
                        self._mount(place, size_mb)
        except OSError as error:
            raise AllocDirFailed(
                alloc_id, reason=f"Failed to make allocation directory {base}: {error}"
            ) from error

    @property
    def wants_refill(self) -> bool:
        """Whether `refill` should be called soon."""
        return self._spares.is_low

    def refill(self) -> None:
        """Make spare directories for the next allocations. Blocks: call it in a thread.

        Without spares allocations start a little later, so a disk that does not allow them is no obstacle.
        """
        try:
            self._spares.refill()
        except OSError as error:
            logger.warning("spare_dirs.not_made", error=str(error))

    def move_data(self, source: AllocID, target: AllocID, tasks: frozenset[str]) -> None:
        """Move the user data of an ended allocation to its successor on the same node.

        Blocks for some renames. Raises AllocDirFailed; the target then starts with what was moved.
        """
        old, new = self.path(source), self.path(target)
        moves = [(old / SHARED / "data", new / SHARED / "data")]
        moves += [(old / task / "local", new / task / "local") for task in sorted(tasks)]
        try:
            for origin, place in moves:
                if origin.is_dir() and place.is_dir():
                    place.rmdir()
                    origin.rename(place)
        except OSError as error:
            raise AllocDirFailed(target, reason=f"Failed to move data from {old}: {error}") from error

    def destroy(self, alloc_id: AllocID) -> None:
        """Unmount and delete an allocation's directory. Blocks for as long as deleting takes."""
        base = self.path(alloc_id)
        if self._is_root and base.is_dir():
            for task in base.iterdir():
                for name in MEMORY_DIRS:
                    if (task / name).is_mount():
                        unmount(str(task / name))
        shutil.rmtree(base, ignore_errors=True)

    def remove_spares(self) -> None:
        """Delete the stock of spare directories. Blocks."""
        shutil.rmtree(self._root / SPARE, ignore_errors=True)

    def _place(self, kind: str, path: str) -> bool:
        """Put a tree at `path`; False when there is one already."""
        if os.path.isdir(path):
            return False
        self._spares.take(kind, path)
        return True

    def _mount(self, path: str, size_mb: int) -> None:
        owner = self._owner
        assert owner.uid is not None
        assert owner.gid is not None
        if mount_tmpfs(path, size_mb=size_mb, mode=0o777, uid=owner.uid, gid=owner.gid):
            mark = f"{path}/{MOUNT_MARK}"
            os.close(os.open(mark, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o644))


def _check_name(alloc_id: str, name: str) -> None:
    """A name from a job file becomes a directory; it must not lead out of the allocation's."""
    if not name or "/" in name or "\0" in name or name in (".", "..", SHARED, SPARE):
        raise AllocDirFailed(alloc_id, reason=f"{name!r} cannot be the name of a directory; rename the task")


def _nobody() -> Owner:
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        return Owner(65534, 65534)
    return Owner(entry.pw_uid, entry.pw_gid)

"""Directory trees made ahead of time, so that the start of an allocation only renames."""

from __future__ import annotations

import os
import shutil
import uuid
from collections import deque
from pathlib import Path

# Making a tree costs a journalling file system 0.5 to 10 ms, a rename 20 µs. A kept one takes 20 KiB.
SPARES_KEPT = 160
_SPARES_LOW = SPARES_KEPT * 3 // 4

ALLOC = "alloc"
TASK = "task"
_UNFINISHED = "unfinished"

ALLOC_TREE = {"alloc": 0o777, "alloc/data": 0o777, "alloc/logs": 0o777, "alloc/tmp": 0o777}
TASK_TREE = {"local": 0o777, "secrets": 0o777, "private": 0o777, "tmp": 0o1777}
ALLOC_MODE = 0o755
TASK_MODE = 0o777


class Owner:
    """To whom the directories of tasks belong: nobody, when the agent may give them away."""

    def __init__(self, uid: int | None, gid: int | None) -> None:
        self.uid, self.gid = uid, gid

    def make(self, path: str, mode: int) -> None:
        """Make one directory with exactly this mode, whatever the umask."""
        os.mkdir(path)
        os.chmod(path, mode)
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)


def _make_tree(kind: str, path: str, owner: Owner) -> None:
    """Make the directories of an allocation or of a task."""
    if kind == ALLOC:
        Owner(None, None).make(path, ALLOC_MODE)
        tree = ALLOC_TREE
    else:
        owner.make(path, TASK_MODE)
        tree = TASK_TREE
    for name, mode in tree.items():
        owner.make(f"{path}/{name}", mode)


class SpareDirs:
    """A stock of empty trees in one folder, which must be on the file system of their later place."""

    def __init__(self, directory: Path, owner: Owner) -> None:
        self._directory = directory
        self._owner = owner
        self._stock: dict[str, deque[str]] = {ALLOC: deque(), TASK: deque()}

    def open(self) -> None:
        """Take over what an earlier agent left. Blocks; call once, before anything else."""
        self._directory.mkdir(mode=0o711, parents=True, exist_ok=True)
        for entry in self._directory.iterdir():
            kind = entry.name.partition("-")[0]
            if kind in self._stock:
                self._stock[kind].append(str(entry))
            else:
                shutil.rmtree(entry, ignore_errors=True)

    @property
    def is_low(self) -> bool:
        """Whether `refill` has something to do worth a thread."""
        return any(len(stock) <= _SPARES_LOW for stock in self._stock.values())

    def take(self, kind: str, place: str) -> None:
        """Move a spare tree to `place`, which must not exist, or a new one when there is none.

        Whoever finds a tree there finds all of it. Raises OSError.
        """
        stock = self._stock[kind]
        while stock:
            try:
                os.rename(stock.popleft(), place)
            except FileNotFoundError:
                continue  # somebody tidied up
            return
        os.rename(self._make(kind), place)

    def refill(self) -> None:
        """Bring the stock back to its size. Blocks for some tens of milliseconds: call it in a thread.

        Raises OSError when the disk does not allow it.
        """
        for kind, stock in self._stock.items():
            while len(stock) < SPARES_KEPT:
                spare = f"{self._directory}/{kind}-{uuid.uuid4().hex}"
                os.rename(self._make(kind), spare)
                stock.append(spare)

    def _make(self, kind: str) -> str:
        """Make a tree under a name that `open` takes for one that was never finished."""
        self._directory.mkdir(mode=0o711, parents=True, exist_ok=True)
        path = f"{self._directory}/{_UNFINISHED}-{uuid.uuid4().hex}"
        _make_tree(kind, path, self._owner)
        return path

"""What a node agent remembers, so that a restarted one finds its tasks again."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from pathlib import Path

import msgspec

from yurt.agent.network.group_network import GroupNetwork
from yurt.errors import YurtError
from yurt.model.alloc import AllocDeploymentStatus
from yurt.model.client_protocol import ClientAlloc
from yurt.model.task_state import TaskState
from yurt.model.wire import AllocID
from yurt.observe.logger import get_logger

STATE_FILE = "state.db"
SCHEMA_VERSION = 1
# Most of what changes together, such as the steps of a start, does so within this time.
GATHERING_S = 0.005

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS allocs (id TEXT PRIMARY KEY, record BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS acknowledged (alloc_id TEXT PRIMARY KEY, status TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tasks (alloc_id TEXT, task TEXT, record BLOB, PRIMARY KEY (alloc_id, task))
    WITHOUT ROWID;
"""
_PUT_ALLOC = "INSERT OR REPLACE INTO allocs VALUES (?, ?)"
_PUT_TASK = "INSERT OR REPLACE INTO tasks VALUES (?, ?, ?)"
_PUT_ACKNOWLEDGED = "INSERT OR REPLACE INTO acknowledged VALUES (?, ?)"
_PUT_META = "INSERT OR REPLACE INTO meta VALUES (?, ?)"

logger = get_logger("agent")


class StateUnusable(YurtError):
    """The state file cannot be opened."""

    def __init__(self, path: Path, *, reason: str, fix: str) -> None:
        super().__init__(f"agent state {path}: {reason}; {fix}")
        self.path = path


class AllocRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is remembered of an allocation.

    `deployment_status` once its health was decided here; `network` once it has one of its own.
    """

    alloc: ClientAlloc
    deployment_status: AllocDeploymentStatus | None = None
    network: GroupNetwork | None = None


class TaskRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is remembered of a task.

    `attempt` counts the starts. It is stored before each with `is_starting`, so that an agent that died
    in between repeats the same start, which the driver recognises, and does not begin another.
    `handle` is the driver's own, while the task runs.
    """

    state: TaskState
    attempt: int = 0
    is_starting: bool = False
    handle: bytes | None = None
    done_hooks: tuple[str, ...] = ()


class StoredAlloc(msgspec.Struct, frozen=True):
    """An allocation and its tasks as a restarted agent finds them.

    `acknowledged` is the client status that the servers last confirmed; empty when none.
    """

    record: AllocRecord
    tasks: dict[str, TaskRecord]
    acknowledged: str = ""


class StateDb:
    """A small SQLite file; all calls come from the thread of the event loop.

    Writes are gathered and committed together a moment later, or at once by `flush`; whoever needs one to
    be there flushes. Those that are committed survive the death of the agent in any way, not that of the
    machine: its tasks would be gone, too. With `directory` None nothing is kept.
    """

    def __init__(self, directory: Path | None) -> None:
        """Open or make the state file. Raises StateUnusable."""
        self._encoder = msgspec.msgpack.Encoder()
        self._allocs: dict[AllocID, AllocRecord | None] = {}
        self._tasks: dict[tuple[AllocID, str], TaskRecord] = {}
        self._acknowledged: dict[AllocID, str] = {}
        self._meta: dict[str, bytes] = {}
        self._is_flush_due = False
        self._db = _open(directory / STATE_FILE) if directory else None

    def put_alloc(self, record: AllocRecord) -> None:
        """Remember an allocation, or what changed about it."""
        self._allocs[record.alloc.id] = record
        self._schedule_flush()

    def put_task(self, alloc_id: AllocID, task: str, record: TaskRecord) -> None:
        """Remember a task, or what changed about it."""
        self._tasks[alloc_id, task] = record
        self._schedule_flush()

    def put_acknowledged(self, alloc_id: AllocID, status: str) -> None:
        """Remember the client status that the servers have confirmed."""
        self._acknowledged[alloc_id] = status
        self._schedule_flush()

    def forget_alloc(self, alloc_id: AllocID) -> None:
        """Forget an allocation and its tasks."""
        self._allocs[alloc_id] = None
        self._acknowledged.pop(alloc_id, None)
        for key in [key for key in self._tasks if key[0] == alloc_id]:
            del self._tasks[key]
        self._schedule_flush()

    def put_meta(self, key: str, value: bytes) -> None:
        """Remember a value of the agent itself."""
        self._meta[key] = value
        self._schedule_flush()

    def meta(self, key: str) -> bytes | None:
        """A value of the agent itself, None when it was never stored."""
        self.flush()
        if self._db is None:
            return None
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def load(self) -> list[StoredAlloc]:
        """Everything remembered. Records that cannot be read are dropped, with an error in the log."""
        self.flush()
        if self._db is None:
            return []
        tasks: dict[str, dict[str, TaskRecord]] = {}
        task_decoder = msgspec.msgpack.Decoder(TaskRecord)
        alloc_decoder = msgspec.msgpack.Decoder(AllocRecord)
        stored = []
        for alloc_id, task, encoded in self._db.execute("SELECT alloc_id, task, record FROM tasks"):
            try:
                tasks.setdefault(alloc_id, {})[task] = task_decoder.decode(encoded)
            except msgspec.MsgspecError as error:
                logger.error("task_record.unreadable", alloc_id=alloc_id, task=task, error=str(error))
        rows = self._db.execute(
            "SELECT id, record, status FROM allocs LEFT JOIN acknowledged ON id = alloc_id"
        )
        for alloc_id, encoded, acknowledged in rows:
            try:
                record = alloc_decoder.decode(encoded)
                stored.append(StoredAlloc(record, tasks.get(alloc_id, {}), acknowledged or ""))
            except msgspec.MsgspecError as error:
                logger.error("alloc_record.unreadable", alloc_id=alloc_id, error=str(error))
        return stored

    def flush(self) -> None:
        """Commit what was put. What cannot be written now stays due and is tried again with the next."""
        self._is_flush_due = False
        if self._db is None:
            self._clear()
            return
        if not (self._allocs or self._tasks or self._acknowledged or self._meta):
            return
        encode = self._encoder.encode
        try:
            self._db.execute("BEGIN")
            for alloc_id, alloc in self._allocs.items():
                if alloc is None:
                    self._db.execute("DELETE FROM allocs WHERE id = ?", (alloc_id,))
                    self._db.execute("DELETE FROM tasks WHERE alloc_id = ?", (alloc_id,))
                    self._db.execute("DELETE FROM acknowledged WHERE alloc_id = ?", (alloc_id,))
                else:
                    self._db.execute(_PUT_ALLOC, (alloc_id, encode(alloc)))
            self._db.executemany(
                _PUT_TASK, [(alloc_id, task, encode(r)) for (alloc_id, task), r in self._tasks.items()]
            )
            self._db.executemany(_PUT_ACKNOWLEDGED, list(self._acknowledged.items()))
            self._db.executemany(_PUT_META, list(self._meta.items()))
            self._db.execute("COMMIT")
        except sqlite3.Error as error:
            logger.error("agent_state.write_failed", error=str(error))
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")
            return
        self._clear()

    def _clear(self) -> None:
        self._allocs.clear()
        self._tasks.clear()
        self._acknowledged.clear()
        self._meta.clear()

    def close(self) -> None:
        """Commit what was put, and close the file."""
        self.flush()
        if self._db is not None:
            self._db.close()
            self._db = None

    def _schedule_flush(self) -> None:
        if not self._is_flush_due:
            self._is_flush_due = True
            asyncio.get_running_loop().call_later(GATHERING_S, self.flush)


def _open(path: Path) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    try:
        return _connect(path)
    except sqlite3.DatabaseError as error:
        if not isinstance(error, sqlite3.OperationalError):
            # Power was lost, or the disk lies. The servers know the allocations, and supervisors their
            # tasks, so starting without memory heals; refusing to start would not.
            aside = path.with_suffix(f".damaged-{os.getpid()}")
            path.rename(aside)
            logger.error("agent_state.damaged", moved_to=str(aside), error=str(error))
            return _connect(path)
        raise StateUnusable(
            path, reason=str(error), fix="check that the disk has room and that no other agent uses it"
        ) from error


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, isolation_level=None, timeout=0)
    try:
        _prepare(db, path)
    except (sqlite3.Error, StateUnusable):
        db.close()
        raise
    path.chmod(0o600)
    return db


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    db.execute("PRAGMA locking_mode = EXCLUSIVE")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = OFF")
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version > SCHEMA_VERSION:
        raise StateUnusable(
            path,
            reason=f"it was written by a newer version: schema {version}, this one knows {SCHEMA_VERSION}",
            fix="start the newer version again, or give this one another state_dir",
        )
    db.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version = {SCHEMA_VERSION}; COMMIT;")

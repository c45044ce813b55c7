"""The durable log of opaque byte strings, and snapshot files."""

from __future__ import annotations

from yurt.log.contract import Log
from yurt.log.data_dir import DataDirLock
from yurt.log.errors import (
    DataDirLocked,
    DataDirNotWritable,
    EntriesCompacted,
    EntryTooLarge,
    LogBusy,
    LogClosed,
    LogCorrupt,
    LogFormatTooNew,
    LogWriteFailed,
    SnapshotCorrupt,
    SnapshotFormatTooNew,
    SnapshotWriteFailed,
)
from yurt.log.memory import MemoryLog
from yurt.log.snapshot import (
    FoundSnapshots,
    SnapshotInfo,
    inspect_snapshot,
    newest_snapshot,
    read_snapshot,
    snapshot_indexes,
    write_snapshot,
)
from yurt.log.snapshot_format import SnapshotDecoder, SnapshotEnd, SnapshotHeader, encode_snapshot
from yurt.log.sqlite import SqliteLog

__all__ = [
    "DataDirLock",
    "DataDirLocked",
    "DataDirNotWritable",
    "EntriesCompacted",
    "EntryTooLarge",
    "FoundSnapshots",
    "Log",
    "LogBusy",
    "LogClosed",
    "LogCorrupt",
    "LogFormatTooNew",
    "LogWriteFailed",
    "MemoryLog",
    "SnapshotCorrupt",
    "SnapshotDecoder",
    "SnapshotEnd",
    "SnapshotFormatTooNew",
    "SnapshotHeader",
    "SnapshotInfo",
    "SnapshotWriteFailed",
    "SqliteLog",
    "encode_snapshot",
    "inspect_snapshot",
    "newest_snapshot",
    "read_snapshot",
    "snapshot_indexes",
    "write_snapshot",
]

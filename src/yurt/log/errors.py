"""The ways a log or a snapshot can fail."""

from __future__ import annotations

from pathlib import Path

from yurt.errors import YurtError


class LogBusy(YurtError):
    """More appends wait for the disk than the log holds; nothing of this one was taken."""

    def __init__(self, *, waiting_entries: int, waiting_bytes: int) -> None:
        super().__init__(
            f"the log is busy: {waiting_entries} entries ({waiting_bytes} bytes) wait for the disk; "
            "retry in a moment"
        )
        self.waiting_entries = waiting_entries
        self.waiting_bytes = waiting_bytes


class LogClosed(YurtError):
    """The log is closed; nothing of this call was done."""

    def __init__(self) -> None:
        super().__init__("the log is closed: the agent is shutting down; retry once it runs again")


class LogWriteFailed(YurtError):
    """The log could not be written; the log is as it was before the call."""

    def __init__(self, path: Path, *, reason: str, advice: str) -> None:
        super().__init__(f"the log {path} could not be written: {reason}; nothing was changed; {advice}")
        self.path = path
        self.reason = reason
        self.advice = advice


class LogCorrupt(YurtError):
    """The log does not hold what it acknowledged; `index` is the first entry that is wrong, if known."""

    def __init__(self, path: Path, *, index: int | None, problem: str) -> None:
        where = "" if index is None else f" at entry {index}"
        super().__init__(
            f"the log {path} is corrupt{where}: {problem}; "
            f"move the directory {path.parent} aside, start the agent again and restore the newest snapshot "
            "with `yurt operator snapshot restore FILE`"
        )
        self.path = path
        self.index = index
        self.problem = problem


class LogFormatTooNew(YurtError):
    """The log was written by a newer Yurt."""

    def __init__(self, path: Path, *, found: int, supported: int) -> None:
        super().__init__(
            f"the log {path} has format {found}, this Yurt reads up to {supported}; "
            "run the version of Yurt that wrote it, or a newer one"
        )
        self.path = path
        self.found = found
        self.supported = supported


class EntriesCompacted(YurtError):
    """The entries asked for are no longer kept."""

    def __init__(self, first: int, *, first_index: int) -> None:
        super().__init__(
            f"entry {first} is no longer in the log, which starts at {first_index}; "
            "start from a snapshot that reaches that entry"
        )
        self.first = first
        self.first_index = first_index


class EntryTooLarge(YurtError):
    """An entry is larger than the log takes."""

    def __init__(self, *, size_bytes: int, size_bytes_max: int) -> None:
        super().__init__(
            f"an entry of {size_bytes} bytes is too large for the log, which takes up to {size_bytes_max}; "
            "split the change into smaller ones"
        )
        self.size_bytes = size_bytes
        self.size_bytes_max = size_bytes_max


class DataDirLocked(YurtError):
    """Another process owns the directory; `pid` is None when it has not said who it is."""

    def __init__(self, directory: Path, *, pid: int | None) -> None:
        who = "another agent" if pid is None else f"another agent (pid {pid})"
        super().__init__(f"{who} is using {directory}; stop it, or give this one another data directory")
        self.directory = directory
        self.pid = pid


class DataDirNotWritable(YurtError):
    """The directory cannot be made or written."""

    def __init__(self, directory: Path, *, reason: str) -> None:
        super().__init__(
            f"the data directory {directory} is not writable: {reason}; "
            "give the agent's user write access to it, or choose another one with data_dir"
        )
        self.directory = directory
        self.reason = reason


class SnapshotCorrupt(YurtError):
    """The bytes are not a whole, unchanged snapshot."""

    def __init__(self, source: str, *, problem: str) -> None:
        super().__init__(f"the snapshot {source} is not usable: {problem}; use another snapshot")
        self.source = source
        self.problem = problem


class SnapshotFormatTooNew(YurtError):
    """The snapshot was written by a newer Yurt."""

    def __init__(self, source: str, *, found: int, supported: int) -> None:
        super().__init__(
            f"the snapshot {source} has format {found}, this Yurt reads up to {supported}; "
            "run the version of Yurt that wrote it, or a newer one"
        )
        self.source = source
        self.found = found
        self.supported = supported


class SnapshotWriteFailed(YurtError):
    """The snapshot could not be written; the directory's other snapshots are as they were."""

    def __init__(self, directory: Path, *, reason: str) -> None:
        super().__init__(
            f"no snapshot could be written to {directory}: {reason}; "
            "free space on that disk or repair it: the next snapshot is tried as usual"
        )
        self.directory = directory
        self.reason = reason

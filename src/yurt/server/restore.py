"""Restoring State: the newest snapshot, then the entries after it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from yurt.errors import YurtError
from yurt.log.contract import Log
from yurt.log.snapshot import newest_snapshot, read_snapshot
from yurt.observe.logger import get_logger
from yurt.state.apply import apply
from yurt.state.entries import decode_entry
from yurt.state.snapshot import load
from yurt.state.state import State

logger = get_logger("restore")


class RestoreFailed(YurtError):
    """What is on disk does not add up to a State."""


def restore(log: Log, snapshots: Path | None) -> tuple[State, int]:
    """Read State back from disk; also gives the index of the snapshot it began with, 0 for none.

    Raises RestoreFailed rather than begin with less than what was acknowledged.
    """
    state, snapshot_index = State(), 0
    if snapshots is not None:
        found = newest_snapshot(snapshots)
        for broken in found.broken:
            logger.error("snapshot.broken", error=str(broken))
        if found.newest is not None:
            header, chunks = read_snapshot(found.newest.path)
            state = load(chunks)
            snapshot_index = header.index
    if log.last_index > state.index and log.first_index > state.index + 1:
        raise RestoreFailed(
            f"the log begins at index {log.first_index} but the newest readable snapshot ends at "
            f"{state.index}: entries between them are missing. Put a backup into the data_dir with "
            "`yurt operator snapshot restore`, or start with an empty data_dir"
        )
    while state.index < log.last_index:
        for index, encoded in log.read(state.index + 1):
            try:
                apply(state, index, decode_entry(encoded))
            except msgspec.MsgspecError as error:
                raise RestoreFailed(
                    f"entry {index} of the log cannot be read ({error}); was it written by a newer Yurt?"
                ) from error
            state.take_news()
    return state, snapshot_index

"""Restoring State: the newest snapshot, then the entries after it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from yurt.errors import YurtError
from yurt.log.contract import Log
from yurt.log.snapshot import newest_snapshot, read_snapshot, snapshot_indexes
from yurt.observe.logger import get_logger
from yurt.server.snapshots import KeptSnapshots
from yurt.state.apply import apply
from yurt.state.entries import decode_entry
from yurt.state.snapshot import load
from yurt.state.state import State

logger = get_logger("restore")


class RestoreFailed(YurtError):
    """What is on disk does not add up to a State."""


async def restore(log: Log, snapshots: Path) -> tuple[State, KeptSnapshots]:
    """Read State back from disk; also gives the snapshots that it found.

    Raises RestoreFailed rather than begin with less than what was acknowledged.
    """
    state, kept = State(), KeptSnapshots()
    found = newest_snapshot(snapshots)
    for broken in found.broken:
        logger.error("snapshot.broken", error=str(broken))
    if found.newest is not None:
        header, chunks = read_snapshot(found.newest.path)
        state = load(chunks)
        older = [index for index in snapshot_indexes(snapshots) if index < header.index]
        kept = KeptSnapshots(newest=header.index, older=older[0] if older else 0)
    if log.last_index < state.index:
        # The snapshot replaced all State, and the agent died before it could tell the log so.
        logger.warning("log.reset", last_index=log.last_index, snapshot_index=state.index)
        await log.reset(state.index + 1)
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
    return state, kept

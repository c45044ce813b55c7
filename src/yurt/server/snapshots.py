"""Snapshots: State written to a file now and then, so that a start need not replay everything."""

from __future__ import annotations

import asyncio
from pathlib import Path

from yurt.errors import YurtError
from yurt.log.contract import Log
from yurt.log.snapshot import write_snapshot
from yurt.log.snapshot_format import SnapshotHeader
from yurt.observe.logger import get_logger
from yurt.server.context import ServerContext
from yurt.state.snapshot import dump
from yurt.state.state import State

SNAPSHOT_INTERVAL_S = 120.0
SNAPSHOT_THRESHOLD = 8192
# Entries kept behind a snapshot, for followers that are a little behind.
TRAILING_ENTRIES = 10240

# What the chunks of these snapshots are: see yurt.state.snapshot.
STATE_KIND = "yurt-state"

logger = get_logger("snapshot")


class Snapshotter:
    """Writes snapshots in the background and compacts the log behind them."""

    def __init__(
        self,
        context: ServerContext,
        log: Log,
        directory: Path,
        *,
        interval_s: float = SNAPSHOT_INTERVAL_S,
        threshold: int = SNAPSHOT_THRESHOLD,
        trailing: int = TRAILING_ENTRIES,
    ) -> None:
        self._context = context
        self._log = log
        self._directory = directory
        self.interval_s = interval_s
        self.threshold = threshold
        self._trailing = trailing
        self._last_index = 0

    def start_from(self, index: int) -> None:
        """Say which index the newest snapshot has."""
        self._last_index = index

    async def run(self) -> None:
        """Write a snapshot at every interval in which enough happened, until cancelled."""
        while True:
            await self._context.clock.sleep(self.interval_s)
            if self._context.state.index - self._last_index < self.threshold:
                continue
            try:
                await self.write()
            except YurtError as error:
                logger.error("snapshot.failed", error=str(error), directory=str(self._directory))

    async def write(self, state: State | None = None) -> Path:
        """Write a snapshot now, of the newest State unless another is given; the loop goes on meanwhile."""
        state = state or self._context.state
        index = state.index
        header = SnapshotHeader(index=index, created_at_ns=self._context.clock.now_ns(), kind=STATE_KIND)
        path = await asyncio.to_thread(write_snapshot, self._directory, header, dump(state))
        self._last_index = index
        logger.info("snapshot.written", index=index, path=str(path))
        behind = min(index, self._log.last_index) - self._trailing
        if behind >= self._log.first_index:
            await self._log.compact(behind)
        return path

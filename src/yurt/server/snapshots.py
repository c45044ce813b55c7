"""Snapshots: State written to a file now and then, so that a start need not replay everything."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec

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


class KeptSnapshots(msgspec.Struct, frozen=True, kw_only=True):
    """The indexes of the two snapshots on disk; 0 where there is none."""

    newest: int = 0
    older: int = 0


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
        self._kept = KeptSnapshots()

    def start_from(self, kept: KeptSnapshots) -> None:
        """Say which snapshots are there already."""
        self._kept = kept

    async def run(self) -> None:
        """Write a snapshot at every interval in which enough happened, until cancelled."""
        while True:
            await self._context.clock.sleep(self.interval_s)
            if self._context.state.index - self._kept.newest < self.threshold:
                continue
            try:
                await self.write()
            except YurtError as error:
                logger.error("snapshot.failed", error=str(error), directory=str(self._directory))

    async def write(self) -> Path:
        """Write a snapshot now and compact the log behind it; the loop goes on meanwhile."""
        path = await self.save(self._context.state)
        # Should the newest turn out to be unreadable, the older one and the entries after it are there.
        behind = min(self._kept.newest - self._trailing, self._kept.older)
        if behind >= self._log.first_index:
            await self._log.compact(behind)
        return path

    async def save(self, state: State) -> Path:
        """Write a snapshot of `state` and leave the log alone."""
        index = state.index
        header = SnapshotHeader(index=index, created_at_ns=self._context.clock.now_ns(), kind=STATE_KIND)
        path = await asyncio.to_thread(write_snapshot, self._directory, header, dump(state))
        if index != self._kept.newest:
            self._kept = KeptSnapshots(newest=index, older=self._kept.newest)
        logger.info("snapshot.written", index=index, path=str(path))
        return path

    async def forget(self, path: Path) -> None:
        """Remove the newest snapshot: what it holds did not come to pass."""
        await asyncio.to_thread(path.unlink, missing_ok=True)
        self._kept = KeptSnapshots(newest=self._kept.older)

"""A clock that moves when it is told to."""

from __future__ import annotations

import asyncio
import heapq
import itertools

from yurt.model.times import SECOND_NS

# Enough turns of the loop for every chain of callbacks that one wake-up sets off.
SETTLE_TURNS = 50


class VirtualClock:
    """Time stands still except in `advance`."""

    def __init__(self, start_s: int = 1_000_000) -> None:
        self._now_ns = start_s * SECOND_NS
        self._sleepers: list[tuple[int, int, asyncio.Future[None]]] = []
        self._order = itertools.count()

    def now_ns(self) -> int:
        return self._now_ns

    def monotonic(self) -> float:
        return self._now_ns / SECOND_NS

    async def sleep(self, seconds: float) -> None:
        due = self._now_ns + round(seconds * SECOND_NS)
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._sleepers, (due, next(self._order), future))
        await future

    @property
    def is_awaited(self) -> bool:
        """Whether somebody sleeps."""
        return any(not future.done() for _, _, future in self._sleepers)

    async def advance(self, seconds: float) -> None:
        """Let time pass, waking each sleeper at its own time, and everything settle in between."""
        target = self._now_ns + round(seconds * SECOND_NS)
        await settle()
        while self._sleepers and self._sleepers[0][0] <= target:
            due, _, future = heapq.heappop(self._sleepers)
            if future.done():
                continue
            self._now_ns = max(self._now_ns, due)
            future.set_result(None)
            await settle()
        self._now_ns = target

    async def jump(self, seconds: float) -> None:
        """Let time pass at once, as on a machine that was stalled: all who slept wake late."""
        await settle()
        self._now_ns += round(seconds * SECOND_NS)
        await self.advance(0)

    async def advance_to_next(self) -> None:
        """Let time pass until the next sleeper wakes."""
        await settle()
        while self._sleepers and self._sleepers[0][2].done():
            heapq.heappop(self._sleepers)
        if self._sleepers:
            await self.advance((self._sleepers[0][0] - self._now_ns) / SECOND_NS)


async def settle() -> None:
    """Let everything run that can without time passing."""
    for _ in range(SETTLE_TURNS):
        await asyncio.sleep(0)

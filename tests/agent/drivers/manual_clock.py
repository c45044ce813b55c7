"""A clock that stands still until a test moves it."""

from __future__ import annotations

import asyncio

from yurt.model.times import SECOND_NS

START_NS = 1_700_000_000 * SECOND_NS


class ManualClock:
    """A `Clock`; `advance` runs all that was waiting for the time passed over."""

    def __init__(self) -> None:
        self._now_ns = START_NS
        self._sleepers: list[tuple[int, asyncio.Event]] = []

    def now_ns(self) -> int:
        return self._now_ns

    def monotonic(self) -> float:
        return (self._now_ns - START_NS) / SECOND_NS

    async def sleep(self, seconds: float) -> None:
        awake = asyncio.Event()
        self._sleepers.append((self._now_ns + round(seconds * SECOND_NS), awake))
        await awake.wait()

    async def advance(self, seconds: float) -> None:
        await settle()
        end_ns = self._now_ns + round(seconds * SECOND_NS)
        while due := [sleeper for sleeper in self._sleepers if sleeper[0] <= end_ns]:
            first = min(due, key=lambda sleeper: sleeper[0])
            self._sleepers.remove(first)
            self._now_ns = first[0]
            first[1].set()
            await settle()
        self._now_ns = end_ns


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(20):
        await asyncio.sleep(0)

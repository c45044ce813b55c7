"""Clocks: the only source of time outside the pure core."""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """What time it is, and how to wait."""

    def now_ns(self) -> int:
        """Unix time in nanoseconds."""

    def monotonic(self) -> float:
        """Seconds that never run backwards."""

    async def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The machine's clock."""

    def now_ns(self) -> int:
        """Unix time in nanoseconds."""
        return time.time_ns()

    def monotonic(self) -> float:
        """Seconds that never run backwards."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

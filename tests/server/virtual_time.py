"""An event loop whose time passes only when nothing else is left to do."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from yurt.model.times import SECOND_NS

T = TypeVar("T")

START_NS = 1_700_000_000 * SECOND_NS
# A loop that has no timer waits for other threads; more than this and a test hangs.
WAIT_FOR_THREADS_S = 10.0


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop that jumps to the next timer instead of waiting for it."""

    def __init__(self) -> None:
        self.now_s = 0.0
        super().__init__(_JumpingSelector(self))

    def time(self) -> float:
        return self.now_s


class _JumpingSelector(selectors.SelectSelector):
    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            return super().select(WAIT_FOR_THREADS_S)
        ready = super().select(0)
        if not ready:
            self._loop.now_s += max(0.0, timeout)
        return ready


class VirtualClock:
    """The `Clock` of the running virtual loop."""

    def now_ns(self) -> int:
        return START_NS + round(asyncio.get_running_loop().time() * SECOND_NS)

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


def run_virtual(main: Coroutine[Any, Any, T]) -> T:
    """Run `main` in virtual time, without threads: a wait of hours takes no time at all."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(main)

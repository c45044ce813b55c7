"""Blocking queries: answer when what was read has changed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from random import Random
from typing import TypeVar

from yurt.api.call import Call
from yurt.state.state import State
from yurt.state.watches import WatchKey

WAIT_MAX_S = 300.0
# A sixteenth more at most, so that queries begun together do not end together.
JITTER_FRACTION = 16

T = TypeVar("T")


async def blocking(
    call: Call,
    state: State,
    keys: Sequence[WatchKey],
    read: Callable[[], tuple[int, T]],
    rng: Random,
) -> tuple[int, T]:
    """Read at once, or once the index of what is read exceeds the one the caller knows.

    `read` gives that index and the result; `keys` are what it looks at. When all State is replaced,
    indexes may run backwards, so whoever waits then is answered. Nobody waits for a caller that has gone.
    """
    call.check_read()
    min_index = call.min_index
    wait_s = call.wait_s
    index, result = read()
    if min_index == 0 or index > min_index:
        return index, result
    wait_s = min(wait_s, WAIT_MAX_S) if wait_s > 0 else WAIT_MAX_S
    wait_s += rng.random() * wait_s / JITTER_FRACTION
    changed = asyncio.Event()
    watches = state.watches
    cancel = watches.add(keys, changed.set)
    gone = asyncio.ensure_future(call.wait_until_gone())
    gone.add_done_callback(lambda _: changed.set())
    try:
        async with asyncio.timeout(wait_s):
            while index <= min_index and state.watches is watches and not gone.done():
                await changed.wait()
                changed.clear()
                index, result = read()
    except TimeoutError:
        index, result = read()
    finally:
        cancel()
        gone.cancel()
    return index, result

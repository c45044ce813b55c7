"""One append on its way: what the caller gave, and how it hears of the outcome."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from yurt.errors import YurtError
from yurt.log.contract import ENTRY_BYTES_MAX
from yurt.log.errors import EntryTooLarge


@dataclass(slots=True, eq=False)
class Append:
    """Entries that wait to become durable. Not frozen: that would double the cost of making one."""

    entries: Sequence[bytes]
    size_bytes: int
    on_durable: Callable[[int], None]
    future: asyncio.Future[int]


def check_sizes(entries: Sequence[bytes]) -> int:
    """Return the bytes of `entries`, or raise EntryTooLarge."""
    assert entries, "an append needs at least one entry"
    total = 0
    for entry in entries:
        size = len(entry)
        if size > ENTRY_BYTES_MAX:
            raise EntryTooLarge(size_bytes=size, size_bytes_max=ENTRY_BYTES_MAX)
        total += size
    return total


def deliver(append: Append, first_index: int) -> None:
    """Tell the appender that its entries are durable from `first_index` on."""
    try:
        append.on_durable(first_index)
    except Exception as error:  # noqa: BLE001 - the callback is the appender's: so is its failure
        if append.future.done():  # nobody listens any more, yet it must not pass unseen
            append.future.get_loop().call_exception_handler(
                {"message": "what ran once a log entry was durable has failed", "exception": error}
            )
        else:
            append.future.set_exception(error)
        return
    # Done already means cancelled: the appender left, but its entries are in the log and applied.
    if not append.future.done():
        append.future.set_result(first_index)


def fail(append: Append, error: YurtError) -> None:
    """Tell the appender that nothing of its append is in the log."""
    if not append.future.done():
        append.future.set_exception(error)

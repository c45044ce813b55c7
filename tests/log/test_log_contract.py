"""What every log promises, held against each kind of log."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.log.logs import ignore, read_all
from yurt.log import EntriesCompacted, EntryTooLarge, Log, LogClosed
from yurt.log.contract import ENTRY_BYTES_MAX


async def test_new_log_is_empty(any_log: Log) -> None:
    assert (any_log.first_index, any_log.last_index) == (1, 0)
    assert any_log.read(1) == []


async def test_append_returns_the_index_of_its_first_entry(any_log: Log) -> None:
    assert await any_log.append([b"a"], ignore) == 1
    assert await any_log.append([b"b", b"c"], ignore) == 2
    assert await any_log.append([b""], ignore) == 4
    assert any_log.last_index == 4
    assert read_all(any_log) == [(1, b"a"), (2, b"b"), (3, b"c"), (4, b"")]


async def test_on_durable_runs_in_index_order_and_before_the_future_resolves(any_log: Log) -> None:
    events: list[tuple[str, int]] = []

    async def append(size: int) -> None:
        def durable(index: int) -> None:
            assert any_log.last_index == index + size - 1
            events.append(("durable", index))

        events.append(("resolved", await any_log.append([b"x"] * size, durable)))

    await asyncio.gather(*(append(1 + number % 3) for number in range(50)))
    durable = [index for kind, index in events if kind == "durable"]
    assert durable == sorted(durable)
    assert len(durable) == 50
    for index in durable:
        assert events.index(("durable", index)) < events.index(("resolved", index))


async def test_on_durable_never_runs_inside_append(any_log: Log) -> None:
    seen: list[int] = []
    future = any_log.append([b"a"], seen.append)
    assert seen == []
    await future
    assert seen == [1]


async def test_append_from_on_durable_follows(any_log: Log) -> None:
    futures: list[asyncio.Future[int]] = []
    await any_log.append([b"a"], lambda _: futures.append(any_log.append([b"b"], ignore)))
    assert await futures[0] == 2


async def test_cancelled_append_is_still_applied(any_log: Log) -> None:
    seen: list[int] = []
    any_log.append([b"a"], seen.append).cancel()
    assert await any_log.append([b"b"], seen.append) == 2
    assert seen == [1, 2]


async def test_failing_on_durable_fails_only_its_own_future(any_log: Log) -> None:
    def broken(_index: int) -> None:
        raise RuntimeError("apply failed")

    first = any_log.append([b"a"], broken)
    second = any_log.append([b"b"], ignore)
    with pytest.raises(RuntimeError, match="apply failed"):
        await first
    assert await second == 2


async def test_failing_on_durable_of_a_cancelled_append_reaches_the_loop(any_log: Log) -> None:
    def broken(_index: int) -> None:
        raise RuntimeError("apply failed")

    seen: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: seen.append(context))
    any_log.append([b"a"], broken).cancel()
    await any_log.append([b"b"], ignore)
    assert [str(context["exception"]) for context in seen] == ["apply failed"]


async def test_read_stops_at_the_limit_but_returns_at_least_one_entry(any_log: Log) -> None:
    await any_log.append([b"x" * 100] * 5, ignore)
    assert [index for index, _ in any_log.read(2, limit_bytes=250)] == [2, 3]
    assert [index for index, _ in any_log.read(5, limit_bytes=250)] == [5]
    assert [index for index, _ in any_log.read(1, limit_bytes=0)] == [1]
    assert any_log.read(6) == []
    assert any_log.read(99) == []


async def test_compact_drops_the_oldest(any_log: Log) -> None:
    await any_log.append([b"%d" % number for number in range(1, 6)], ignore)
    await any_log.compact(3)
    assert (any_log.first_index, any_log.last_index) == (4, 5)
    assert read_all(any_log) == [(4, b"4"), (5, b"5")]
    await any_log.compact(2)
    assert any_log.first_index == 4
    with pytest.raises(
        EntriesCompacted, match="entry 3 is no longer in the log, which starts at 4"
    ) as raised:
        any_log.read(3)
    assert (raised.value.first, raised.value.first_index) == (3, 4)


async def test_log_compacted_to_its_end_goes_on(any_log: Log) -> None:
    await any_log.append([b"a", b"b"], ignore)
    await any_log.compact(2)
    assert (any_log.first_index, any_log.last_index) == (3, 2)
    assert any_log.read(3) == []
    assert await any_log.append([b"c"], ignore) == 3
    assert read_all(any_log) == [(3, b"c")]


async def test_reset_empties_the_log_and_sets_the_next_index(any_log: Log) -> None:
    await any_log.append([b"a", b"b"], ignore)
    await any_log.reset(100)
    assert (any_log.first_index, any_log.last_index) == (100, 99)
    assert await any_log.append([b"c"], ignore) == 100
    assert read_all(any_log) == [(100, b"c")]


async def test_indexes_never_run_backwards(any_log: Log) -> None:
    await any_log.append([b"a", b"b"], ignore)
    with pytest.raises(AssertionError):
        await any_log.reset(2)
    with pytest.raises(AssertionError):
        await any_log.compact(3)


async def test_too_large_entry_is_refused(any_log: Log) -> None:
    with pytest.raises(EntryTooLarge, match="split the change"):
        any_log.append([b"a", bytes(ENTRY_BYTES_MAX + 1)], ignore)
    assert await any_log.append([b"a"], ignore) == 1


async def test_close_finishes_what_was_appended(any_log: Log) -> None:
    seen: list[int] = []
    futures = [any_log.append([b"a"], seen.append) for _ in range(10)]
    await any_log.close()
    assert seen == list(range(1, 11))
    assert [future.result() for future in futures] == seen


async def test_closed_log_takes_nothing(any_log: Log) -> None:
    await any_log.close()
    await any_log.close()
    with pytest.raises(LogClosed):
        any_log.append([b"a"], ignore)
    with pytest.raises(LogClosed):
        await any_log.compact(0)
    with pytest.raises(LogClosed):
        await any_log.reset(1)
    with pytest.raises(LogClosed):
        any_log.read(1)

"""Pages of lists: order, tokens, filters, and slices that leave the loop room."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from yurt.api.errors import HttpError
from yurt.api.filter import compile_filter
from yurt.api.listing import ITEMS_PER_SLICE, Page, by_id, by_index, by_namespace, listed
from yurt.api.rows import ROWS_PER_SLICE, Rows
from yurt.model.wire import Wire


class Thing(Wire, frozen=True, kw_only=True):
    id: str
    namespace: str = "default"
    create_index: int = 0


BY_ID = by_id(lambda thing: thing.id)
BY_INDEX = by_index(lambda thing: thing.create_index, lambda thing: thing.id)
BY_NAMESPACE = by_namespace(lambda thing: thing.namespace, lambda thing: thing.id)


def a_page(size: int = 0, token: str = "", *, backwards: bool = False, expression: str = "") -> Page:
    wanted = compile_filter(expression) if expression else None
    return Page(size=size, token=token, backwards=backwards, wanted=wanted)


def things(*ids: str) -> list[Thing]:
    return [Thing(id=one, create_index=number) for number, one in enumerate(ids, start=1)]


async def test_a_token_names_the_first_item_of_the_next_page() -> None:
    first, token = await listed(things("c", "a", "b"), a_page(2), BY_ID)
    assert ([one.id for one in first], token) == (["a", "b"], "c")
    rest, end = await listed(things("c", "a", "b"), a_page(2, token), BY_ID)
    assert ([one.id for one in rest], end) == (["c"], "")


async def test_indexes_in_tokens_are_compared_as_numbers() -> None:
    rows = [Thing(id="x", create_index=9), Thing(id="y", create_index=10)]
    found, _ = await listed(rows, a_page(0, "10.y"), BY_INDEX)
    assert [one.id for one in found] == ["y"]


async def test_pages_backwards_begin_at_the_end() -> None:
    found, token = await listed(things("a", "b", "c"), a_page(2, backwards=True), BY_NAMESPACE)
    assert ([one.id for one in found], token) == (["c", "b"], "default.a")


async def test_a_negative_size_gives_nothing_but_the_first_token() -> None:
    assert await listed(things("a", "b"), a_page(-1), BY_ID) == ([], "a")


async def test_filtered_items_do_not_count_towards_the_page() -> None:
    found, token = await listed(things("a", "b", "c"), a_page(1, expression='ID != "a"'), BY_ID)
    assert ([one.id for one in found], token) == (["b"], "c")


async def test_a_filter_that_does_not_fit_is_the_callers_mistake() -> None:
    with pytest.raises(HttpError) as caught:
        await listed(things("a"), a_page(expression="Nope == 1"), BY_ID)
    assert caught.value.status == 400
    assert caught.value.text.startswith("failed to read result page: ")


async def test_long_lists_are_whole_ordered_and_leave_others_room() -> None:
    size = 3 * ITEMS_PER_SLICE + 1
    rows = [Thing(id=f"{number * 7919 % size:06d}") for number in range(size)]
    turns = 0

    async def someone_else() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    other = asyncio.ensure_future(someone_else())
    found, _ = await listed(rows, a_page(), BY_ID)
    other.cancel()
    assert [one.id for one in found] == [f"{number:06d}" for number in range(size)]
    assert turns > 3


@pytest.mark.parametrize("size", [0, 1, ROWS_PER_SLICE, ROWS_PER_SLICE + 1, 3 * ROWS_PER_SLICE])
async def test_rows_in_parts_are_the_rows_at_once(size: int) -> None:
    rows = Rows([Thing(id=str(number)) for number in range(size)], lambda thing: {"ID": thing.id})
    parts = b"".join([part async for part in rows.json_parts()])
    assert parts == rows.json()
    assert len(msgspec.json.decode(parts)) == size

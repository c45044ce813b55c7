"""Lists: the objects a caller wants, in order, a page at a time."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Generic, TypeAlias, TypeVar

import msgspec

from yurt.api.call import Call, uint64
from yurt.api.errors import HttpError
from yurt.api.filter import Filter, FilterFailed, FilterUnreadable, compile_filter

# Sorting or filtering so many takes a few milliseconds: what others may have to wait for.
ITEMS_PER_SLICE = 4096
# An expression may decode parts of each object.
FILTERED_PER_SLICE = 1024
PER_PAGE_MAX = 2**31 - 1

T = TypeVar("T")
Key: TypeAlias = tuple[int | str, ...]


class Order(msgspec.Struct, Generic[T], frozen=True, kw_only=True):
    """An order of objects: each one's place, and how a page token names a place."""

    key: Callable[[T], Key]
    token: Callable[[T], str]
    place: Callable[[str], Key]


def by_id(id_of: Callable[[Any], str]) -> Order[Any]:
    """Order by one text."""
    return Order(key=lambda item: (id_of(item),), token=id_of, place=lambda token: (token,))


def by_index(index_of: Callable[[Any], int], id_of: Callable[[Any], str]) -> Order[Any]:
    """Order by an index, then by id; tokens are `<index>.<id>`."""

    def place(token: str) -> Key:
        head, _, rest = token.partition(".")
        index = uint64(head)
        return (index, rest) if index is not None else (0, token)

    return Order(
        key=lambda item: (index_of(item), id_of(item)),
        token=lambda item: f"{index_of(item)}.{id_of(item)}",
        place=place,
    )


def by_namespace(namespace_of: Callable[[Any], str], id_of: Callable[[Any], str]) -> Order[Any]:
    """Order by namespace, then by id; tokens are `<namespace>.<id>`."""

    def place(token: str) -> Key:
        namespace, _, rest = token.partition(".")
        return (namespace, rest)

    return Order(
        key=lambda item: (namespace_of(item), id_of(item)),
        token=lambda item: f"{namespace_of(item)}.{id_of(item)}",
        place=place,
    )


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """What a list request asks for besides its own parameters."""

    size: int
    token: str
    backwards: bool
    wanted: Filter | None


def page_of(call: Call, *, filter_status: int = 400) -> Page:
    """Read a list request's parameters. Raises HttpError."""
    return Page(
        size=per_page(call),
        token=call.query.get("next_token", ""),
        backwards=call.query.get("reverse") == "true",
        wanted=filter_of(call.query.get("filter", ""), status=filter_status),
    )


def per_page(call: Call) -> int:
    """How many items the caller wants; 0 for all."""
    text = call.query.get("per_page", "")
    if not text:
        return 0
    number = uint64(text.removeprefix("-"))
    if number is None or number > PER_PAGE_MAX:
        raise HttpError(400, "Expect a number for `per_page` query string parameter")
    return -number if text.startswith("-") else number


def filter_of(text: str, *, status: int = 400) -> Filter | None:
    """The filter that a text means; None for an empty one. Raises HttpError."""
    try:
        return compile_filter(text) if text else None
    except FilterUnreadable as error:
        raise HttpError(
            status, f"failed to create result paginator: failed to read filter expression: {error}"
        ) from None


async def listed(
    items: Iterable[T],
    page: Page,
    order: Order[T],
    *,
    where: Callable[[T], bool] | None = None,
    filter_status: int = 400,
) -> tuple[list[T], str]:
    """Give a page of `items` and the token of the next one, which names its first item.

    `items` is copied at once, so that the page shows one moment however long it takes. Raises HttpError
    where the filter does not fit.
    """
    most = max(page.size, 0)
    found: list[T] = []
    async for part in _wanted(list(items), page, order, where, filter_status):
        found += part
        if page.size and len(found) > most:
            return found[:most], order.token(found[most])
    return found, ""


async def count_of(items: Iterable[T], wanted: Filter | None, where: Callable[[T], bool]) -> int:
    """Count the items that are wanted. Raises HttpError where the filter does not fit."""
    page = Page(size=0, token="", backwards=False, wanted=wanted)
    total = 0
    for part in await _sorted_parts(list(items), page, None, where):
        total += len(part if wanted is None else _passing(part, wanted, 400))
        await asyncio.sleep(0)
    return total


async def _wanted(
    items: list[T],
    page: Page,
    order: Order[T],
    where: Callable[[T], bool] | None,
    filter_status: int,
) -> AsyncIterator[list[T]]:
    """What is wanted of `items`, in order, a slice at a time."""
    parts = await _sorted_parts(items, page, order, where)
    merged = iter(parts[0]) if len(parts) == 1 else heapq.merge(*parts, key=order.key, reverse=page.backwards)
    at_once = ITEMS_PER_SLICE if page.wanted is None else FILTERED_PER_SLICE
    # One more than the page holds is looked for: it names the next page.
    most = max(page.size, 0) + 1 if page.size else None
    while part := list(islice(merged, at_once)):
        yield part if page.wanted is None else _passing(part, page.wanted, filter_status, most=most)
        if len(part) == at_once:
            await asyncio.sleep(0)


async def _sorted_parts(
    items: list[T], page: Page, order: Order[T] | None, where: Callable[[T], bool] | None
) -> list[Sequence[T]]:
    """Items from the page's token on, in sorted parts; there is at least one."""
    start = order.place(page.token) if page.token and order is not None else None
    parts: list[Sequence[T]] = []
    for at in range(0, len(items) or 1, ITEMS_PER_SLICE):
        part = items[at : at + ITEMS_PER_SLICE]
        if where is not None:
            part = [item for item in part if where(item)]
        if order is not None:
            if start is not None:
                part = [item for item in part if _is_from(order.key(item), start, page.backwards)]
            part.sort(key=order.key, reverse=page.backwards)
        parts.append(part)
        if len(items) > ITEMS_PER_SLICE:
            await asyncio.sleep(0)
    return parts


def _is_from(key: Key, start: Key, backwards: bool) -> bool:
    return key <= start if backwards else key >= start


def _passing(items: Sequence[T], wanted: Filter, status: int, *, most: int | None = None) -> list[T]:
    """The first `most` items that a filter lets through. Raises HttpError where it does not fit."""
    try:
        return list(islice(filter(wanted.matches, items), most))
    except FilterFailed as error:
        raise HttpError(status, f"failed to read result page: {error}") from None

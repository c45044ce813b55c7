"""Pages of lists: prefix, order, next token."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import dropwhile
from typing import TypeVar

from yurt.api.call import Call
from yurt.api.errors import HttpError

T = TypeVar("T")

_PER_PAGE_MAX = 2**31 - 1


def per_page(call: Call) -> int:
    """How many items the caller wants; 0 for all."""
    text = call.query.get("per_page", "")
    if not text:
        return 0
    try:
        number = int(text)
    except ValueError:
        number = _PER_PAGE_MAX + 1
    if abs(number) > _PER_PAGE_MAX:
        raise HttpError(400, "Expect a number for `per_page` query string parameter")
    return number


def page(
    call: Call,
    items: Iterable[T],
    *,
    order: Callable[[T], tuple[int | str, ...]],
    token: Callable[[T], str],
) -> tuple[list[T], str]:
    """The asked-for page of `items`, and the token of the next one, which names its first item."""
    size = per_page(call)
    backwards = call.query.get("reverse") == "true"
    ordered = sorted(items, key=order, reverse=backwards)
    start = call.query.get("next_token", "")
    if start:
        wanted = _token_order(start)

        def is_before(item: T) -> bool:
            at = _token_order(token(item))
            return at > wanted if backwards else at < wanted

        ordered = list(dropwhile(is_before, ordered))
    if size == 0 or len(ordered) <= size:
        return ordered, ""
    if size < 0:
        return [], token(ordered[0])
    return ordered[:size], token(ordered[size])


def _token_order(token: str) -> tuple[int, str]:
    """Tokens that begin with an index are ordered by it."""
    head, dot, rest = token.partition(".")
    return (int(head), rest) if dot and head.isdigit() else (0, token)

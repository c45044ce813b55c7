"""Rows of a list on their way to JSON, in slices that leave the loop room for others."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

import msgspec

# Encoding so many takes a few milliseconds: what others may have to wait for.
ROWS_PER_SLICE = 250

_encode_lines = msgspec.json.Encoder().encode


class Rows:
    """Objects of a list, and how each is shown. The objects must never change."""

    def __init__(self, items: Sequence[Any], view: Callable[[Any], Any] | None = None) -> None:
        self._items = items
        self._view = view

    def __len__(self) -> int:
        return len(self._items)

    def json(self) -> bytes:
        """All rows at once."""
        return _encode_lines(self._shown(self._items))

    async def json_parts(self) -> AsyncIterator[bytes]:
        """All rows, a slice at a time."""
        separator = b"["
        for start in range(0, len(self._items), ROWS_PER_SLICE):
            encoded = _encode_lines(self._shown(self._items[start : start + ROWS_PER_SLICE]))
            yield separator + encoded[1:-1]
            separator = b","
            await asyncio.sleep(0)
        yield b"]" if self._items else b"[]"

    def _shown(self, items: Sequence[Any]) -> Sequence[Any]:
        return items if self._view is None else [self._view(item) for item in items]

"""What each entry changed, for those who tell others about it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import msgspec


class Change(msgspec.Struct, frozen=True, gc=False):
    """An object as an entry left it; with `is_deleted`, as it was before."""

    row: Any
    is_deleted: bool = False


class Changed(msgspec.Struct, frozen=True):
    """What one entry changed: its index and kind, and the objects by table and key."""

    index: int
    kind: str
    tables: dict[str, dict[Hashable, Change]]


class Journal:
    """Collects changes while entries are applied. Objects are kept by reference: they never change."""

    def __init__(self) -> None:
        self._tables: dict[str, dict[Hashable, Change]] = {}
        self._done: list[Changed] = []

    def note(self, table: str, key: Hashable, row: object, *, is_deleted: bool = False) -> None:
        """Note an object; of one that changes twice in an entry only the last form is kept."""
        self._tables.setdefault(table, {})[key] = Change(row, is_deleted)

    def close(self, index: int, kind: str) -> None:
        """End an entry."""
        if self._tables:
            self._done.append(Changed(index, kind, self._tables))
            self._tables = {}

    def take(self) -> list[Changed]:
        """What changed since the last call, entry by entry."""
        done, self._done = self._done, []
        return done

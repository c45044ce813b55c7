"""A table of State: objects by key, the index of its last change, and its watchers."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

from yurt.state.watches import Watches

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Table(Generic[K, V]):
    """Objects by key. Watch families: the table's name, with the key, or None for any change."""

    def __init__(self, name: str, watches: Watches) -> None:
        self.name = name
        self.index = 0
        self._rows: dict[K, V] = {}
        self._watches = watches
        self._family = watches.family(name)

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[V]:
        return iter(self._rows.values())

    def __contains__(self, key: K) -> bool:
        return key in self._rows

    def __getitem__(self, key: K) -> V:
        return self._rows[key]

    def get(self, key: K) -> V | None:
        """The object with `key`, if there is one."""
        return self._rows.get(key)

    def rows(self) -> list[V]:
        """A copy of the table's objects, in the order they were first put."""
        return list(self._rows.values())

    def put(self, key: K, row: V, index: int) -> None:
        """Set the object with `key`, as of `index`."""
        self._rows[key] = row
        if self._watches.journal is not None:
            self._watches.journal.note(self.name, key, row)
        self._changed(key, index)

    def delete(self, key: K, index: int) -> V | None:
        """Remove the object with `key`, as of `index`."""
        row = self._rows.pop(key, None)
        if row is not None:
            if self._watches.journal is not None:
                self._watches.journal.note(self.name, key, row, is_deleted=True)
            self._changed(key, index)
        return row

    def _changed(self, key: K, index: int) -> None:
        self.index = index
        self._watches.touch(self._family, key)
        self._watches.touch(self._family, None)

"""Who wants to know when which part of State changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeAlias

from yurt.state.journal import Journal

Wake: TypeAlias = Callable[[], None]
WatchKey: TypeAlias = tuple[str, Hashable]
"""A family of things and which one of it, such as ("allocs-of-job", key); None means the whole table."""


class Watches:
    """Wake-up calls by family and key.

    Writing State touches keys; `flush`, called after a whole batch is applied, wakes each watcher of
    a touched key once. A touched family without watchers costs one look into an empty dict.
    """

    def __init__(self) -> None:
        self._families: dict[str, dict[Hashable, dict[Wake, None]]] = {}
        self._due: dict[Wake, None] = {}
        # Where tables note what changes, if somebody wants to tell it.
        self.journal: Journal | None = None

    def family(self, name: str) -> dict[Hashable, dict[Wake, None]]:
        """The watchers of one family, for tables that touch it on hot paths."""
        return self._families.setdefault(name, {})

    def touch(self, family: dict[Hashable, dict[Wake, None]], key: Hashable) -> None:
        """Note that `key` changed."""
        wakes = family.get(key)
        if wakes is not None:
            self._due.update(wakes)

    def hand_over(self, successor: Watches) -> None:
        """Give all watchers to `successor`, which has none, and wake them: everything may have changed.

        Who watches may still cancel what it got from here.
        """
        for name, watched in self._families.items():
            family = successor.family(name)
            family.update(watched)
            self._families[name] = family
            for wakes in family.values():
                self._due.update(wakes)
        successor._due = self._due
        successor.journal = self.journal
        self.flush()

    def flush(self) -> None:
        """Wake whoever watches what was touched."""
        if not self._due:
            return
        due = list(self._due)
        self._due.clear()
        for wake in due:
            wake()

    def add(self, keys: Iterable[WatchKey], wake: Wake) -> Callable[[], None]:
        """Call `wake` when any of `keys` changes, until the returned function is called."""
        watched = tuple(keys)
        for family, key in watched:
            self.family(family).setdefault(key, {})[wake] = None

        def cancel() -> None:
            for family, key in watched:
                wakes = self._families[family].get(key)
                if wakes is not None:
                    wakes.pop(wake, None)
                    if not wakes:
                        del self._families[family][key]
            self._due.pop(wake, None)

        return cancel

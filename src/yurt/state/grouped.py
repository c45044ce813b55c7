"""Keys grouped by what they belong to: the secondary index of a table."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Generic, TypeVar

G = TypeVar("G", bound=Hashable)
M = TypeVar("M", bound=Hashable)


class Grouped(Generic[G, M]):
    """Members by group, each in the order it was added, so that iteration is the same everywhere."""

    def __init__(self) -> None:
        self._groups: dict[G, dict[M, None]] = {}
        self._nobody: dict[M, None] = {}

    def add(self, group: G, member: M) -> None:
        """Put `member` into `group`."""
        members = self._groups.get(group)
        if members is None:
            members = self._groups[group] = {}
        members[member] = None

    def discard(self, group: G, member: M) -> None:
        """Take `member` out of `group`, if it is there."""
        members = self._groups.get(group)
        if members is not None:
            members.pop(member, None)
            if not members:
                del self._groups[group]

    def of(self, group: G) -> dict[M, None]:
        """The members of `group`; not to be changed."""
        return self._groups.get(group) or self._nobody

    def groups(self) -> Iterator[G]:
        """The groups that have members."""
        return iter(self._groups)

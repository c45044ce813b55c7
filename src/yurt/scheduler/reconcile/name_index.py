"""The name index: which instance numbers of a group are in use."""

from __future__ import annotations

from collections.abc import Iterable

from yurt.model.alloc import Allocation


class NameIndex:
    """Instance numbers of a group that are taken, with those that were met twice."""

    def __init__(self, count: int, allocs: Iterable[Allocation]) -> None:
        self._count = count
        self._used: set[int] = set()
        self._duplicates: dict[int, int] = {}
        for alloc in allocs:
            index = alloc.name_index
            if index in self._used:
                self._duplicates[index] = self._duplicates.get(index, 0) + 1
            self._used.add(index)

    def next(self, n: int) -> list[int]:
        """Take the `n` lowest free numbers below the count; past those, numbers are given out again."""
        taken: list[int] = []
        for index in range(self._count):
            if len(taken) == n:
                break
            if index not in self._used:
                taken.append(index)
        taken += range(n - len(taken))
        self._used.update(taken)
        return taken

    def highest(self, n: int) -> set[int]:
        """Release the `n` highest numbers in use."""
        released = set(sorted(self._used, reverse=True)[:n])
        self._used -= released
        return released

    def release(self, index: int) -> None:
        """Release one number."""
        self._used.discard(index)

    def next_canaries(
        self, n: int, existing: Iterable[Allocation], destructive: Iterable[Allocation]
    ) -> list[int]:
        """Take `n` numbers for canaries, best those of the instances that they may come to replace."""
        used_by_canaries = {alloc.name_index for alloc in existing}
        replaced = sorted({alloc.name_index for alloc in destructive})
        taken = [i for i in replaced if i < self._count and i not in used_by_canaries][:n]
        for index in range(self._count):
            if len(taken) == n:
                break
            if index not in self._used and index not in used_by_canaries and index not in taken:
                taken.append(index)
        taken += range(self._count, self._count + n - len(taken))
        self._used.update(taken)
        return taken

    def without_duplicate(self, index: int) -> int:
        """The number to place an instance under: its own, unless another instance has it, too."""
        duplicates = self._duplicates.get(index, 0)
        if not duplicates:
            return index
        if duplicates == 1:
            del self._duplicates[index]
        else:
            self._duplicates[index] = duplicates - 1
        return self.next(1)[0]

"""Names with wildcards, and which of several is the closest to a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Generic, TypeVar

WILDCARD = "*"
# Names come from callers; what was looked up is kept for no more of them than this.
REMEMBERED_MAX = 4096

T = TypeVar("T")


def matches(pattern: str, name: str) -> bool:
    """Whether a name fits a pattern, in which `*` stands for any text."""
    first, *rest = pattern.split(WILDCARD)
    if not rest:
        return first == name
    last = rest.pop()
    if len(name) < len(first) + len(last) or not (name.startswith(first) and name.endswith(last)):
        return False
    at, end = len(first), len(name) - len(last)
    for part in rest:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return True


class Closest(Generic[T]):
    """Values by pattern: a name has that of its own, else of the pattern with the fewest wild characters."""

    def __init__(self, values: Mapping[str, T], default: T) -> None:
        self._exact = {pattern: value for pattern, value in values.items() if WILDCARD not in pattern}
        self._globs = [(pattern, value) for pattern, value in values.items() if WILDCARD in pattern]
        # Among patterns that match, the one with the most fixed characters leaves the fewest to chance.
        self._globs.sort(key=lambda item: (-len(item[0].replace(WILDCARD, "")), item[0]))
        self._default = default
        self._remembered: dict[str, T] = {}

    def of(self, name: str) -> T:
        """The value of a name."""
        found = self._exact.get(name)
        if found is not None:
            return found
        if not self._globs:
            return self._default
        known = self._remembered.get(name)
        if known is None:
            known = next((value for pattern, value in self._globs if matches(pattern, name)), self._default)
            if len(self._remembered) >= REMEMBERED_MAX:
                self._remembered.clear()
            self._remembered[name] = known
        return known

    def values(self) -> Iterable[T]:
        """The values of all patterns."""
        yield from self._exact.values()
        yield from (value for _, value in self._globs)

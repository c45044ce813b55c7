"""Sets of small numbers written as ranges, such as `0-2,7`."""

from __future__ import annotations

from collections.abc import Iterable

from yurt.errors import YurtError


class BadIdSet(YurtError):
    """A text that is not a list of numbers and ranges."""

    def __init__(self, text: str, *, part: str) -> None:
        super().__init__(
            f"{text!r} is not a set of ids: {part!r} is neither a number nor a range such as 0-3"
        )
        self.text = text


def parse_ids(text: str) -> frozenset[int]:
    """Read `0-2,7`; an empty text is the empty set. Raises BadIdSet."""
    ids: set[int] = set()
    for part in text.replace(" ", "").strip().split(","):
        if not part:
            continue
        low, dash, high = part.partition("-")
        if not low.isdecimal() or (dash and not high.isdecimal()):
            raise BadIdSet(text, part=part)
        first, last = int(low), int(high or low)
        if last < first:
            raise BadIdSet(text, part=part)
        ids.update(range(first, last + 1))
    return frozenset(ids)


def format_ids(ids: Iterable[int]) -> str:
    """Write ids as ascending ranges; the inverse of `parse_ids`."""
    parts: list[str] = []
    ordered = sorted(set(ids))
    start = 0
    for position, number in enumerate(ordered):
        if position + 1 == len(ordered) or ordered[position + 1] != number + 1:
            first = ordered[start]
            parts.append(str(first) if first == number else f"{first}-{number}")
            start = position + 1
    return ",".join(parts)

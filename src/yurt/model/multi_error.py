"""Several problems told in one text, laid out as clients of Nomad know it."""

from __future__ import annotations

from collections.abc import Sequence

from yurt.errors import YurtError


class MultiError(YurtError):
    """Everything that is wrong with one thing; `items` are the problems, in order."""

    def __init__(self, items: Sequence[str]) -> None:
        assert items, "a MultiError needs a problem"
        super().__init__(multi_error_text(items))
        self.items = tuple(items)


def multi_error_text(items: Sequence[str]) -> str:
    """Lay problems out as a list; a nested list keeps its own layout inside its item."""
    heading = "1 error occurred:" if len(items) == 1 else f"{len(items)} errors occurred:"
    points = "\n\t".join(f"* {item}" for item in items)
    return f"{heading}\n\t{points}\n\n"


def nested(items: Sequence[str], *, under: str) -> list[str]:
    """Give no item for no problems, else one that holds them all `under` a heading."""
    return [f"{under}: {multi_error_text(items)}"] if items else []


def deeper(items: Sequence[str]) -> list[str]:
    """Give no item for no problems, else one that is the list of them."""
    return [multi_error_text(items)] if items else []


def warnings_text(items: Sequence[str]) -> str:
    """Lay warnings out as a list; no warnings give an empty text."""
    if not items:
        return ""
    heading = "1 warning:" if len(items) == 1 else f"{len(items)} warnings:"
    points = "\n".join(f"* {item.rstrip()}" for item in items)
    return f"{heading}\n\n{points}"

"""Limits on what functions of templates may make."""

from __future__ import annotations

from yurt.agent.templates.language import FunctionFailed

TEXT_CHARS_MAX = 4 << 20
ITEMS_MAX = 1_000_000


def check_text(chars: int) -> None:
    """Refuse to make a text that is too long. Raises FunctionFailed."""
    if chars > TEXT_CHARS_MAX:
        raise too_long()


def too_long() -> FunctionFailed:
    """A text would be too long."""
    return FunctionFailed(f"the text would have more than {TEXT_CHARS_MAX} characters")


def check_items(count: int) -> None:
    """Refuse to make a list that is too long. Raises FunctionFailed."""
    if count > ITEMS_MAX:
        raise FunctionFailed(f"the list would have more than {ITEMS_MAX} items")

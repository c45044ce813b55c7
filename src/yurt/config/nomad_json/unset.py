"""How the API shows settings that nobody changed."""

from typing import TypeVar

import msgspec

from yurt.config.blocks.base import Block
from yurt.config.quantities import duration_text, nanoseconds

V = TypeVar("V")

REDACTED = "<redacted>"


def redacted(secret: str) -> str:
    """A secret's stand-in; one that is not set stays empty."""
    return REDACTED if secret else ""


def is_default(block: Block, field: str) -> bool:
    default = next(f.default for f in msgspec.structs.fields(block) if f.name == field)
    return bool(getattr(block, field) == default)


def if_set(block: Block, field: str, unset: V) -> V:
    """The value of `field`, or `unset` while it is the default."""
    value: V = unset if is_default(block, field) else getattr(block, field)
    return value


def text_if_set(block: Block, field: str) -> str:
    """A duration as text, empty while it is the default."""
    return "" if is_default(block, field) else duration_text(getattr(block, field))


def nanoseconds_if_set(block: Block, field: str) -> int:
    """A duration in nanoseconds, 0 while it is the default."""
    return 0 if is_default(block, field) else nanoseconds(getattr(block, field))


def list_or_null(values: tuple[str, ...]) -> list[str] | None:
    return list(values) or None

"""What all blocks have in common: how a field says its key, its form and its limits."""

from collections.abc import Mapping
from enum import Enum
from typing import Annotated, ClassVar, TypeAlias

import msgspec


class Form(Enum):
    """How a number is written in a file, where that is not as a number."""

    DURATION = "duration"
    SIZE = "size"


Seconds: TypeAlias = Annotated[float, Form.DURATION]
Bytes: TypeAlias = Annotated[int, Form.SIZE]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0)]
Port: TypeAlias = Annotated[int, msgspec.Meta(ge=1, le=65535)]
PortOrOff: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=65535)]
Percent: TypeAlias = Annotated[float, msgspec.Meta(ge=0, le=100)]


def file_key(field: str) -> str:
    """The key of a field in files: its name without the unit `_s`, as files write durations with units."""
    return field.removesuffix("_s")


class Block(msgspec.Struct, frozen=True, kw_only=True, rename=file_key):
    """One block of the configuration.

    A field's key is `file_key`, unless `msgspec.field(name=...)` gives another. A field without a default
    must be set by files. The type says what files may hold; a `tuple` adds up over files and a `dict`
    merges by name.
    """

    UNSERVED: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """Keys that are accepted and have no effect, each with the keys that its block knows (none: anything)."""

    ALIASES: ClassVar[Mapping[str, str]] = {}
    """Other spellings: key → path of the key it stands for, from here, or from the top after a leading `.`"""


def unserved(*keys: str, **blocks: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Write an `UNSERVED`: plain keys first, then blocks with their keys."""
    return {**dict.fromkeys(keys, ()), **blocks}

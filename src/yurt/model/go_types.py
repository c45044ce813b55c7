"""The Go types of request members, where an error text names them or their range matters."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple, TypeAlias


class GoInteger(NamedTuple):
    """An integer type: what Go calls it, and which numbers it holds."""

    name: str
    minimum: int
    maximum: int


class FoldedAs(NamedTuple):
    """Marks a member that is checked as `struct`, but kept as the folded dict."""

    struct: type


INT = GoInteger("int", -(2**63), 2**63 - 1)

Int8: TypeAlias = Annotated[int, GoInteger("int8", -(2**7), 2**7 - 1)]
Int64: TypeAlias = Annotated[int, GoInteger("int64", -(2**63), 2**63 - 1)]
Uint8: TypeAlias = Annotated[int, GoInteger("uint8", 0, 2**8 - 1)]
Uint16: TypeAlias = Annotated[int, GoInteger("uint16", 0, 2**16 - 1)]
Uint64: TypeAlias = Annotated[int, GoInteger("uint64", 0, 2**64 - 1)]
Duration: TypeAlias = Annotated[int, GoInteger("time.Duration", -(2**63), 2**63 - 1)]

Folded: TypeAlias = dict[str, Any]
"""A request member in canonical spelling, without nulls; see `yurt.model.decode.fold`."""

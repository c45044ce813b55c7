"""The parts of a filter expression."""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class Selector(msgspec.Struct, frozen=True):
    """The way from an object to a value inside it."""

    path: tuple[str, ...]


class Match(msgspec.Struct, frozen=True, kw_only=True):
    """A test of one value. `operator` is its positive form; tests of emptiness and nil have no `value`."""

    selector: Selector
    operator: str
    value: str = ""
    negated: bool = False


class Not(msgspec.Struct, frozen=True):
    """True where `inner` is not."""

    inner: Expression


class Both(msgspec.Struct, frozen=True):
    """True where both are."""

    left: Expression
    right: Expression


class Either(msgspec.Struct, frozen=True):
    """True where one is."""

    left: Expression
    right: Expression


class Quantified(msgspec.Struct, frozen=True, kw_only=True):
    """True where `inner` is for `every` item of a collection, or for one of them.

    `key_name` is bound to the index or key, `item_name` to the item or value; an empty name to nothing.
    """

    every: bool
    selector: Selector
    key_name: str
    item_name: str
    inner: Expression


Expression: TypeAlias = Match | Not | Both | Either | Quantified

"""Values of templates: how they are told apart, what counts as empty, what they hold.

A template sees None, bool, int, float, str, bytes, lists, dicts and Records; nothing else of Python.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

Value: TypeAlias = Any
"""A value of a template, of any kind."""


class Record:
    """A value with named members and methods. Subclasses say which; `text` is how it is shown."""

    type_name = "struct"

    def members(self) -> Mapping[str, Value]:
        """Its members, in order."""
        return {}

    def methods(self) -> Mapping[str, Callable[..., Value]]:
        """What can be called on it."""
        return {}

    def text(self) -> str | None:
        """How it is shown; None for all its members in braces."""
        return None


class RecordMap(dict[str, Any]):
    """A map that can be ranged over, and has methods, too."""

    type_name = "map"

    def methods(self) -> Mapping[str, Callable[..., Value]]:
        """What can be called on it."""
        return {}


def type_name(value: Value) -> str:
    """What Go calls the type of a value."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "bool"
        case int():
            return "int"
        case float():
            return "float64"
        case str():
            return "string"
        case bytes():
            return "[]uint8"
        case list() | range():
            items_are_texts = bool(value) and all(isinstance(item, str) for item in value)
            return "[]string" if items_are_texts else "[]interface {}"
        case RecordMap() | Record():
            return value.type_name
        case dict():
            return "map[string]interface {}"
    raise AssertionError(f"{type(value)} is no value of a template")


def is_true(value: Value) -> bool:
    """Whether a value counts as true: it is neither nothing, nor zero, nor empty."""
    match value:
        case None:
            return False
        case bool() | int() | float():
            return bool(value)
        case Record():
            return True
    return len(value) > 0


def size_of(value: Value) -> int:
    """Roughly how much room a value takes, itself and not what it holds."""
    match value:
        case str() | bytes() | list() | dict():
            return len(value)
    return 1

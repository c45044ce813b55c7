"""The functions that expressions in driver config may call."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import msgspec

Value: TypeAlias = "str | int | float | bool | list[Value] | dict[str, Value] | None"


class BadArguments(Exception):
    """A function was called with what it cannot work on."""


def call(name: str, arguments: list[Value]) -> Value:
    """Call a function by name; it must be in `FUNCTIONS`. Raises BadArguments."""
    try:
        return FUNCTIONS[name](*arguments)
    except (TypeError, ValueError, IndexError, KeyError, msgspec.MsgspecError) as error:
        raise BadArguments(str(error)) from error


def _coalesce(*values: Value) -> Value:
    for value in values:
        if value is not None:
            return value
    raise ValueError("all arguments are null")


def _concat(*lists: Value) -> Value:
    return [item for values in lists for item in _list(values)]


def _hasindex(collection: Value, key: Value) -> Value:
    if isinstance(collection, dict):
        return key in collection
    return isinstance(key, int) and 0 <= key < len(_list(collection))


def _length(collection: Value) -> Value:
    return len(collection) if isinstance(collection, dict) else len(_list(collection))


def _reverse(text: Value) -> Value:
    return str(text)[::-1]


def _substr(text: Value, offset: Value, length: Value) -> Value:
    characters, start, count = str(text), int(_number(offset)), int(_number(length))
    start = max(0, start + len(characters)) if start < 0 else start
    return characters[start:] if count < 0 else characters[start : start + count]


def _list(value: Value) -> list[Value]:
    if not isinstance(value, list):
        raise TypeError("a list is needed")
    return value


def _number(value: Value) -> int | float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        return float(value) if "." in value else int(value)
    raise TypeError("a number is needed")


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "abs": lambda number: abs(_number(number)),
    "coalesce": _coalesce,
    "concat": _concat,
    "hasindex": _hasindex,
    "int": lambda number: int(_number(number)),
    "jsondecode": lambda text: msgspec.json.decode(str(text)),
    "jsonencode": lambda value: msgspec.json.encode(value).decode(),
    "length": _length,
    "lower": lambda text: str(text).lower(),
    "max": lambda *numbers: max(map(_number, numbers)),
    "min": lambda *numbers: min(map(_number, numbers)),
    "reverse": _reverse,
    "strlen": lambda text: len(str(text)),
    "substr": _substr,
    "upper": lambda text: str(text).upper(),
}

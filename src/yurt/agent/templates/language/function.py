"""Functions that templates may call, with the types of their arguments."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from yurt.agent.templates.language.values import Value, type_name
from yurt.errors import YurtError


class FunctionFailed(YurtError):
    """A function cannot give a value for its arguments."""


class BadArgument(YurtError):
    """An argument is of another type than the function takes."""


# What Go calls the types of parameters.
_TYPE_NAMES: Mapping[Any, str] = {
    Any: "interface {}",
    str: "string",
    int: "int",
    float: "float64",
    bool: "bool",
    list: "[]interface {}",
    list[Any]: "[]interface {}",
    list[str]: "[]string",
    dict: "map[string]interface {}",
    dict[str, Any]: "map[string]interface {}",
}


class Function(msgspec.Struct, frozen=True):
    """A function: `types` of its arguments, then any number of the type `rest`, if there is one."""

    call: Callable[..., Value]
    types: tuple[Any, ...]
    rest: Any = None
    has_rest: bool = False

    def check_count(self, name: str, count: int) -> None:
        """Raises BadArgument for too few or too many arguments."""
        least = len(self.types)
        if self.has_rest and count < least:
            raise BadArgument(f"wrong number of args for {name}: want at least {least} got {count}")
        if not self.has_rest and count != least:
            raise BadArgument(f"wrong number of args for {name}: want {least} got {count}")

    def argument(self, number: int, value: Value) -> Value:
        """The `number`-th argument as the function takes it. Raises BadArgument."""
        return _fitting(value, self.types[number] if number < len(self.types) else self.rest)


def function(call: Callable[..., Value]) -> Function:
    """Make a function of a Python one, whose annotations say what it takes."""
    types, rest, has_rest = _signature(getattr(call, "__func__", call), inspect.ismethod(call))
    return Function(call, types, rest, has_rest)


@lru_cache(maxsize=1024)
def _signature(call: Callable[..., Value], is_bound: bool) -> tuple[tuple[Any, ...], Any, bool]:
    hints = typing.get_type_hints(call)
    parameters = list(inspect.signature(call).parameters.values())[is_bound:]
    assert all(hints[each.name] in _TYPE_NAMES for each in parameters), f"{call} takes an unknown type"
    types = tuple(hints[each.name] for each in parameters if each.kind is not each.VAR_POSITIONAL)
    rest = [hints[each.name] for each in parameters if each.kind is each.VAR_POSITIONAL]
    return types, (rest[0] if rest else None), bool(rest)


def _fitting(value: Value, wanted: Any) -> Value:  # noqa: ANN401 - a type annotation
    if wanted is Any:
        return value
    if value is None:
        raise BadArgument(f"invalid value; expected {_TYPE_NAMES[wanted]}")
    kind = typing.get_origin(wanted) or wanted
    if kind is float and type(value) is int:
        return float(value)
    # A range is a list that nobody has written down.
    if kind is list and isinstance(value, range):
        return list(value)
    if kind is str and (text := getattr(value, "as_text", None)) is not None:
        return text
    is_number_as_bool = isinstance(value, bool) and kind is int
    if not isinstance(value, kind) or is_number_as_bool:
        raise _wrong_type(value, wanted)
    if wanted == list[str] and not all(isinstance(item, str) for item in value):
        raise _wrong_type(value, wanted)
    return value


def _wrong_type(value: Value, wanted: Any) -> BadArgument:  # noqa: ANN401 - a type annotation
    return BadArgument(f"wrong type for value; expected {_TYPE_NAMES[wanted]}; got {type_name(value)}")

"""Decode a task's driver config into a Struct, with the conversions job files rely on."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, NewType, TypeVar, get_args, get_origin

import msgspec

from yurt.model.durations import parse_duration
from yurt.model.times import SECOND_NS

ConfigT = TypeVar("ConfigT", bound=msgspec.Struct)

Seconds = NewType("Seconds", float)
"""An option that is written as a duration, such as `1m30s`."""


class _WrongType(Exception):
    """What would have been right, in the words of a job file."""


def decode_config(config: Mapping[str, Any], into: type[ConfigT]) -> tuple[ConfigT | None, list[str]]:
    """Read `config` as a Struct of `into`; gives the problems instead when there are any.

    Field types may be str, int, bool, Seconds, tuple[str, ...], dict[str, str], Structs of these and
    tuples of such Structs. A block may be written as an object or a list of objects, which are merged,
    except where there may be several.
    """
    problems: list[str] = []
    values: dict[str, Any] = {}
    fields = _fields(into)
    for name, value in config.items():
        if name not in fields:
            problems.append(f'Invalid label: No argument or block type is named "{name}".')
        elif value is not None:
            try:
                values[fields[name].name] = _convert(value, fields[name].type, problems)
            except _WrongType as wanted:
                problems.append(
                    "Incorrect attribute value type: "
                    f'Inappropriate value for attribute "{name}": {wanted} required.'
                )
    for name, field in fields.items():
        if field.required and config.get(name) is None:
            problems.append(
                f'Missing required argument: The argument "{name}" is required, but no definition was found.'
            )
    return (None, problems) if problems else (into(**values), [])


@cache
def _fields(into: type[msgspec.Struct]) -> Mapping[str, msgspec.structs.FieldInfo]:
    """The fields of a config by their names; asking a Struct for them takes longer than decoding."""
    return {field.encode_name: field for field in msgspec.structs.fields(into)}


def _convert(value: Any, kind: Any, problems: list[str]) -> Any:  # noqa: ANN401 - both are free-form
    if kind is Seconds:
        return _seconds(value)
    if kind in _SCALARS:
        return _SCALARS[kind](value)
    if get_origin(kind) is tuple and issubclass(get_args(kind)[0], msgspec.Struct):
        blocks = value if isinstance(value, list | tuple) else [value]
        return tuple(_convert(block, get_args(kind)[0], problems) for block in blocks)
    if get_origin(kind) is tuple:
        if not isinstance(value, list | tuple):
            raise _WrongType("list of string")
        return tuple(_text(item) for item in value)
    if get_origin(kind) is dict:
        item_kind = get_args(kind)[1]
        return {key: _convert(item, item_kind, problems) for key, item in _block(value).items()}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        decoded, inner = decode_config(_block(value), kind)
        problems.extend(inner)
        return decoded
    raise AssertionError(f"config fields of type {kind} are not known")


def _block(value: Any) -> dict[str, Any]:  # noqa: ANN401
    merged: dict[str, Any] = {}
    for part in value if isinstance(value, list | tuple) else [value]:
        if not isinstance(part, dict):
            raise _WrongType("map of string")
        merged |= part
    return merged


def _text(value: Any) -> str:  # noqa: ANN401
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return str(int(value)) if value.is_integer() else str(value)
        case _:
            raise _WrongType("string")


def _number(value: Any) -> int:  # noqa: ANN401
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except ValueError:
            raise _WrongType("number") from None
        if number.is_integer():
            return int(number)
    raise _WrongType("number")


def _boolean(value: Any) -> bool:  # noqa: ANN401
    if isinstance(value, bool):
        return value
    if value in ("true", "false"):
        return bool(value == "true")
    raise _WrongType("bool")


def _seconds(value: Any) -> float:  # noqa: ANN401
    try:
        return parse_duration(_text(value)) / SECOND_NS
    except ValueError:
        raise _WrongType("duration such as 1m30s") from None


_SCALARS = {str: _text, int: _number, bool: _boolean}

"""Kinds of attributes: what values each takes and how those look in JSON."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import msgspec

from yurt.jobspec.hcl.conversion import ConversionError, convert
from yurt.jobspec.hcl.durations import parse_duration
from yurt.jobspec.hcl.numbers import is_whole
from yurt.jobspec.hcl.values import (
    BOOL,
    NUMBER,
    STRING,
    UNKNOWN,
    ListType,
    ListValue,
    MapType,
    MapValue,
    Primitive,
    Type,
    Value,
)

INT64: Final = (-(2**63), 2**63 - 1)
UINT16: Final = (0, 2**16 - 1)
UINT8: Final = (0, 2**8 - 1)
INT8: Final = (-(2**7), 2**7 - 1)

# Nomad names the type it did not expect by the letter its type library keeps for it.
_TYPE_LETTERS: Final = {BOOL: "B", NUMBER: "N", STRING: "S"}


class Unsuitable(ValueError):
    """The value does not fit the attribute; the message says what would."""


class Field(msgspec.Struct, frozen=True):
    """An attribute: its name, its JSON member, the JSON of its values, and that of its absence.

    `is_nullable` lets null stand for absence. `element` is set for maps: the kind of their values.
    """

    name: str
    wire: str
    convert: Callable[[Value], Any]
    unset: Any = None
    is_nullable: bool = True
    is_required: bool = False
    element: "Field | None" = None

    def decode(self, value: Value) -> Any:  # noqa: ANN401 (JSON)
        """The JSON of `value`. Raises Unsuitable."""
        if value is None:
            if self.is_nullable:
                return self.unset
            raise Unsuitable("null value is not allowed")
        return self.convert(value)


# Each kind comes twice: optional members are null when unset, plain ones have their type's empty value.


def text(name: str, wire: str, **options: Any) -> Field:  # noqa: ANN401 (passed on)
    return Field(name, wire, _text, **options)


def plain_text(name: str, wire: str, unset: str = "", *, is_required: bool = False) -> Field:
    return Field(name, wire, _text, unset, is_nullable=False, is_required=is_required)


def whole(name: str, wire: str, *, bounds: tuple[int, int] = INT64, is_required: bool = False) -> Field:
    return Field(name, wire, _whole_within(bounds), is_required=is_required)


def plain_whole(name: str, wire: str, *, bounds: tuple[int, int] = INT64) -> Field:
    return Field(name, wire, _whole_within(bounds), 0, is_nullable=False)


def flag(name: str, wire: str, unset: bool | None = None) -> Field:
    return Field(name, wire, _flag, unset)


def plain_flag(name: str, wire: str) -> Field:
    return Field(name, wire, _flag, False, is_nullable=False)


def duration(name: str, wire: str, unset: int | None = None) -> Field:
    return Field(name, wire, _duration, unset, is_nullable=False)


def texts(name: str, wire: str) -> Field:
    """A list of strings."""
    return Field(name, wire, _list_of(STRING, _text))


def wholes(name: str, wire: str, *, bounds: tuple[int, int]) -> Field:
    """A list of whole numbers."""
    return Field(name, wire, _list_of(NUMBER, _whole_within(bounds)))


def text_map(name: str, wire: str) -> Field:
    """A map of strings."""
    return Field(name, wire, _text_map, element=Field("", "", _text, is_nullable=False))


def _converted(value: Value, wanted: Type) -> Value:
    try:
        converted = convert(value, wanted)
    except ConversionError as error:
        raise Unsuitable(str(error)) from None
    if converted is UNKNOWN:
        raise Unsuitable("value must be known")
    return converted


def _text(value: Value) -> str:
    if type(value) is str:
        return value
    result = _converted(value, STRING)
    assert isinstance(result, str)
    return result


def _whole_within(bounds: tuple[int, int]) -> Callable[[Value], int]:
    low, high = bounds

    def whole_number(value: Value) -> int:
        number = _converted(value, NUMBER)
        assert isinstance(number, int | Fraction | float)
        if not is_whole(number) or not low <= number <= high:
            raise Unsuitable(f"value must be a whole number, between {low} and {high}")
        return int(number)

    return whole_number


def _flag(value: Value) -> bool:
    result = _converted(value, BOOL)
    assert isinstance(result, bool)
    return result


def _duration(value: Value) -> int:
    """Nanoseconds from a text such as `1h30m` or a whole number of them."""
    if value is UNKNOWN:
        raise Unsuitable("value must be known")
    if isinstance(value, str):
        try:
            return parse_duration(value)
        except ValueError as error:
            raise Unsuitable(str(error)) from None
    if isinstance(value, int) and not isinstance(value, bool):
        low, high = INT64
        if low <= value <= high:
            return value
        raise Unsuitable(f"value must be a whole number, between {low} and {high}")
    if isinstance(value, bool):
        letter = _TYPE_LETTERS[BOOL]
        raise Unsuitable(f"expected a string but found {{{{{{}} %!s(cty.primitiveTypeKind={ord(letter)})}}}}")
    raise Unsuitable('a duration such as "30s" or "1h30m", or a whole number of nanoseconds, is required')


def _list_of(element: Primitive, convert_item: Callable[[Value], Any]) -> Callable[[Value], list[Any]]:
    wanted = ListType(element)

    def items(value: Value) -> list[Any]:
        if type(value) is tuple and element is STRING and all(type(item) is str for item in value):
            return list(value)
        converted = _converted(value, wanted)
        assert isinstance(converted, ListValue)
        return [convert_item(_known(item)) for item in converted.items]

    return items


def _text_map(value: Value) -> dict[str, str]:
    converted = _converted(value, MapType(STRING))
    assert isinstance(converted, MapValue)
    return {key: _text(_known(item)) for key, item in converted.items.items()}


def _known(item: Value) -> Value:
    if item is None:
        raise Unsuitable("null value is not allowed")
    if item is UNKNOWN:
        raise Unsuitable("value must be known")
    return item


MAP_VALUE: Final = Field("", "", _text, is_nullable=False)
"""An attribute of a block that is a map of strings."""

MAP_VALUES: Final = Field("", "", _list_of(STRING, _text), is_nullable=False)
"""An attribute of a block that is a map of lists of strings."""

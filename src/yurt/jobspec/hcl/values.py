"""The values of HCL expressions, with their types.

A string, bool, number and null are Python's own. What literals give is a tuple (of any values) or a dict
(an object: any values by name). Lists, sets and maps, whose elements all have one type, come from
conversions and functions.
"""

from collections.abc import Mapping
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

import msgspec

from yurt.jobspec.hcl.numbers import Number


class Unknown(Enum):
    """The value of an expression that failed; what is made of it is unknown as well."""

    UNKNOWN = "unknown"


UNKNOWN = Unknown.UNKNOWN


class Primitive(Enum):
    STRING = "string"
    NUMBER = "number"
    BOOL = "bool"
    ANY = "dynamic"  # the type of null and of unknown values, and a wish that everything meets


class ListType(msgspec.Struct, frozen=True):
    element: "Type"


class SetType(msgspec.Struct, frozen=True):
    element: "Type"


class MapType(msgspec.Struct, frozen=True):
    element: "Type"


class TupleType(msgspec.Struct, frozen=True):
    items: "tuple[Type, ...]"


class ObjectType(msgspec.Struct, frozen=True):
    attributes: "dict[str, Type]"


Type: TypeAlias = Primitive | ListType | SetType | MapType | TupleType | ObjectType

STRING, NUMBER, BOOL, ANY = Primitive.STRING, Primitive.NUMBER, Primitive.BOOL, Primitive.ANY


class ListValue(msgspec.Struct, frozen=True):
    items: "tuple[Value, ...]"
    element: Type


class SetValue(msgspec.Struct, frozen=True):
    """`items` are distinct and in the set's fixed order; see `set_of`."""

    items: "tuple[Value, ...]"
    element: Type


class MapValue(msgspec.Struct, frozen=True):
    items: "dict[str, Value]"
    element: Type


Value: TypeAlias = (
    str
    | bool
    | Number
    | tuple["Value", ...]
    | dict[str, "Value"]
    | ListValue
    | SetValue
    | MapValue
    | Unknown
    | None
)


def is_number(value: Value) -> bool:
    return isinstance(value, int | Fraction | float) and not isinstance(value, bool)


def type_of(value: Value) -> Type:
    match value:
        case str():
            return STRING
        case bool():
            return BOOL
        case int() | Fraction() | float():
            return NUMBER
        case tuple():
            return TupleType(tuple(type_of(item) for item in value))
        case dict():
            return ObjectType({name: type_of(item) for name, item in value.items()})
        case ListValue():
            return ListType(value.element)
        case SetValue():
            return SetType(value.element)
        case MapValue():
            return MapType(value.element)
        case _:
            return ANY


def type_name(wanted: Type) -> str:
    """The type as messages name it."""
    match wanted:
        case Primitive():
            return wanted.value
        case ListType():
            return f"list of {type_name(wanted.element)}"
        case SetType():
            return f"set of {type_name(wanted.element)}"
        case MapType():
            return f"map of {type_name(wanted.element)}"
        case TupleType():
            return "tuple"
        case ObjectType():
            return "object"


def value_type_name(value: Value) -> str:
    """The name of the type of `value`, without walking into it."""
    if isinstance(value, tuple):
        return "tuple"
    if isinstance(value, dict):
        return "object"
    return type_name(type_of(value))


def elements(value: Value) -> tuple[Value, ...] | None:
    """The items of a list, set or tuple, else None."""
    if isinstance(value, tuple):
        return value
    if isinstance(value, ListValue | SetValue):
        return value.items
    return None


def members(value: Value) -> Mapping[str, Value] | None:
    """The items of a map or object by key, else None."""
    if isinstance(value, dict):
        return value
    if isinstance(value, MapValue):
        return value.items
    return None


def iterate(value: Value) -> list[tuple[Value, Value]] | None:
    """Key and value of every item in HCL's order, or None when there is nothing to iterate over."""
    named = members(value)
    if named is not None:
        return [(key, named[key]) for key in sorted(named)]
    items = elements(value)
    if items is None:
        return None
    if isinstance(value, SetValue):
        return [(item, item) for item in items]
    return list(enumerate(items))


def equal(left: Value, right: Value) -> bool:
    """Whether two values are equal; values of different types never are."""
    if type(left) is not type(right):
        # Numbers of different make may still be the same number.
        return is_number(left) and is_number(right) and left == right
    if isinstance(left, tuple) and isinstance(right, tuple):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key]) for key in left)
    if isinstance(left, ListValue | SetValue) and isinstance(right, ListValue | SetValue):
        return left.element == right.element and equal(left.items, right.items)
    if isinstance(left, MapValue) and isinstance(right, MapValue):
        return left.element == right.element and equal(left.items, right.items)
    return left == right


def has_unknown(value: Value) -> bool:
    """Whether the value, or a part of it, is unknown."""
    if value is UNKNOWN:
        return True
    inner = elements(value)
    if inner is None:
        named = members(value)
        inner = tuple(named.values()) if named else ()
    return any(has_unknown(item) for item in inner)


def set_of(items: "tuple[Value, ...]", element: Type) -> SetValue:
    """The set of `items`, which all have the type `element`."""
    if element in (STRING, NUMBER, BOOL) and None not in items and UNKNOWN not in items:
        return SetValue(tuple(sorted(set(items))), element)  # type: ignore[type-var]  # of one primitive type
    return SetValue(tuple(item for _, item in sorted({repr(item): item for item in items}.items())), element)

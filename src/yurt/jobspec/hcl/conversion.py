"""Conversion of values to types, and the type that several values share."""

from collections.abc import Sequence
from fractions import Fraction

from yurt.jobspec.hcl.numbers import format_number, parse_number
from yurt.jobspec.hcl.values import (
    ANY,
    BOOL,
    NUMBER,
    STRING,
    UNKNOWN,
    ListType,
    ListValue,
    MapType,
    MapValue,
    ObjectType,
    Primitive,
    SetType,
    TupleType,
    Type,
    Value,
    elements,
    members,
    set_of,
    type_name,
    type_of,
    value_type_name,
)


class ConversionError(ValueError):
    """The value cannot be of the wanted type; the message says what is required."""


def convert(value: Value, wanted: Type) -> Value:
    """`value` as a `wanted`. Null and unknown stay what they are. Raises ConversionError."""
    if wanted is STRING:  # by far the most frequent wish
        if isinstance(value, str):
            return value
        return to_text(value)
    if isinstance(wanted, Primitive):
        return _to_primitive(value, wanted)
    problem = _mismatch(value, wanted)
    if problem is not None:
        raise ConversionError(problem)
    return _to_compound(value, wanted)


def to_text(value: Value) -> Value:
    """`value` as a string; null and unknown stay."""
    if isinstance(value, str) or value is None or value is UNKNOWN:
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Fraction | float):
        return format_number(value)
    raise ConversionError(f"string required, but have {value_type_name(value)}")


def to_number(value: Value) -> Value:
    """`value` as a number; null and unknown stay."""
    if isinstance(value, bool):
        raise ConversionError("number required, but have bool")
    if isinstance(value, int | Fraction | float) or value is None or value is UNKNOWN:
        return value
    if isinstance(value, str):
        try:
            return parse_number(value)
        except ValueError:
            raise ConversionError("a number is required") from None
    raise ConversionError(f"number required, but have {value_type_name(value)}")


def to_bool(value: Value) -> Value:
    """`value` as a bool; null and unknown stay."""
    if isinstance(value, bool) or value is None or value is UNKNOWN:
        return value
    if isinstance(value, str):
        if value in ("true", "1"):
            return True
        if value in ("false", "0"):
            return False
        if value.lower() in ("true", "false"):
            raise ConversionError(
                f'a bool is required; to convert from string, use lowercase "{value.lower()}"'
            )
        raise ConversionError("a bool is required")
    raise ConversionError(f"bool required, but have {value_type_name(value)}")


def _to_primitive(value: Value, wanted: Primitive) -> Value:
    if wanted is NUMBER:
        return to_number(value)
    if wanted is BOOL:
        return to_bool(value)
    return to_text(value) if wanted is STRING else value


def _to_compound(value: Value, wanted: Type) -> Value:
    """Convert what `_mismatch` has let pass; texts may still fail to be numbers."""
    if value is None or value is UNKNOWN:
        return value
    match wanted:
        case Primitive():
            return _to_primitive(value, wanted)
        case ListType() | SetType():
            items = elements(value) or ()
            element = _element_type(wanted.element, items)
            converted = tuple(_to_compound(item, element) for item in items)
            return (
                ListValue(converted, element) if isinstance(wanted, ListType) else set_of(converted, element)
            )
        case MapType():
            named = members(value) or {}
            element = _element_type(wanted.element, tuple(named.values()))
            return MapValue({key: _to_compound(item, element) for key, item in named.items()}, element)
        case TupleType():
            pairs = zip(elements(value) or (), wanted.items, strict=True)
            return tuple(_to_compound(item, item_type) for item, item_type in pairs)
        case ObjectType():
            named = members(value) or {}
            return {key: _to_compound(named[key], kind) for key, kind in wanted.attributes.items()}


def _element_type(wanted: Type, items: Sequence[Value]) -> Type:
    if wanted is not ANY:
        return wanted
    shared = unify([type_of(item) for item in items])
    if shared is None:
        raise ConversionError("all elements must have the same type")
    return shared


def _mismatch(value: Value, wanted: Type) -> str | None:
    """Why no value of this make can be converted, or None when it can."""
    if value is None or value is UNKNOWN or wanted is ANY:
        return None
    match wanted:
        case Primitive():
            return _primitive_mismatch(value, wanted)
        case ListType() | SetType():
            items = elements(value)
            if items is None:
                return _kind_mismatch(value, wanted)
            return _element_mismatch(list(enumerate(items)), wanted.element)
        case MapType():
            named = members(value)
            if named is None:
                return _kind_mismatch(value, wanted)
            return _element_mismatch([(f'"{key}"', named[key]) for key in sorted(named)], wanted.element)
        case TupleType():
            return _tuple_mismatch(value, wanted)
        case ObjectType():
            return _object_mismatch(value, wanted)


def _primitive_mismatch(value: Value, wanted: Primitive) -> str | None:
    if isinstance(value, str):
        return None
    if isinstance(value, bool):
        fits = wanted in (STRING, BOOL)
    elif isinstance(value, int | Fraction | float):
        fits = wanted in (STRING, NUMBER)
    else:
        fits = False
    return None if fits else f"{wanted.value} required, but have {value_type_name(value)}"


def _kind_mismatch(value: Value, wanted: Type) -> str:
    if isinstance(value, tuple | dict):
        return f"{type_name(wanted)} required"
    return f"{type_name(wanted)} required, but have {value_type_name(value)}"


def _element_mismatch(items: Sequence[tuple[object, Value]], wanted: Type) -> str | None:
    for key, item in items:
        problem = _mismatch(item, wanted)
        if problem is not None:
            return f"element {key}: {problem}"
    return None


def _tuple_mismatch(value: Value, wanted: TupleType) -> str | None:
    items = elements(value)
    if items is None:
        return _kind_mismatch(value, wanted)
    if len(items) != len(wanted.items):
        return f"tuple of {len(wanted.items)} elements required, but have {len(items)}"
    for index, (item, item_type) in enumerate(zip(items, wanted.items, strict=True)):
        problem = _mismatch(item, item_type)
        if problem is not None:
            return f"element {index}: {problem}"
    return None


def _object_mismatch(value: Value, wanted: ObjectType) -> str | None:
    named = members(value)
    if named is None:
        return _kind_mismatch(value, wanted)
    missing = [f'"{name}"' for name in sorted(wanted.attributes) if name not in named]
    if len(missing) == 1:
        return f"attribute {missing[0]} is required"
    if missing:
        return f"attributes {', '.join(missing[:-1])} and {missing[-1]} are required"
    for name in sorted(wanted.attributes):
        problem = _mismatch(named[name], wanted.attributes[name])
        if problem is not None:
            return f'attribute "{name}": {problem}'
    return None


def unify(types: Sequence[Type]) -> Type | None:
    """The type that values of all `types` can be converted to, or None when there is none."""
    known = [kind for kind in types if kind is not ANY]
    if not known:
        return ANY
    first = known[0]
    if all(kind == first for kind in known):
        return first
    if all(isinstance(kind, Primitive) for kind in known):
        return STRING
    if all(isinstance(kind, ListType | SetType | TupleType) for kind in known):
        return _unify_sequences(known)
    if all(isinstance(kind, MapType | ObjectType) for kind in known):
        return _unify_mappings(known)
    return None


def _unify_sequences(types: Sequence[Type]) -> Type | None:
    tuples = [kind for kind in types if isinstance(kind, TupleType)]
    if len(tuples) == len(types) and len({len(kind.items) for kind in tuples}) == 1:
        items = [unify(column) for column in zip(*(kind.items for kind in tuples), strict=True)]
        found = tuple(item for item in items if item is not None)
        return TupleType(found) if len(found) == len(items) else None
    inner: list[Type] = []
    for kind in types:
        if isinstance(kind, TupleType):
            inner.extend(kind.items)
        elif isinstance(kind, ListType | SetType):
            inner.append(kind.element)
    element = unify(inner)
    if element is None:
        return None
    return SetType(element) if all(isinstance(kind, SetType) for kind in types) else ListType(element)


def _unify_mappings(types: Sequence[Type]) -> Type | None:
    objects = [kind for kind in types if isinstance(kind, ObjectType)]
    if len(objects) == len(types) and all(
        kind.attributes.keys() == objects[0].attributes.keys() for kind in objects
    ):
        merged: dict[str, Type] = {}
        for name in objects[0].attributes:
            shared = unify([kind.attributes[name] for kind in objects])
            if shared is None:
                return None
            merged[name] = shared
        return ObjectType(merged)
    inner: list[Type] = []
    for kind in types:
        if isinstance(kind, ObjectType):
            inner.extend(kind.attributes.values())
        elif isinstance(kind, MapType):
            inner.append(kind.element)
    element = unify(inner)
    return None if element is None else MapType(element)

"""Functions on lists, sets and maps."""

import itertools
import math
from collections.abc import Sequence

from yurt.jobspec.hcl.conversion import ConversionError, convert, unify
from yurt.jobspec.hcl.function import ArgumentError, CallError, Parameter, Registry
from yurt.jobspec.hcl.limits import COLLECTION_ITEMS_MAX
from yurt.jobspec.hcl.numbers import Number, add
from yurt.jobspec.hcl.values import (
    ANY,
    NUMBER,
    STRING,
    ListType,
    ListValue,
    MapValue,
    SetType,
    SetValue,
    TupleType,
    Type,
    Value,
    elements,
    equal,
    is_number,
    members,
    set_of,
    type_of,
    value_type_name,
)

FUNCTIONS = Registry()

_LIST = Parameter("list", ANY)
_STRINGS = Parameter("list", ListType(STRING))
_MAP = Parameter("inputMap", ANY)
_ANY_SET = SetType(ANY)
_RANGE_ITEMS_MAX = 1024
_NOT_A_COLLECTION = "collection must be a list, a map or a tuple"


@FUNCTIONS.add("length", Parameter("collection", ANY))
def _length(collection: Value) -> int:
    items = elements(collection)
    if items is not None:
        return len(items)
    if isinstance(collection, MapValue):
        return len(collection.items)
    raise CallError(_NOT_A_COLLECTION)


@FUNCTIONS.add("element", _LIST, Parameter("index", NUMBER))
def _element(collection: Value, index: Number) -> Value:
    items = _sequence(collection, 0)
    if not items:
        raise CallError("cannot use element function with an empty list")
    if not isinstance(index, int):
        raise ArgumentError(1, "a whole number is required")
    return items[index % len(items)]


@FUNCTIONS.add("index", Parameter("collection", ANY), Parameter("key", ANY))
def _index(collection: Value, key: Value) -> Value:
    if isinstance(collection, MapValue):
        if not isinstance(key, str):
            raise CallError("key for map must be string")
        if key not in collection.items:
            raise CallError(f'the given key "{key}" does not exist in the map')
        return collection.items[key]
    if not isinstance(collection, tuple | ListValue):
        raise CallError(_NOT_A_COLLECTION)
    if not is_number(key):
        raise CallError(f"key for {'tuple' if isinstance(collection, tuple) else 'list'} must be number")
    items = elements(collection) or ()
    if not isinstance(key, int) or not 0 <= key < len(items):
        raise CallError(f"key must be between 0 and {len(items)} inclusive")
    return items[key]


@FUNCTIONS.add("lookup", _MAP, Parameter("key", STRING), Parameter("default", ANY))
def _lookup(collection: Value, key: str, default: Value) -> Value:
    named = members(collection)
    if named is None:
        raise ArgumentError(0, "lookup() requires a map as the first argument")
    if key in named:
        return named[key]
    if isinstance(collection, MapValue):
        try:
            return convert(default, collection.element)
        except ConversionError as error:
            raise ArgumentError(2, str(error)) from None
    return default


@FUNCTIONS.add("contains", _LIST, Parameter("value", ANY))
def _contains(collection: Value, value: Value) -> bool:
    items = elements(collection)
    if items is None:
        raise ArgumentError(0, "argument must be list, tuple, or set")
    return any(equal(item, value) for item in items)


@FUNCTIONS.add("distinct", Parameter("list", ListType(ANY)))
def _distinct(collection: ListValue) -> ListValue:
    # The text form tells values of one type apart, and finding it in a dict takes no second walk.
    first = {repr(item): item for item in reversed(collection.items)}
    order = {repr(item): item for item in collection.items}
    return ListValue(tuple(first[key] for key in order), collection.element)


@FUNCTIONS.add("compact", _STRINGS)
def _compact(collection: ListValue) -> ListValue:
    return ListValue(tuple(item for item in collection.items if item), STRING)


@FUNCTIONS.add("sort", _STRINGS)
def _sort(collection: ListValue) -> ListValue:
    texts = [item for item in collection.items if isinstance(item, str)]
    if len(texts) < len(collection.items):
        raise ArgumentError(0, "given list element is null; a null string cannot be sorted")
    return ListValue(tuple(sorted(texts)), STRING)


@FUNCTIONS.add("concat", rest=Parameter("seqs", ANY))
def _concat(*collections: Value) -> Value:
    if not collections:
        raise CallError("at least one argument is required")
    joined: list[Value] = []
    for index, collection in enumerate(collections):
        if not isinstance(collection, tuple | ListValue):
            raise ArgumentError(
                index, f"all arguments must be lists or tuples; got {value_type_name(collection)}"
            )
        joined.extend(elements(collection) or ())
    lists = [c for c in collections if isinstance(c, ListValue)]
    if len(lists) == len(collections):
        element = unify([c.element for c in lists])
        if element is not None:
            return _as_list(joined, element)
    return tuple(joined)


@FUNCTIONS.add("flatten", _LIST)
def _flatten(collection: Value) -> Value:
    if elements(collection) is None:
        raise CallError("can only flatten lists, sets and tuples")
    return tuple(_flat(collection))


def _flat(collection: Value) -> list[Value]:
    result: list[Value] = []
    for item in elements(collection) or ():
        if elements(item) is None:
            result.append(item)
        else:
            result.extend(_flat(item))
    return result


@FUNCTIONS.add("chunklist", Parameter("list", ListType(ANY)), Parameter("size", NUMBER))
def _chunklist(collection: ListValue, size: Number) -> ListValue:
    if not isinstance(size, int) or size < 0:
        raise ArgumentError(1, "the size argument must be a positive whole number")
    items, step = collection.items, size or max(1, len(collection.items))
    chunks = tuple(ListValue(items[at : at + step], collection.element) for at in range(0, len(items), step))
    return ListValue(chunks, ListType(collection.element))


@FUNCTIONS.add("slice", _LIST, Parameter("start_index", NUMBER), Parameter("end_index", NUMBER))
def _slice(collection: Value, start: Number, end: Number) -> Value:
    items = _sequence(collection, 0)
    for index, (name, position) in enumerate((("start", start), ("end", end)), 1):
        if not isinstance(position, int):
            raise ArgumentError(index, "a whole number is required")
        if position < 0:
            raise ArgumentError(index, f"{name} index must not be less than zero")
        if position > len(items):
            raise ArgumentError(index, f"{name} index must not be greater than the length of the list")
    if start > end:
        raise ArgumentError(1, "start index must not be greater than end index")
    part = items[int(start) : int(end)]
    return ListValue(part, collection.element) if isinstance(collection, ListValue) else part


@FUNCTIONS.add("coalesce", rest=Parameter("vals", ANY, may_be_null=True))
def _coalesce(*values: Value) -> Value:
    shared = unify([type_of(value) for value in values])
    if shared is None:
        raise CallError("all arguments must have the same type")
    for value in values:
        if value is not None:
            return convert(value, shared)
    raise CallError("no non-null arguments")


@FUNCTIONS.add("coalescelist", rest=Parameter("vals", ANY, may_be_null=True))
def _coalescelist(*lists: Value) -> Value:
    for index, collection in enumerate(lists):
        if collection is not None and _sequence(collection, index):
            return collection
    raise CallError("no non-null arguments")


@FUNCTIONS.add("keys", _MAP)
def _keys(collection: Value) -> Value:
    named = members(collection)
    if named is None:
        raise ArgumentError(0, "must have map or object type")
    names = tuple(sorted(named))
    return ListValue(names, STRING) if isinstance(collection, MapValue) else names


@FUNCTIONS.add("values", Parameter("mapping", ANY))
def _values(collection: Value) -> Value:
    named = members(collection)
    if named is None:
        raise ArgumentError(0, "must have map or object type")
    items = tuple(named[name] for name in sorted(named))
    return ListValue(items, collection.element) if isinstance(collection, MapValue) else items


@FUNCTIONS.add("merge", rest=Parameter("maps", ANY, may_be_null=True))
def _merge(*maps: Value) -> Value:
    merged: dict[str, Value] = {}
    given = [(index, item) for index, item in enumerate(maps) if item is not None]
    for index, item in given:
        named = members(item)
        if named is None:
            raise ArgumentError(index, f'arguments must be maps or objects, got "{value_type_name(item)}"')
        merged.update(named)
    typed = [item.element for _, item in given if isinstance(item, MapValue)]
    if typed and len(typed) == len(given) and all(element == typed[0] for element in typed):
        return MapValue(merged, typed[0])
    return merged


@FUNCTIONS.add("zipmap", Parameter("keys", ListType(STRING)), Parameter("values", ANY))
def _zipmap(keys: ListValue, values: Value) -> Value:
    items = _sequence(values, 1)
    if len(keys.items) != len(items):
        raise CallError(f"number of keys ({len(keys.items)}) does not match number of values ({len(items)})")
    named: dict[str, Value] = {}
    for key, item in zip(keys.items, items, strict=True):
        if not isinstance(key, str):
            raise ArgumentError(0, "a key must not be null")
        named[key] = item
    return MapValue(named, values.element) if isinstance(values, ListValue) else named


@FUNCTIONS.add("range", rest=Parameter("params", NUMBER))
def _range(*arguments: Number) -> ListValue:
    if not 1 <= len(arguments) <= 3:
        raise CallError("must have one, two, or three arguments")
    start: Number = arguments[0] if len(arguments) > 1 else 0
    limit = arguments[1] if len(arguments) > 1 else arguments[0]
    step: Number = arguments[2] if len(arguments) == 3 else (-1 if limit < start else 1)
    if any(isinstance(n, float) and not math.isfinite(n) for n in (start, limit, step)):
        raise CallError("the arguments must be finite numbers")
    if step == 0 or (step > 0) != (limit >= start):
        raise ArgumentError(len(arguments) - 1, "step must lead from the start towards the limit")
    items: list[Value] = []
    while start < limit if step > 0 else start > limit:
        if len(items) >= _RANGE_ITEMS_MAX:
            raise CallError(
                f"more than {_RANGE_ITEMS_MAX} values were generated; either decrease the difference "
                "between start and end or use a smaller step"
            )
        items.append(start)
        start = add(start, step)
    return ListValue(tuple(items), NUMBER)


@FUNCTIONS.add("setunion", Parameter("first_set", _ANY_SET), rest=Parameter("other_sets", _ANY_SET))
def _setunion(*sets: SetValue) -> SetValue:
    element, alike = _alike(sets)
    return set_of(tuple(itertools.chain(*alike)), element)


@FUNCTIONS.add("setintersection", Parameter("first_set", _ANY_SET), rest=Parameter("other_sets", _ANY_SET))
def _setintersection(*sets: SetValue) -> SetValue:
    element, alike = _alike(sets)
    others = [{repr(item) for item in items} for items in alike[1:]]
    return set_of(tuple(item for item in alike[0] if all(repr(item) in other for other in others)), element)


def _alike(sets: Sequence[SetValue]) -> tuple[Type, list[tuple[Value, ...]]]:
    """The items of all sets, converted to one type."""
    element = unify([item.element for item in sets])
    if element is None:
        raise CallError("given sets must all have compatible element types")
    return element, [tuple(convert(item, element) for item in each.items) for each in sets]


@FUNCTIONS.add("setproduct", rest=Parameter("sets", ANY))
def _setproduct(*collections: Value) -> Value:
    if len(collections) < 2:
        raise CallError("at least two arguments are required")
    columns = [_column(collection, index) for index, collection in enumerate(collections)]
    if math.prod(len(column.items) for column in columns) > COLLECTION_ITEMS_MAX:
        raise CallError(f"the product would have more than {COLLECTION_ITEMS_MAX} elements")
    element = TupleType(tuple(column.element for column in columns))
    rows: tuple[Value, ...] = tuple(itertools.product(*(column.items for column in columns)))
    if all(isinstance(collection, SetValue) for collection in collections):
        return set_of(rows, element)
    return ListValue(rows, element)


def _column(collection: Value, index: int) -> ListValue:
    try:
        column = convert(collection, ListType(ANY))
    except ConversionError as error:
        raise ArgumentError(index, str(error)) from None
    assert isinstance(column, ListValue)
    return column


def _sequence(collection: Value, index: int) -> tuple[Value, ...]:
    """The items of a list or tuple given as the argument number `index`."""
    if not isinstance(collection, tuple | ListValue):
        raise ArgumentError(index, f"cannot read elements from {value_type_name(collection)}")
    return elements(collection) or ()


def _as_list(items: Sequence[Value], element: Type) -> ListValue:
    return ListValue(tuple(convert(item, element) for item in items), element)

"""More functions of sprig on lists, maps and types, which templates call with the prefix `sprig_`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy

from yurt.agent.templates.functions import data, sprig_values
from yurt.agent.templates.functions.json_reading import read_json
from yurt.agent.templates.functions.limits import check_items
from yurt.agent.templates.functions.sprig_texts import text
from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.values import Value, is_true, type_name


def chunk(size: int, values: list[Value]) -> list[Value]:
    if size < 1:
        raise FunctionFailed(f"chunk: lists of {size} items cannot be made")
    return [values[at : at + size] for at in range(0, len(values), size)]


def slice_(values: list[Value], *bounds: Value) -> Value:
    """A part of a list; nothing of an empty one."""
    if not values:
        return None
    start, stop = [*map(sprig_values.to_int, bounds), 0, 0][:2] if bounds else (0, 0)
    stop = stop if len(bounds) > 1 else len(values)
    if not 0 <= start <= stop <= len(values):
        raise FunctionFailed("reflect.Value.Slice: slice index out of bounds")
    return values[start:stop]


def all_(*values: Value) -> bool:
    return all(map(is_true, values))


def any_(*values: Value) -> bool:
    return any(map(is_true, values))


def to_strings(values: Value) -> list[str]:
    listed = values if isinstance(values, list | range) else [] if values is None else [values]
    return [text(item) for item in listed if item is not None]


def splitn(separator: str, count: int, of: str) -> dict[str, Value]:
    if count == 0:
        return {}
    check_items(len(of))
    parts = list(of) if not separator else of.split(separator, count - 1 if count > 0 else -1)
    return {f"_{number}": part for number, part in enumerate(parts)}


def pluck(key: str, *maps: Value) -> list[Value]:
    return [each[key] for each in maps if isinstance(each, dict) and key in each]


def merge_overwrite(into: dict[str, Value], *others: Value) -> dict[str, Value]:
    for other in others:
        if not isinstance(other, dict):
            raise FunctionFailed(f"mergeOverwrite: a map is needed, not {type_name(other)}")
        into = data.merge_map_with_override(into, other)
    return into


def deep_copy(value: Value) -> Value:
    return deepcopy(value)


def deep_equal(first: Value, second: Value) -> bool:
    return type_name(first) == type_name(second) and bool(first == second)


def kind_is(kind: str, value: Value) -> bool:
    return sprig_values.kind_of(value) == kind


def type_is(name: str, value: Value) -> bool:
    return type_name(value) == name


def must_from_json(of: str) -> Value:
    try:
        return read_json(of)
    except ValueError as error:
        raise FunctionFailed(str(error)) from error


SPRIG_COLLECTIONS: Mapping[str, Callable[..., Value]] = {
    "all": all_,
    "any": any_,
    "chunk": chunk,
    "deepCopy": deep_copy,
    "deepEqual": deep_equal,
    "kindIs": kind_is,
    "mergeOverwrite": merge_overwrite,
    "mustAppend": sprig_values.append,
    "mustChunk": chunk,
    "mustCompact": sprig_values.compact,
    "mustDeepCopy": deep_copy,
    "mustFirst": sprig_values.first,
    "mustFromJson": must_from_json,
    "mustHas": sprig_values.has,
    "mustInitial": sprig_values.initial,
    "mustLast": sprig_values.last,
    "mustMerge": sprig_values.merge,
    "mustMergeOverwrite": merge_overwrite,
    "mustPrepend": sprig_values.prepend,
    "mustPush": sprig_values.append,
    "mustRest": sprig_values.rest,
    "mustReverse": sprig_values.reverse,
    "mustSlice": slice_,
    "mustToJson": data.to_json,
    "mustToPrettyJson": data.to_json_pretty,
    "mustToRawJson": data.to_unescaped_json,
    "mustUniq": sprig_values.uniq,
    "mustWithout": sprig_values.without,
    "pluck": pluck,
    "push": sprig_values.append,
    "slice": slice_,
    "splitn": splitn,
    "toRawJson": data.to_unescaped_json,
    "toStrings": to_strings,
    "typeIs": type_is,
    "typeIsLike": type_is,
}

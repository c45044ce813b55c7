"""The functions of sprig on numbers, lists and maps, which templates call with the prefix `sprig_`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from yurt.agent.templates.functions import data, maths
from yurt.agent.templates.functions.json_reading import read_json
from yurt.agent.templates.functions.limits import check_items
from yurt.agent.templates.functions.sprig_texts import text
from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.text import sorted_keys, text_of
from yurt.agent.templates.language.values import Value, is_true, type_name


def default(otherwise: Value, *given: Value) -> Value:
    return given[0] if given and is_true(given[0]) else otherwise


def empty(value: Value) -> bool:
    return not is_true(value)


def coalesce(*values: Value) -> Value:
    return next((value for value in values if is_true(value)), None)


def ternary(yes: Value, no: Value, condition: bool) -> Value:
    return yes if condition else no


def kind_of(value: Value) -> str:
    name = type_name(value)
    return "slice" if name.startswith("[]") else "map" if name.startswith("map") else name


# --- numbers ------------------------------------------------------------------------------------------------


def to_int(value: Value) -> int:
    """A whole number, 0 for what is none."""
    try:
        return int(value) if isinstance(value, int | float) else int(text(value), 0)
    except (ValueError, OverflowError):
        return 0


def to_float(value: Value) -> float:
    try:
        return float(value) if isinstance(value, int | float) else float(text(value))
    except (ValueError, OverflowError):
        return 0.0


def add(*values: Value) -> Value:
    total = 0
    for value in values:
        total = maths.add(total, to_int(value))
    return total


def add1(value: Value) -> Value:
    return maths.add(1, to_int(value))


def sub(first: Value, second: Value) -> Value:
    return maths.subtract(to_int(second), to_int(first))


def mul(first: Value, *others: Value) -> Value:
    total: Value = to_int(first)
    for value in others:
        total = maths.multiply(to_int(value), total)
    return total


def div(first: Value, second: Value) -> Value:
    return maths.divide(to_int(second), to_int(first))


def mod(first: Value, second: Value) -> Value:
    return maths.modulo(to_int(second), to_int(first))


def largest(first: Value, *others: Value) -> int:
    return max(map(to_int, (first, *others)))


def smallest(first: Value, *others: Value) -> int:
    return min(map(to_int, (first, *others)))


def ceil(value: Value) -> float:
    return float(math.ceil(to_float(value)))


def floor(value: Value) -> float:
    return float(math.floor(to_float(value)))


def round_(value: Value, places: int) -> float:
    return (
        math.floor(to_float(value) * 10**places + 0.5) / 10**places if 0 <= places <= 15 else to_float(value)
    )


def until(count: int) -> Value:
    return until_step(0, count, 1 if count >= 0 else -1)


def until_step(start: int, stop: int, step: int) -> Value:
    made = range(start, stop, step) if step else range(0)
    check_items(len(made))
    return made


# --- lists --------------------------------------------------------------------------------------------------


def list_(*values: Value) -> list[Value]:
    return list(values)


def first(values: list[Value]) -> Value:
    return values[0] if values else None


def last(values: list[Value]) -> Value:
    return values[-1] if values else None


def rest(values: list[Value]) -> list[Value]:
    return values[1:]


def initial(values: list[Value]) -> list[Value]:
    return values[:-1]


def append(values: list[Value], value: Value) -> list[Value]:
    return [*values, value]


def prepend(values: list[Value], value: Value) -> list[Value]:
    return [value, *values]


def concat(*lists: Value) -> list[Value]:
    made = [item for each in lists for item in _listed("concat", each)]
    check_items(len(made))
    return made


def reverse(values: list[Value]) -> list[Value]:
    return values[::-1]


def uniq(values: list[Value]) -> list[Value]:
    return list({text_of(item): item for item in reversed(values)}.values())[::-1]


def without(values: list[Value], *unwanted: Value) -> list[Value]:
    return [item for item in values if not data.is_in(list(unwanted), item)]


def has(wanted: Value, values: Value) -> bool:
    return data.is_in(_listed("has", values), wanted)


def compact(values: list[Value]) -> list[Value]:
    return [item for item in values if is_true(item)]


def sort_alpha(values: Value) -> list[Value]:
    return sorted(text(item) for item in _listed("sortAlpha", values))


def _listed(name: str, value: Value) -> list[Value]:
    if isinstance(value, list | range):
        return list(value)
    raise FunctionFailed(f"{name}: a list is needed, not {type_name(value)}")


# --- maps ---------------------------------------------------------------------------------------------------


def dict_(*pairs: Value) -> dict[Value, Value]:
    filled = [*pairs, ""] if len(pairs) % 2 else pairs
    return {text(key): value for key, value in zip(filled[::2], filled[1::2], strict=True)}


def get(of: dict[str, Value], key: str) -> Value:
    return of.get(key, "")


def set_(of: dict[str, Value], key: str, value: Value) -> dict[str, Value]:
    check_items(len(of))
    of[key] = value
    return of


def unset(of: dict[str, Value], key: str) -> dict[str, Value]:
    of.pop(key, None)
    return of


def has_key(of: dict[str, Value], key: str) -> bool:
    return key in of


def keys(*maps: Value) -> list[Value]:
    return [key for each in maps for key in sorted_keys(_mapped("keys", each))]


def values(of: dict[str, Value]) -> list[Value]:
    return [of[key] for key in sorted_keys(of)]


def pick(of: dict[str, Value], *names: Value) -> dict[str, Value]:
    return {name: of[name] for name in names if name in of}


def omit(of: dict[str, Value], *names: Value) -> dict[str, Value]:
    return {key: value for key, value in of.items() if key not in names}


def merge(into: dict[str, Value], *others: Value) -> dict[str, Value]:
    for other in others:
        into = data.merge_map(into, _mapped("merge", other))
    return into


def dig(*path: Value) -> Value:
    """Follow keys through maps: `dig "a" "b" default map`."""
    if len(path) < 3:
        raise FunctionFailed("dig needs at least three arguments")
    *names, otherwise, of = path
    for name in names:
        if not isinstance(of, dict) or name not in of:
            return otherwise
        of = of[name]
    return of


def _mapped(name: str, value: Value) -> dict[str, Value]:
    if isinstance(value, dict):
        return value
    raise FunctionFailed(f"{name}: a map is needed, not {type_name(value)}")


def from_json(of: str) -> Value:
    try:
        return read_json(of)
    except ValueError:
        return None


SPRIG_VALUES: Mapping[str, Callable[..., Value]] = {
    "add": add,
    "add1": add1,
    "append": append,
    "atoi": to_int,
    "ceil": ceil,
    "coalesce": coalesce,
    "compact": compact,
    "concat": concat,
    "default": default,
    "dict": dict_,
    "dig": dig,
    "div": div,
    "empty": empty,
    "first": first,
    "float64": to_float,
    "floor": floor,
    "fromJson": from_json,
    "get": get,
    "has": has,
    "hasKey": has_key,
    "initial": initial,
    "int": to_int,
    "int64": to_int,
    "keys": keys,
    "kindOf": kind_of,
    "last": last,
    "list": list_,
    "max": largest,
    "merge": merge,
    "min": smallest,
    "mod": mod,
    "mul": mul,
    "omit": omit,
    "pick": pick,
    "prepend": prepend,
    "rest": rest,
    "reverse": reverse,
    "round": round_,
    "set": set_,
    "sortAlpha": sort_alpha,
    "sub": sub,
    "ternary": ternary,
    "toJson": data.to_json,
    "toPrettyJson": data.to_json_pretty,
    "tuple": list_,
    "typeOf": type_name,
    "uniq": uniq,
    "unset": unset,
    "until": until,
    "untilStep": until_step,
    "values": values,
    "without": without,
}

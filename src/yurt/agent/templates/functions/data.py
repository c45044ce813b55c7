"""Functions that read and write data, and look into lists and maps."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from yurt.agent.templates.functions.json_reading import read_json
from yurt.agent.templates.functions.json_text import NESTING_MAX, json_text, plain
from yurt.agent.templates.functions.limits import check_items
from yurt.agent.templates.functions.toml_text import toml_text
from yurt.agent.templates.functions.yaml_reading import read_yaml
from yurt.agent.templates.functions.yaml_text import yaml_text
from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.text import text_of
from yurt.agent.templates.language.values import Record, Value, size_of, type_name
from yurt.model.go_text import quoted

_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_FALSE = ("0", "f", "F", "FALSE", "false", "False")


def parse_bool(text: str) -> bool:
    if text not in ("", *_TRUE, *_FALSE):
        raise FunctionFailed(f"parseBool: strconv.ParseBool: parsing {quoted(text)}: invalid syntax")
    return text in _TRUE


def parse_int(text: str) -> int:
    return _whole(text, "Int", low=-(1 << 63), high=(1 << 63) - 1)


def parse_uint(text: str) -> int:
    return _whole(text, "Uint", low=0, high=(1 << 64) - 1)


def _whole(text: str, kind: str, *, low: int, high: int) -> int:
    if not text:
        return 0
    problem = f"parse{kind}: strconv.Parse{kind}: parsing {quoted(text)}: "
    digits = text.lstrip("+-") if kind == "Int" else text
    if not (digits.isascii() and digits.isdigit()) or len(text) - len(digits) > 1:
        raise FunctionFailed(f"{problem}invalid syntax")
    # Longer ones are out of range anyway, and reading them takes time.
    value = int(text) if len(digits) <= 20 else high + 1
    if not low <= value <= high:
        raise FunctionFailed(f"{problem}value out of range")
    return value


def parse_float(text: str) -> float:
    if not text:
        return 0.0
    try:
        return float(text)
    except ValueError:
        raise FunctionFailed(
            f"parseFloat: strconv.ParseFloat: parsing {quoted(text)}: invalid syntax"
        ) from None


def parse_json(text: str) -> Value:
    if not text.strip():
        return {}
    try:
        return read_json(text)
    except ValueError as error:
        raise FunctionFailed(f"parseJSON: {error}") from error


def parse_yaml(text: str) -> Value:
    try:
        value = read_yaml(text)
    except ValueError as error:
        raise FunctionFailed(f"parseYAML: {error}") from error
    return {} if value is None else value


def to_json(value: Value) -> str:
    return json_text(value)


def to_json_pretty(value: Value) -> str:
    return json_text(value, indent="  ")


def to_unescaped_json(value: Value) -> str:
    return json_text(value, escapes_html=False)


def to_unescaped_json_pretty(value: Value) -> str:
    return json_text(value, indent="  ", escapes_html=False)


def to_yaml(value: Value) -> str:
    return yaml_text(plain(value))


def to_toml(value: Value) -> str:
    return toml_text(value)


def explode_map(flat: dict[str, Value]) -> dict[str, Value]:
    """Make nested maps of keys such as `a/b/c`."""
    made: dict[str, Value] = {}
    for key in sorted(flat):
        *parents, last = key.split("/")
        if len(parents) > NESTING_MAX:
            raise FunctionFailed(f"explodeMap: key {quoted(key)} has more than {NESTING_MAX} parts")
        inner = made
        for parent in parents:
            inner = inner.setdefault(parent, {})
            if not isinstance(inner, dict):
                raise FunctionFailed(f"explodeMap: key {quoted(key)} leads through a value")
        if last:
            inner[last] = flat[key]
    return made


def merge_map(first: dict[str, Value], second: dict[str, Value]) -> dict[str, Value]:
    return _merged(second, first, 0)


def merge_map_with_override(first: dict[str, Value], second: dict[str, Value]) -> dict[str, Value]:
    return _merged(first, second, 0)


def _merged(weaker: dict[str, Value], stronger: dict[str, Value], depth: int) -> dict[str, Value]:
    if depth > NESTING_MAX:
        raise FunctionFailed(f"the value is nested more than {NESTING_MAX} deep")
    made = dict(weaker)
    for key, value in stronger.items():
        old = made.get(key)
        if isinstance(old, dict) and isinstance(value, dict):
            made[key] = _merged(old, value, depth + 1)
        else:
            made[key] = value
    return made


def by_tag(services: list[Value]) -> dict[str, Value]:
    return _grouped("byTag", services, "Tags")


def by_port(services: list[Value]) -> dict[int, Value]:
    return _grouped("byPort", services, "Port")


def _grouped(name: str, services: list[Value], member: str) -> dict[Value, Value]:
    made: dict[Value, Value] = {}
    for service in services:
        if not isinstance(service, Record) or member not in service.members():
            raise FunctionFailed(f"{name}: wrong argument type {type_name(service)}")
        keys = service.members()[member]
        for key in keys if isinstance(keys, list) else (keys,):
            made.setdefault(key, []).append(service)
    return made


def is_in(within: Value, wanted: Value) -> bool:
    match within:
        case str():
            return isinstance(wanted, str) and wanted in within
        case list() | range():
            return any(_same(item, wanted) for item in within)
        case dict():
            return any(_same(item, wanted) for item in within.values())
        case None:
            return False
    raise FunctionFailed(f"in: unsupported type {type_name(within)}")


def _same(first: Value, second: Value) -> bool:
    return isinstance(first, bool) == isinstance(second, bool) and bool(first == second)


def contains(wanted: Value, within: Value) -> bool:
    return is_in(within, wanted)


def contains_all(wanted: list[Value], within: Value) -> bool:
    check_items(len(wanted) * size_of(within))
    return all(is_in(within, item) for item in wanted)


def contains_any(wanted: list[Value], within: Value) -> bool:
    check_items(len(wanted) * size_of(within))
    return any(is_in(within, item) for item in wanted)


def contains_none(wanted: list[Value], within: Value) -> bool:
    return not contains_any(wanted, within)


def contains_not_all(wanted: list[Value], within: Value) -> bool:
    return not contains_all(wanted, within)


def loop(*bounds: Value) -> Value:
    if not 1 <= len(bounds) <= 2:
        raise FunctionFailed(f"loop: wrong number of arguments, expected 1 or 2, but got {len(bounds)}")
    for bound in bounds:
        if type(bound) is not int:
            raise FunctionFailed(f"loop: {text_of(bound)} is not a whole number")
    made = range(*bounds)
    check_items(len(made))
    return made


DATA: Mapping[str, Callable[..., Value]] = {
    "byPort": by_port,
    "byTag": by_tag,
    "contains": contains,
    "containsAll": contains_all,
    "containsAny": contains_any,
    "containsNone": contains_none,
    "containsNotAll": contains_not_all,
    "explodeMap": explode_map,
    "in": is_in,
    "loop": loop,
    "mergeMap": merge_map,
    "mergeMapWithOverride": merge_map_with_override,
    "parseBool": parse_bool,
    "parseFloat": parse_float,
    "parseInt": parse_int,
    "parseJSON": parse_json,
    "parseUint": parse_uint,
    "parseYAML": parse_yaml,
    "toJSON": to_json,
    "toJSONPretty": to_json_pretty,
    "toTOML": to_toml,
    "toUnescapedJSON": to_unescaped_json,
    "toUnescapedJSONPretty": to_unescaped_json_pretty,
    "toYAML": to_yaml,
}

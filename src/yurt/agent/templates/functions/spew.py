"""Functions that show values with their types, to find mistakes in templates."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from yurt.agent.templates.functions.json_text import NESTING_MAX
from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.printf import sprintf
from yurt.agent.templates.language.text import sorted_keys, text_of
from yurt.agent.templates.language.values import Record, Value, type_name
from yurt.model.go_text import quoted


def dump(*values: Value) -> str:
    return "".join(f"{_dumped(value, 0)}\n" for value in values)


def formatted(form: str, *values: Value) -> str:
    return sprintf(form, values)


def _dumped(value: Value, depth: int) -> str:
    if depth > NESTING_MAX:
        raise FunctionFailed(f"the value is nested more than {NESTING_MAX} deep")
    match value:
        case None:
            return "(interface {}) <nil>"
        case str():
            return f"(string) (len={len(value.encode())}) {quoted(value)}"
        case list() | range():
            items = [_dumped(item, depth + 1) for item in value]
            return f"({type_name(value)}) (len={len(value)} cap={len(value)}) {_block(items, depth)}"
        case dict():
            items = [
                f"{_dumped(key, depth + 1)}: {_dumped(value[key], depth + 1)}" for key in sorted_keys(value)
            ]
            return f"({type_name(value)}) (len={len(value)}) {_block(items, depth)}"
        case Record() if value.text() is None:
            items = [f"{name}: {_dumped(item, depth + 1)}" for name, item in value.members().items()]
            return f"({type_name(value)}) {_block(items, depth)}"
    return f"({type_name(value)}) {text_of(value)}"


def _block(items: list[str], depth: int) -> str:
    if not items:
        return f"{{\n{' ' * depth}}}"
    pad = " " * (depth + 1)
    inner = ",\n".join(pad + item for item in items)
    return f"{{\n{inner}\n{' ' * depth}}}"


SPEW: Mapping[str, Callable[..., Value]] = {
    "spew_dump": dump,
    "spew_printf": formatted,
    "spew_sdump": dump,
    "spew_sprintf": formatted,
}

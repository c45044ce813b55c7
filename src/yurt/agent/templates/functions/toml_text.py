"""TOML made of maps."""

from __future__ import annotations

import json
import re

from yurt.agent.templates.functions.json_text import plain
from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.text import float_text, sorted_keys, text_of
from yurt.agent.templates.language.values import Value, type_name

NESTING_MAX = 50
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(value: Value) -> str:
    """Write a map as TOML, without a line break at its end. Raises FunctionFailed."""
    table = plain(value)
    if not isinstance(table, dict):
        raise FunctionFailed(f"toTOML: only maps can be written, not {type_name(value)}")
    return "\n".join(_table(table, ())).strip("\n")


def _table(table: dict[Value, Value], path: tuple[str, ...]) -> list[str]:
    if len(path) > NESTING_MAX:
        raise FunctionFailed(f"the value is nested more than {NESTING_MAX} deep")
    pad = "  " * max(0, len(path) - 1)
    lines = [f"{pad}[{'.'.join(map(_key, path))}]"] if path else []
    inner = "  " * len(path)
    keys = [key for key in sorted_keys(table) if table[key] is not None]
    lines += [
        f"{inner}{_key(text_of(key))} = {_value(table[key])}" for key in keys if not _is_table(table[key])
    ]
    for key in keys:
        item = table[key]
        here = (*path, text_of(key))
        if isinstance(item, dict):
            lines += ["", *_table(item, here)]
        elif _is_table(item):
            for each in item:
                head, *rest = _table(each, here)
                lines += ["", f"{head.replace('[', '[[', 1)}]", *rest]
    return lines


def _is_table(value: Value) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)
    )


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else json.dumps(key, ensure_ascii=False)


def _value(value: Value) -> str:
    match value:
        case bool() | int():
            return text_of(value)
        case float():
            text = float_text(value)
            return text if re.search(r"[.eIN]", text) else f"{text}.0"
        case str():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(map(_value, value))}]"
        case dict():
            return f"{{{', '.join(f'{_key(text_of(k))} = {_value(value[k])}' for k in sorted_keys(value))}}}"
    raise FunctionFailed(f"toTOML: {type_name(value)} cannot be written")

"""YAML made of maps, lists and plain values."""

from __future__ import annotations

import json
import re

from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.text import float_text, sorted_keys, text_of
from yurt.agent.templates.language.values import Value

NESTING_MAX = 100

# Texts that can stand without quotes and are not taken for something else.
_FRACTION = re.compile(r"\.[0-9]+(?:[eE][-+]?[0-9]+)?")
_PLAIN = re.compile(r"[A-Za-z_./][\w./@+=$^-]*(?: [\w./@+=$^-]+)*")
_WORDS = frozenset(["y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"])


def yaml_text(value: Value) -> str:
    """Write a value as YAML, without a line break at its end. Raises FunctionFailed."""
    return "\n".join(_lines(value, 0))


def _lines(value: Value, depth: int) -> list[str]:
    if depth > NESTING_MAX:
        raise FunctionFailed(f"the value is nested more than {NESTING_MAX} deep")
    match value:
        case dict() if value:
            lines = []
            for key in sorted_keys(value):
                lines += _member(_scalar(key), value[key], depth)
            return lines
        case list() if value:
            return [line for item in value for line in _item(item, depth)]
    return [_scalar(value)]


def _member(key: str, value: Value, depth: int) -> list[str]:
    if isinstance(value, str) and "\n" in value and (block := _block(value)) is not None:
        return [f"{key}: {block[0]}", *(f"  {line}" if line else "" for line in block[1])]
    lines = _lines(value, depth + 1)
    if isinstance(value, dict) and value:
        return [f"{key}:", *(f"  {line}" for line in lines)]
    if isinstance(value, list) and value:
        return [f"{key}:", *lines]
    return [f"{key}: {lines[0]}"]


def _item(value: Value, depth: int) -> list[str]:
    first, *others = _lines(value, depth + 1)
    return [f"- {first}", *(f"  {line}" for line in others)]


def _block(text: str) -> tuple[str, list[str]] | None:
    """The head and the lines of a literal text; None if it cannot be written so."""
    if text != text.lstrip(" ") or not text.replace("\n", "").isprintable():
        return None
    body = text.removesuffix("\n")
    if not body.strip() or body.endswith("\n"):
        return None
    return ("|-" if body == text else "|"), body.split("\n")


def _scalar(value: Value) -> str:
    match value:
        case None:
            return "null"
        case bool() | int():
            return text_of(value)
        case float():
            return {"NaN": ".nan", "+Inf": ".inf", "-Inf": "-.inf"}.get(text := float_text(value), text)
        case dict():
            return "{}"
        case list():
            return "[]"
    text = text_of(value)
    if _PLAIN.fullmatch(text) and text.lower().lstrip(".") not in _WORDS and not _FRACTION.fullmatch(text):
        return text
    return json.dumps(text, ensure_ascii=False)

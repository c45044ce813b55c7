"""JSON as Go writes it."""

from __future__ import annotations

import json
import math

from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.text import float_text, sorted_keys, text_of
from yurt.agent.templates.language.values import Record, Value

NESTING_MAX = 100
_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_LINES = {"\u2028": "\\u2028", "\u2029": "\\u2029"}


def json_text(value: Value, *, indent: str = "", escapes_html: bool = True) -> str:
    """Write a value as JSON, over several lines with an `indent`. Raises FunctionFailed."""
    return _Writer(indent, escapes_html=escapes_html).write(value, 0)


def plain(value: Value) -> Value:
    """A value with maps for records."""
    match value:
        case Record():
            own = value.text()
            return own if own is not None else {name: plain(item) for name, item in value.members().items()}
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case list() | range():
            return [plain(item) for item in value]
    return value


class _Writer:
    def __init__(self, indent: str, *, escapes_html: bool) -> None:
        self._indent = indent
        self._escapes = _HTML if escapes_html else _LINES

    def write(self, value: Value, depth: int) -> str:
        if depth > NESTING_MAX:
            raise FunctionFailed(f"the value is nested more than {NESTING_MAX} deep")
        match value:
            case None:
                return "null"
            case bool() | int():
                return text_of(value)
            case float():
                return _number(value)
            case str():
                return self._text(value)
            case bytes():
                return self._text(value.decode(errors="replace"))
            case list() | range():
                return self._block("[", "]", [self.write(item, depth + 1) for item in value], depth)
            case dict():
                return self._block(
                    "{", "}", [self._member(k, value[k], depth) for k in sorted_keys(value)], depth
                )
            case Record():
                if (own := value.text()) is not None:
                    return self._text(own)
                members = value.members().items()
                return self._block("{", "}", [self._member(k, item, depth) for k, item in members], depth)
        raise AssertionError(f"{type(value)} is no value of a template")

    def _member(self, key: Value, value: Value, depth: int) -> str:
        colon = ": " if self._indent else ":"
        return f"{self._text(text_of(key))}{colon}{self.write(value, depth + 1)}"

    def _block(self, opening: str, closing: str, parts: list[str], depth: int) -> str:
        if not self._indent or not parts:
            return f"{opening}{','.join(parts)}{closing}"
        inner = ",\n".join(f"{self._indent * (depth + 1)}{part}" for part in parts)
        return f"{opening}\n{inner}\n{self._indent * depth}{closing}"

    def _text(self, text: str) -> str:
        quoted = json.dumps(text, ensure_ascii=False)
        for character, escape in self._escapes.items():
            quoted = quoted.replace(character, escape)
        return quoted.replace("\x7f", "\\u007f") if "\x7f" in quoted else quoted


def _number(value: float) -> str:
    if not math.isfinite(value):
        raise FunctionFailed(f"json: unsupported value: {float_text(value)}")
    text = float_text(value, exponent_min=-6, exponent_limit=21)
    # JSON's exponents have no leading zero.
    return text.replace("e-0", "e-") if "e-0" in text else text

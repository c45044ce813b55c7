"""JSON as Go reads it: all numbers are fractions, and mistakes are told in its words."""

from __future__ import annotations

import json
from json import JSONDecodeError

from yurt.agent.templates.language.values import Value

_LITERALS = {literal[0]: literal for literal in ("true", "false", "null")}
_END = "unexpected end of JSON input"
# What Python calls a mistake, and where Go says that the character stands.
_PLACES = {
    "Expecting property name enclosed in double quotes": "looking for beginning of object key string",
    "Expecting ':' delimiter": "after object key",
    "Extra data": "after top-level value",
    "Invalid control character at": "in string literal",
    "Invalid \\escape": "in string escape code",
    "Invalid \\uXXXX escape": "in \\u hexadecimal character escape",
}


def read_json(text: str) -> Value:
    """Read a value. Raises ValueError that says what is wrong."""
    try:
        return json.loads(text, parse_int=float, parse_constant=_refuse)
    except JSONDecodeError as error:
        raise ValueError(_problem(text, error)) from error
    except RecursionError:
        raise ValueError("exceeded max depth") from None


def _refuse(constant: str) -> Value:
    """Python's NaN and infinities are no JSON."""
    raise ValueError(f"invalid character '{constant[0]}' looking for beginning of value")


def _problem(text: str, error: JSONDecodeError) -> str:
    at = error.pos + 1 if error.msg == "Invalid \\escape" else error.pos
    if at >= len(text.rstrip()) or error.msg.startswith("Unterminated string"):
        return _END
    place = _PLACES.get(error.msg)
    if error.msg == "Expecting ',' delimiter":
        is_in_map = _innermost(text[:at]) == "{"
        place = "after object key:value pair" if is_in_map else "after array element"
    if place is None:
        literal = _LITERALS.get(text[at])
        if literal is not None:
            return _literal_problem(text, at, literal)
        place = "looking for beginning of value"
    return f"invalid character {_shown(text[at])} {place}"


def _literal_problem(text: str, at: int, literal: str) -> str:
    for wanted, found in zip(literal, text[at : at + len(literal)].ljust(len(literal), "\0"), strict=True):
        if found == "\0":
            return _END
        if wanted != found:
            return f"invalid character {_shown(found)} in literal {literal} (expecting '{wanted}')"
    return _END


def _innermost(text: str) -> str:
    """The bracket that is still open at the end of a text without mistakes."""
    opened, is_text, is_escaped = [], False, False
    for letter in text:
        if is_text:
            is_text = is_escaped or letter != '"'
            is_escaped = letter == "\\" and not is_escaped
        elif letter == '"':
            is_text = True
        elif letter in "[{":
            opened.append(letter)
        elif letter in "]}" and opened:
            opened.pop()
    return opened[-1] if opened else ""


def _shown(letter: str) -> str:
    escapes = {"'": "\\'", "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return f"'{escapes.get(letter, letter)}'"

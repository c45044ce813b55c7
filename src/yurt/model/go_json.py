"""JSON bodies read the way Go's decoder reads them, with its error texts."""

from __future__ import annotations

import json
import re
from typing import Any, TypeAlias

import msgspec

from yurt.errors import YurtError

Json: TypeAlias = Any
"""A decoded JSON value, of any kind."""

NESTING_MAX = 250
"""How deep a body may nest; deeper ones are refused before they can exhaust the stack."""

NUMBER_CHARS_MAX = 400
"""How long a whole number may be; the largest that Go can read is shorter."""

REQUEST_BODY_EMPTY = "Request body is empty"


class BadRequestBody(YurtError):
    """A request body that cannot be read; the text is what the client is told."""


class NumberText(float):
    """A number that is no plain integer, with the text it was written as."""

    text: str

    def __new__(cls, text: str) -> NumberText:
        """Read `text`, which must be a JSON number."""
        number = super().__new__(cls, text)
        number.text = text
        return number


def read_json(body: bytes) -> Json:
    """Decode the first JSON value of `body`; what follows it is ignored.

    Invalid UTF-8 and lone surrogates become U+FFFD, as in Go. Raises BadRequestBody.
    """
    if not body:
        raise BadRequestBody(REQUEST_BODY_EMPTY)
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = body[: _end_of_value(body)]
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError):  # good JSON, bad characters
        text = value.decode("utf-8", "replace")
        return _without_surrogates(json.loads(text, parse_int=_integer))


def read_json_with_number_texts(body: bytes) -> Json:
    """Decode like `read_json`, with a NumberText for each number that is no plain integer."""
    text = body[: _end_of_value(body)].decode("utf-8", "replace")
    return json.loads(text, parse_float=NumberText, parse_int=_integer)


def _integer(text: str) -> int:
    """Read a whole number. Raises BadRequestBody for one that nothing could hold."""
    if len(text) > NUMBER_CHARS_MAX:
        raise BadRequestBody(f"a number of {len(text)} digits is too long")
    return int(text)


_BLANKS = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LITERALS = {ord("t"): b"true", ord("f"): b"false", ord("n"): b"null"}
_OPEN = {ord("{"): ord("}"), ord("["): ord("]")}
_COMMA, _COLON, _QUOTE = ord(","), ord(":"), ord('"')


def _end_of_value(body: bytes) -> int:
    """Find where the first value ends. Raises BadRequestBody with Go's words if there is none."""
    closers: list[int] = []
    at = _skip_blanks(body, 0)
    if at == len(body):
        raise BadRequestBody("EOF")
    while True:
        at = _skip_blanks(body, at)
        opened = body[at] if at < len(body) else None
        if opened in _OPEN:
            closers.append(_OPEN[opened])
            if len(closers) > NESTING_MAX:
                raise BadRequestBody("exceeded max depth")
            at = _skip_blanks(body, at + 1)
            if at < len(body) and body[at] == closers[-1]:
                closers.pop()
                at += 1
            else:
                at = _member_start(body, at, closers[-1])
                continue
        else:
            at = _end_of_scalar(body, at)
        while closers:
            at = _skip_blanks(body, at)
            byte = _byte(body, at)
            if byte == closers[-1]:
                closers.pop()
                at += 1
            elif byte == _COMMA:
                at = _member_start(body, at + 1, closers[-1])
                break
            elif closers[-1] == ord("}"):
                raise _unexpected(byte, "after object key:value pair")
            else:
                raise _unexpected(byte, "after array element")
        if not closers:
            return at


def _member_start(body: bytes, at: int, closer: int) -> int:
    """Step over the key of an object member; give the place where a value must start."""
    if closer != ord("}"):
        return at
    at = _skip_blanks(body, at)
    byte = _byte(body, at)
    if byte != _QUOTE:
        raise _unexpected(byte, "looking for beginning of object key string")
    at = _skip_blanks(body, _end_of_string(body, at))
    byte = _byte(body, at)
    if byte != _COLON:
        raise _unexpected(byte, "after object key")
    return at + 1


def _end_of_scalar(body: bytes, at: int) -> int:
    byte = _byte(body, at)
    if byte == _QUOTE:
        return _end_of_string(body, at)
    literal = _LITERALS.get(byte)
    if literal is not None:
        for index, expected in enumerate(literal):
            if _byte(body, at + index) != expected:
                found, word, want = body[at + index], literal.decode(), chr(expected)
                raise _unexpected(found, f"in literal {word} (expecting '{want}')")
        return at + len(literal)
    if byte == ord("-") or ord("0") <= byte <= ord("9"):
        return _end_of_number(body, at)
    raise _unexpected(byte, "looking for beginning of value")


def _end_of_string(body: bytes, at: int) -> int:
    whole = _STRING.match(body, at)
    if whole is not None:
        return whole.end()
    at += 1
    while True:
        byte = _byte(body, at)
        if byte < 0x20:
            raise _unexpected(byte, "in string literal")
        if byte == ord("\\"):
            at += 1
            escape = _byte(body, at)
            if escape == ord("u"):
                for _ in range(4):
                    at += 1
                    digit = _byte(body, at)
                    if digit not in b"0123456789abcdefABCDEF":
                        raise _unexpected(digit, "in \\u hexadecimal character escape")
            elif escape not in b'"\\/bfnrt':
                raise _unexpected(escape, "in string escape code")
        at += 1


def _end_of_number(body: bytes, at: int) -> int:
    whole = _NUMBER.match(body, at)
    if whole is None:  # a lone minus
        raise _unexpected(_byte(body, at + 1), "in numeric literal")
    end = whole.end()
    following = body[end : end + 1]
    if following == b"." and b"." not in whole.group() and b"e" not in whole.group().lower():
        raise _unexpected(_byte(body, end + 1), "after decimal point in numeric literal")
    if following in (b"e", b"E") and b"e" not in whole.group().lower():
        sign = end + 1
        if _byte(body, sign) in b"+-":
            sign += 1
        raise _unexpected(_byte(body, sign), "in exponent of numeric literal")
    return end


def _skip_blanks(body: bytes, at: int) -> int:
    blanks = _BLANKS.match(body, at)
    assert blanks is not None
    return blanks.end()


def _byte(body: bytes, at: int) -> int:
    if at >= len(body):
        raise BadRequestBody("unexpected EOF")
    return body[at]


_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 39: "\\'", 92: "\\\\"}


def _unexpected(byte: int, where: str) -> BadRequestBody:
    shown = _ESCAPES.get(byte)
    if shown is None:
        character = chr(byte)
        shown = (
            character if character.isprintable() else f"\\x{byte:02x}" if byte < 0x80 else f"\\u{byte:04x}"
        )
    return BadRequestBody(f"invalid character '{shown}' {where}")


def _without_surrogates(value: Json) -> Json:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value

"""Literals of the template language: quoted texts and numbers."""

from __future__ import annotations

import re

_ESCAPE = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|([0-7]{3})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))", re.DOTALL)
_SIMPLE = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "\\": "\\",
    '"': '"',
    "'": "'",
}
CODE_POINT_MAX = 0x10FFFF
INT_BITS = 64


def unquoted(quoted: str) -> str:
    """The text of a literal in double or single quotes. Raises ValueError."""

    def replaced(found: re.Match[str]) -> str:
        hexadecimal, octal, short, long, simple = found.groups()
        if simple is not None:
            if simple not in _SIMPLE:
                raise ValueError("invalid syntax")
            return _SIMPLE[simple]
        code_point = int(octal, 8) if octal else int(hexadecimal or short or long, 16)
        if code_point > CODE_POINT_MAX:
            raise ValueError("invalid syntax")
        return chr(code_point)

    return _ESCAPE.sub(replaced, quoted[1:-1])


def character(quoted: str) -> int:
    """The code point of a character constant. Raises ValueError."""
    text = unquoted(quoted)
    if len(text) != 1:
        raise ValueError("malformed character constant")
    return ord(text)


def number(text: str) -> int | float:
    """An integer or a fraction. Raises ValueError."""
    plain = text.replace("_", "")
    digits = plain.lstrip("+-").lower()
    if digits.startswith(("0x", "0b", "0o")):
        value = int(plain, 0)
    elif digits.isdecimal():
        # A leading zero means octal, as in Go.
        value = int(plain, 8) if len(digits) > 1 and digits.startswith("0") else int(plain)
    else:
        return float(plain)
    if not -(1 << (INT_BITS - 1)) <= value < 1 << INT_BITS:
        raise ValueError("integer overflow")
    return value

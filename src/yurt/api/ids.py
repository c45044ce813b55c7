"""Ids in paths and prefixes, checked as Nomad checks them."""

from __future__ import annotations

from yurt.api.errors import HttpError

_UUID_LENGTH = 36
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_HYPHENS_MAX = 4


def checked_uuid(kind: str, text: str, *, prefix: str = "") -> str:
    """A whole UUID of a path. Raises HttpError with Nomad's text."""
    start = f"{prefix}{kind} lookup failed: index error: "
    if len(text.encode()) != _UUID_LENGTH:
        raise HttpError(500, f"{start}UUID must be 36 characters")
    return _checked_digits(text, start)


def checked_prefix(kind: str, text: str) -> str:
    """The beginning of a UUID. Raises HttpError with Nomad's text."""
    start = f"{kind} lookup failed: index error: " if kind else "index error: "
    length = len(text.encode())
    if length > _UUID_LENGTH:
        raise HttpError(500, f"{start}Invalid UUID length. UUID have 36 characters; got {length}")
    hyphens = text.count("-")
    if hyphens > _HYPHENS_MAX:
        raise HttpError(500, f'{start}UUID should have maximum of 4 "-"; got {hyphens}')
    if (length - hyphens) % 2:
        raise HttpError(500, f"{start}Input (without hyphens) must be even length")
    return _checked_digits(text, start)


def _checked_digits(text: str, start: str) -> str:
    # Go looks at bytes, and shows each as if it were a character.
    for byte in text.replace("-", "").encode():
        char = chr(byte)
        if char not in _HEX_DIGITS:
            shown = f" '{char}'" if char.isprintable() else ""
            raise HttpError(500, f"{start}Invalid UUID: encoding/hex: invalid byte: U+{byte:04X}{shown}")
    return text.lower()

"""Ids in paths and prefixes, checked as Nomad checks them."""

from __future__ import annotations

import re

from yurt.api.errors import HttpError

_UUID_LENGTH = 36
_HEX_DIGITS = frozenset("0123456789abcdefABCDEF")
_HYPHENS_MAX = 4


def checked_uuid(kind: str, text: str, *, prefix: str = "") -> str:
    """A whole UUID of a path. Raises HttpError with Nomad's text."""
    if len(text) != _UUID_LENGTH:
        raise HttpError(500, f"{prefix}{kind} lookup failed: index error: UUID must be 36 characters")
    digits = text.replace("-", "")
    bad = next((char for char in digits if char not in _HEX_DIGITS), None)
    if bad is not None:
        raise HttpError(
            500,
            f"{prefix}{kind} lookup failed: index error: Invalid UUID: "
            f"encoding/hex: invalid byte: U+{ord(bad):04X} {_quoted(bad)}",
        )
    return text.lower()


def checked_prefix(kind: str, text: str) -> str:
    """The beginning of a UUID. Raises HttpError with Nomad's text."""
    start = f"{kind} lookup failed: " if kind else ""
    if len(text) > _UUID_LENGTH:
        raise HttpError(
            500,
            f"{start}index error: Invalid UUID length. UUID have 36 characters; got {len(text)}",
        )
    hyphens = text.count("-")
    if hyphens > _HYPHENS_MAX:
        raise HttpError(500, f'{start}index error: UUID should have maximum of 4 "-"; got {hyphens}')
    digits = text.replace("-", "")
    if len(digits) % 2:
        raise HttpError(500, f"{start}index error: Input (without hyphens) must be even length")
    bad = next((char for char in digits if char not in _HEX_DIGITS), None)
    if bad is not None:
        raise HttpError(
            500,
            f"{start}index error: Invalid UUID: encoding/hex: invalid byte: U+{ord(bad):04X} {_quoted(bad)}",
        )
    return text.lower()


def _quoted(char: str) -> str:
    return f"'{char}'" if re.match(r"[ -~]", char) else ""

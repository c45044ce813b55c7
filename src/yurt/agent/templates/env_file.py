"""Variables written one to a line, as `KEY=value`."""

from __future__ import annotations

import json
import re

_ESCAPE = re.compile(r'\\(["\\/bfnrt]|u[0-9A-Fa-f]{4})')
_KEY_START = re.compile(r"[A-Za-z_]")
_KEY_REST = re.compile(r"[A-Za-z0-9_./]")


class BadEnvLine(ValueError):
    """A line that is no variable; the text says which and why."""


def read_env_file(text: str) -> dict[str, str]:
    """Read variables; the last of equal keys wins. Raises BadEnvLine."""
    found: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        stripped = line.strip()
        if not stripped or stripped.startswith("#"):
            continue
        try:
            key, value = _variable(stripped)
        except ValueError as error:
            raise BadEnvLine(f"error on line {number}: {error}") from None
        found[key] = value
    return found


def _variable(line: str) -> tuple[str, str]:
    written, equals, rest = line.partition("=")
    if not equals:
        raise ValueError("missing =")
    key = written.strip()
    if key.startswith("export "):
        key = key.removeprefix("export ").strip()
    if not key:
        raise ValueError("empty key")
    if not _KEY_START.match(key):
        raise ValueError(f"key must start with [A-Za-z_] but found '{key[0]}'")
    for character in key[1:]:
        if not _KEY_REST.match(character):
            raise ValueError(f"key characters must be [A-Za-z0-9_./] but found '{character}'")
    return key, _value(rest.strip())


def _value(text: str) -> str:
    """A value, of quoted and unquoted parts, up to a comment; blanks at its end count only in quotes."""
    made, solid, at = "", 0, 0
    while at < len(text) and text[at] != "#":
        if text[at] == "'":
            end = text.find("'", at + 1)
            if end < 0:
                raise ValueError("unmatched '")
            made += text[at + 1 : end]
            at, solid = end + 1, len(made)
        elif text[at] == '"':
            inside, at = _double_quoted(text, at + 1)
            made += inside
            solid = len(made)
        else:
            made += text[at]
            at += 1
    return made[:solid] + made[solid:].rstrip()


def _double_quoted(text: str, at: int) -> tuple[str, int]:
    made: list[str] = []
    while at < len(text):
        character = text[at]
        if character == '"':
            return "".join(made), at + 1
        if character == "\\":
            escape = _ESCAPE.match(text, at)
            if escape is None:
                raise ValueError("incomplete escape sequence")
            made.append(json.loads(f'"{escape.group()}"'))
            at = escape.end()
        else:
            made.append(character)
            at += 1
    raise ValueError('unmatched "')

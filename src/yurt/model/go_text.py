"""Values inside messages, quoted as Go quotes them."""

from __future__ import annotations

from collections.abc import Iterable

_ESCAPES = {7: "\\a", 8: "\\b", 9: "\\t", 10: "\\n", 11: "\\v", 12: "\\f", 13: "\\r", 34: '\\"', 92: "\\\\"}


def quoted(text: str) -> str:
    """Quote a text as `%q` does."""
    if text.isprintable() and '"' not in text and "\\" not in text:
        return f'"{text}"'
    return f'"{"".join(map(_shown, text))}"'


def quoted_list(texts: Iterable[str]) -> str:
    """Quote several texts as `%q` does for a slice: `["a" "b"]`."""
    return f"[{' '.join(map(quoted, texts))}]"


def _shown(character: str) -> str:
    code_point = ord(character)
    escaped = _ESCAPES.get(code_point)
    if escaped is not None:
        return escaped
    if character.isprintable():
        return character
    if code_point < 0x80:
        return f"\\x{code_point:02x}"
    return f"\\u{code_point:04x}" if code_point < 0x10000 else f"\\U{code_point:08x}"

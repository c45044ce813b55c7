"""What templates were given and their failures must not tell."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from yurt.agent.templates.sources import Found, TemplateVariable

HIDDEN = "xxxxx"
# Shorter texts would be found everywhere.
VALUE_CHARS_MIN = 4


def without_values(text: str, given: Iterable[Found]) -> str:
    """A failure's text without the values of variables and the content of files, as far as it quotes them."""
    for value in sorted({value for found in given for value in _values(found)}, key=len, reverse=True):
        for form in (value, json.dumps(value, ensure_ascii=False)[1:-1]):
            text = text.replace(form, HIDDEN)
    return text


def _values(found: Found) -> Iterator[str]:
    texts: Iterable[str] = ()
    if isinstance(found, TemplateVariable):
        texts = found.items.values()
    elif isinstance(found, str):
        texts = (found,)
    for text in texts:
        # Functions that read a text may quote it whole, or by the line.
        for part in (text, *text.splitlines()):
            stripped = part.strip()
            if len(stripped) >= VALUE_CHARS_MIN:
                yield stripped

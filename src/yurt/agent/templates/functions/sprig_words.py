"""The functions of sprig that look at words and letters, which templates call with the prefix `sprig_`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from yurt.agent.templates.functions.limits import check_text
from yurt.agent.templates.language.values import Value

_MARKER = "..."
_SHORT_MIN = 4
# With text left out on both sides, there is room for both markers and one letter.
_SHORT_BOTH_MIN = 7
# An offset up to here saves nothing: the marker would be as long as what it stands for.
_OFFSET_MIN = 4
_WORD = re.compile(
    r"[A-Z]+(?![a-z])\d*(?![a-z])|[A-Z]?[a-z]+(?:\d+(?![a-z\d]))?|\d+[a-z]*(?:\d+[a-z]*)*|[^\W_]+"
)
_GAP = re.compile(r"[\s_-]+")


def abbrev(width: int, of: str) -> str:
    return of if width < _SHORT_MIN else _abbreviated(of, 0, width)


def abbrev_both(left: int, right: int, of: str) -> str:
    """Leave out what is before `left` as well."""
    if right < _SHORT_MIN or (left > 0 and right < _SHORT_BOTH_MIN):
        return of
    return _abbreviated(of, left, right)


def _abbreviated(of: str, offset: int, width: int) -> str:
    if len(of) <= width:
        return of
    room = width - len(_MARKER)
    offset = min(offset, len(of))
    if len(of) - offset < room:
        offset = len(of) - room
    if offset <= _OFFSET_MIN:
        return of[:room] + _MARKER
    if offset + room < len(of):
        return _MARKER + abbrev(room, of[offset:])
    return _MARKER + of[-room:]


def initials(of: str) -> str:
    return "".join(word[0] for word in of.split())


def swapcase(of: str) -> str:
    return of.swapcase()


def snakecase(of: str) -> str:
    return "_".join(word.lower() for word in _words(of))


def kebabcase(of: str) -> str:
    return "-".join(word.lower() for word in _words(of))


def _words(of: str) -> list[str]:
    return [word for part in _GAP.split(of) for word in _WORD.findall(part)]


def camelcase(of: str) -> str:
    """A capital for each word between gaps; other letters stay as they are."""
    return "".join(word[:1].upper() + word[1:] for word in _GAP.split(of))


def wrap(width: int, of: str) -> str:
    return wrap_with(width, "\n", of)


def wrap_with(width: int, newline: str, of: str) -> str:
    """Break lines at blanks, and words that are longer than a line."""
    width = max(width, 1)
    check_text(len(of) + len(newline) * (len(of) // width + 1))
    made: list[str] = []
    at = 0
    while len(of) - at > width:
        if of[at] == " ":
            at += 1
            continue
        blank = of.rfind(" ", at, at + width + 1)
        end = blank if blank >= at else at + width
        made.append(of[at:end])
        at = end + 1 if blank >= at else end
    made.append(of[at:])
    return newline.join(made)


SPRIG_WORDS: Mapping[str, Callable[..., Value]] = {
    "abbrev": abbrev,
    "abbrevboth": abbrev_both,
    "camelcase": camelcase,
    "initials": initials,
    "kebabcase": kebabcase,
    "snakecase": snakecase,
    "swapcase": swapcase,
    "wrap": wrap,
    "wrapWith": wrap_with,
}

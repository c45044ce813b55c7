"""Cut a template into text and the tokens of its actions."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from enum import Enum, auto
from functools import lru_cache

import msgspec

from yurt.agent.templates.language.errors import ParseFailed

TEMPLATE_CHARS_MAX = 2 << 20
SPACES = " \t\r\n"


class Kind(Enum):
    """What a token is."""

    TEXT = auto()
    OPEN = auto()
    CLOSE = auto()
    SPACE = auto()
    DECLARE = auto()
    ASSIGN = auto()
    PIPE = auto()
    COMMA = auto()
    OPEN_PAREN = auto()
    CLOSE_PAREN = auto()
    STRING = auto()
    RAW_STRING = auto()
    CHARACTER = auto()
    NUMBER = auto()
    FIELD = auto()
    DOT = auto()
    VARIABLE = auto()
    WORD = auto()
    END = auto()


class Token(msgspec.Struct, frozen=True):
    """A piece of a template, `at` its place in the source."""

    kind: Kind
    text: str
    at: int


_INSIDE = re.compile(
    r"""
    (?P<SPACE>[ \t\r\n]+)
  | (?P<DECLARE>:=)
  | (?P<ASSIGN>=)
  | (?P<PIPE>\|)
  | (?P<COMMA>,)
  | (?P<OPEN_PAREN>\()
  | (?P<CLOSE_PAREN>\))
  | (?P<STRING>"(?:[^"\\\n]|\\[^\n])*")
  | (?P<RAW_STRING>`[^`]*`)
  | (?P<CHARACTER>'(?:[^'\\\n]|\\[^\n])+')
  | (?P<NUMBER>[+-]?(?:0[xX][0-9A-Fa-f_]+|0[bB][01_]+|0[oO][0-7_]+
        |(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][+-]?[0-9_]+)?))
  | (?P<FIELD>\.[^\W\d]\w*)
  | (?P<DOT>\.)
  | (?P<VARIABLE>\$\w*)
  | (?P<WORD>[^\W\d]\w*)
    """,
    re.VERBOSE,
)


class Delimiters(msgspec.Struct, frozen=True):
    """What opens and closes an action."""

    left: str = "{{"
    right: str = "}}"


def tokens_of(name: str, source: str, delimiters: Delimiters) -> Iterator[Token]:
    """Give the tokens of `source`, the last of which is END. Raises ParseFailed."""
    if len(source) > TEMPLATE_CHARS_MAX:
        raise ParseFailed(name, 1, f"the template is longer than {TEMPLATE_CHARS_MAX} characters")
    left = delimiters.left
    at, trim_left = 0, False
    while True:
        start = source.find(left, at)
        text = source[at:] if start < 0 else source[at:start]
        trims_before = start >= 0 and _is_left_trim(source, start + len(left))
        shown, shift = _trimmed(text, left=trim_left, right=trims_before)
        if shown:
            yield Token(Kind.TEXT, shown, at + shift)
        if start < 0:
            yield Token(Kind.END, "", len(source))
            return
        inside = start + len(left) + (2 if trims_before else 0)
        if source.startswith("/*", inside):
            at, trim_left = _comment_end(name, source, inside, delimiters)
            continue
        yield Token(Kind.OPEN, left, start)
        at, trim_left = yield from _action(name, source, inside, delimiters)


def line_of(source: str, at: int) -> int:
    """The line of a place, counted from 1."""
    return source.count("\n", 0, at) + 1


def _is_left_trim(source: str, at: int) -> bool:
    return source[at : at + 1] == "-" and source[at + 1 : at + 2] in tuple(SPACES)


def _trimmed(text: str, *, left: bool, right: bool) -> tuple[str, int]:
    shown = text.lstrip(SPACES) if left else text
    shift = len(text) - len(shown)
    return (shown.rstrip(SPACES) if right else shown), shift


@lru_cache(maxsize=64)
def _closing(right: str) -> re.Pattern[str]:
    """The end of an action: a delimiter, with a trim marker perhaps."""
    return re.compile(rf"(?P<trim>[ \t\r\n]+-)?{re.escape(right)}")


def _comment_end(name: str, source: str, at: int, delimiters: Delimiters) -> tuple[int, bool]:
    end = source.find("*/", at)
    if end < 0:
        raise ParseFailed(name, line_of(source, at), "unclosed comment")
    closing = _closing(delimiters.right).match(source, end + 2)
    if closing is None:
        raise ParseFailed(name, line_of(source, end), "comment ends before closing delimiter")
    return closing.end(), closing["trim"] is not None


def _action(
    name: str, source: str, at: int, delimiters: Delimiters
) -> Generator[Token, None, tuple[int, bool]]:
    """Give the tokens up to the end of an action; returns where it ends, and whether it trims there."""
    parens = 0
    while True:
        closing = _closing(delimiters.right).match(source, at)
        if closing is not None:
            if parens:
                raise ParseFailed(name, line_of(source, at), "unclosed left paren")
            yield Token(Kind.CLOSE, delimiters.right, at)
            return closing.end(), closing["trim"] is not None
        if at >= len(source):
            raise ParseFailed(name, line_of(source, at), "unclosed action")
        found = _INSIDE.match(source, at)
        if found is None:
            raise ParseFailed(name, line_of(source, at), _unreadable(source, at))
        assert found.lastgroup is not None
        kind = Kind[found.lastgroup]
        parens += (kind is Kind.OPEN_PAREN) - (kind is Kind.CLOSE_PAREN)
        if parens < 0:
            raise ParseFailed(name, line_of(source, at), "unexpected right paren")
        following = source[found.end() : found.end() + 1]
        if kind is Kind.NUMBER and (following.isalnum() or following == "."):
            bad = source[at : found.end() + 1]
            raise ParseFailed(name, line_of(source, at), f'bad number syntax: "{bad}"')
        yield Token(kind, found.group(), at)
        at = found.end()


def _unreadable(source: str, at: int) -> str:
    character = source[at]
    if character == '"':
        return "unterminated quoted string"
    if character == "`":
        return "unterminated raw quoted string"
    if character == "'":
        return "unterminated character constant"
    return f"unrecognized character in action: U+{ord(character):04X} '{character}'"

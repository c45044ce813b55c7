"""Expressions inside `${…}`: references, indexes, literals, function calls."""

from __future__ import annotations

import re
from typing import TypeAlias

import msgspec


class Constant(msgspec.Struct, frozen=True, tag=True):
    """A literal value."""

    value: str | int | float | bool | None


class Reference(msgspec.Struct, frozen=True, tag=True):
    """A dotted name."""

    parts: tuple[str, ...]


class Index(msgspec.Struct, frozen=True, tag=True):
    """`of[key]`, or `of.key` after anything but a name."""

    of: Expression
    key: Expression


class Call(msgspec.Struct, frozen=True, tag=True):
    """`name(arguments…)`."""

    name: str
    arguments: tuple[Expression, ...]


class ListOf(msgspec.Struct, frozen=True, tag=True):
    """`[items…]`."""

    items: tuple[Expression, ...]


# Deeper nesting is no honest expression, and would use up the interpreter's stack.
DEPTH_MAX = 50

Expression: TypeAlias = Constant | Reference | Index | Call | ListOf


class InvalidExpression(Exception):
    """The text between `${` and `}` is not an expression we know."""


_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>-?\d+(?:\.\d+)?)
    | (?P<name>[A-Za-z_][\w-]*)
    | (?P<string>"(?:[^"\\]|\\.)*")
    | (?P<mark>[.,()\[\]])
    )""",
    re.VERBOSE,
)
_KEYWORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}


def parse_expression(text: str) -> Expression:
    """Read one expression. Raises InvalidExpression."""
    parser = _Parser(text)
    expression = parser.expression()
    parser.expect_end()
    return expression


def end_of_expression(text: str, start: int) -> int:
    """Where the `}` is that ends the expression beginning at `start`; quotes may hide others.

    Raises InvalidExpression when there is none.
    """
    depth, at = 0, start
    while at < len(text):
        character = text[at]
        if character == '"':
            at = _end_of_string(text, at)
        elif character == "{":
            depth += 1
        elif character == "}":
            if depth == 0:
                return at
            depth -= 1
        at += 1
    raise InvalidExpression("the expression does not end; add the missing }")


def _end_of_string(text: str, start: int) -> int:
    at = start + 1
    while at < len(text) and text[at] != '"':
        at += 2 if text[at] == "\\" else 1
    return at


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _tokens(text)
        self._at = 0
        self._depth = 0

    def expression(self) -> Expression:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise InvalidExpression(f"it is nested more than {DEPTH_MAX} levels deep")
        expression = self._suffixed()
        self._depth -= 1
        return expression

    def expect_end(self) -> None:
        if self._at < len(self._tokens):
            raise InvalidExpression(f"{self._tokens[self._at][1]!r} is not expected here")

    def _suffixed(self) -> Expression:
        expression = self._primary()
        while mark := self._accept(".", "["):
            if mark == "[":
                expression = Index(expression, self.expression())
                self._expect("]")
                continue
            kind, part = self._next()
            if kind not in ("name", "number"):
                raise InvalidExpression(f"a name must follow the dot, not {part!r}")
            if isinstance(expression, Reference):
                expression = Reference((*expression.parts, part))
            else:
                expression = Index(expression, Constant(part))
        return expression

    def _primary(self) -> Expression:
        kind, text = self._next()
        if kind == "number":
            return Constant(float(text) if "." in text else int(text))
        if kind == "string":
            return Constant(_unquote(text))
        if kind == "name":
            if self._accept("("):
                return Call(text, self._until(")"))
            return Constant(_KEYWORDS[text]) if text in _KEYWORDS else Reference((text,))
        if text == "[":
            return ListOf(self._until("]"))
        if text == "(":
            expression = self.expression()
            self._expect(")")
            return expression
        raise InvalidExpression(f"{text!r} cannot start an expression")

    def _until(self, end: str) -> tuple[Expression, ...]:
        items: list[Expression] = []
        while not self._accept(end):
            if items:
                self._expect(",")
            items.append(self.expression())
        return tuple(items)

    def _next(self) -> tuple[str, str]:
        if self._at == len(self._tokens):
            raise InvalidExpression("the expression ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _accept(self, *marks: str) -> str:
        if self._at < len(self._tokens) and self._tokens[self._at][1] in marks:
            self._at += 1
            return self._tokens[self._at - 1][1]
        return ""

    def _expect(self, mark: str) -> None:
        if not self._accept(mark):
            raise InvalidExpression(f"{mark!r} is missing")


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    text, at = text.strip(), 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None or match.lastgroup is None:
            raise InvalidExpression(f"{text[at:].strip()[:1]!r} is not expected here")
        tokens.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return tokens


def _unquote(text: str) -> str:
    try:
        return msgspec.json.decode(text, type=str)
    except msgspec.DecodeError as error:
        raise InvalidExpression(f"{text} is not a string: {error}") from error

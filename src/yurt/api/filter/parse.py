"""Reading filter expressions, with the error texts that clients know.

The grammar is one of ordered choices. When nothing fits, the message tells the farthest place that was
reached and everything that could have stood there; hence each try notes what it looked for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TypeVar

from yurt.api.filter.errors import FilterUnreadable
from yurt.api.filter.syntax import Both, Either, Expression, Match, Not, Quantified, Selector

TEXT_LENGTH_MAX = 16 * 1024
# Deeper expressions would exhaust the interpreter's stack; people write fewer than ten levels.
NESTING_MAX = 50

_BLANK = "[ \\t\\r\\n]"
_BLANKS = re.compile(r"[ \t\r\n]+")
_IDENTIFIER = re.compile(r"[a-zA-Z][a-zA-Z0-9_/]*")
_DIGITS = re.compile(r"[0-9]+")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_POINTER = re.compile(r'"((?:/[a-zA-Z0-9\-_.~:|]+)+)"')
_END = "EOF"

_T = TypeVar("_T")


class _NoMatch(Exception):
    """What was tried does not stand here; no error, the next choice is tried."""


def parse_filter(text: str) -> Expression:
    """Read an expression. Raises FilterUnreadable."""
    if len(text) > TEXT_LENGTH_MAX:
        raise FilterUnreadable(f"the expression is longer than {TEXT_LENGTH_MAX} characters; shorten it")
    return _Parser(text).whole()


class _Parser:
    """One reading of one text; `_at` is the place reached."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._farthest = 0
        self._expected: set[str] = set()
        # What each rule gave at each place: without it, nested choices would be read again and again.
        self._memo: dict[tuple[str, int], tuple[Expression | None, int]] = {}

    def whole(self) -> Expression:
        """The text as one expression."""
        try:
            self._maybe_blanks()
            expression = self._or()
            self._maybe_blanks()
            if self._at < len(self._text):
                raise self._missing(_END)
        except _NoMatch:
            raise FilterUnreadable(self._message()) from None
        return expression

    def _or(self) -> Expression:
        return self._once("or", lambda: self._first(self._or_pair, self._and, self._quantified))

    def _or_pair(self) -> Expression:
        left = self._and()
        self._blanks()
        self._literal("or")
        self._blanks()
        return Either(left, self._or())

    def _and(self) -> Expression:
        return self._once("and", lambda: self._first(self._and_pair, self._not))

    def _and_pair(self) -> Expression:
        left = self._not()
        self._blanks()
        self._literal("and")
        self._blanks()
        return Both(left, self._and())

    def _not(self) -> Expression:
        return self._once("not", lambda: self._first(self._negation, self._in_parentheses, self._match))

    def _negation(self) -> Expression:
        self._literal("not")
        self._blanks()
        return Not(self._nested(self._not))

    def _in_parentheses(self) -> Expression:
        self._literal("(")
        self._maybe_blanks()
        inner = self._nested(self._or)
        self._maybe_blanks()
        self._literal(")")
        return inner

    def _match(self) -> Expression:
        return self._first(self._selector_first, self._value_first)

    def _selector_first(self) -> Expression:
        selector = self._selector()
        return self._first(
            *(
                lambda operator=operator, words=words, negated=negated: self._comparison(
                    selector, operator, words, negated=negated
                )
                for operator, words, negated in _COMPARISONS
            ),
            *(
                lambda operator=operator, words=words, negated=negated: self._state_test(
                    selector, operator, words, negated=negated
                )
                for operator, words, negated in _STATE_TESTS
            ),
        )

    def _comparison(
        self, selector: Selector, operator: str, words: tuple[str, ...], *, negated: bool
    ) -> Expression:
        self._operator(words)
        return Match(selector=selector, operator=operator, value=self._value(), negated=negated)

    def _state_test(
        self, selector: Selector, operator: str, words: tuple[str, ...], *, negated: bool
    ) -> Expression:
        for word in words:
            self._blanks()
            self._literal(word)
        return Match(selector=selector, operator=operator, negated=negated)

    def _value_first(self) -> Expression:
        value = self._value()
        return self._first(
            lambda: self._membership(value, ("in",), negated=False),
            lambda: self._membership(value, ("not", "in"), negated=True),
        )

    def _membership(self, value: str, words: tuple[str, ...], *, negated: bool) -> Expression:
        self._operator(words)
        return Match(selector=self._selector(), operator="in", value=value, negated=negated)

    def _operator(self, words: tuple[str, ...]) -> None:
        """An operator and the blanks around it, which words need and signs do not."""
        if words[0] in ("==", "!="):
            self._maybe_blanks()
            self._literal(words[0])
            self._maybe_blanks()
            return
        for word in words:
            self._blanks()
            self._literal(word)
        self._blanks()

    def _quantified(self) -> Expression:
        every = self._first(
            lambda: self._word_as("all", value=True), lambda: self._word_as("any", value=False)
        )
        self._blanks()
        selector = self._selector()
        self._blanks()
        self._literal("as")
        self._blanks()
        first = self._binding()
        second = self._first(self._second_binding, lambda: None)
        self._maybe_blanks()
        self._literal("{")
        self._maybe_blanks()
        inner = self._nested(self._or)
        self._maybe_blanks()
        self._literal("}")
        key_name, item_name = ("", first) if second is None else (first, second)
        return Quantified(every=every, selector=selector, key_name=key_name, item_name=item_name, inner=inner)

    def _binding(self) -> str:
        return self._first(lambda: self._word_as("_", value=""), self._identifier)

    def _second_binding(self) -> str:
        self._maybe_blanks()
        self._literal(",")
        self._maybe_blanks()
        return self._binding()

    def _selector(self) -> Selector:
        return self._first(self._dotted, self._pointer)

    def _dotted(self) -> Selector:
        path = [self._identifier()]
        while (part := self._first(self._dot_name, self._dot_number, self._index, lambda: None)) is not None:
            path.append(part)
        return Selector(tuple(path))

    def _dot_name(self) -> str:
        self._literal(".")
        return self._identifier()

    def _dot_number(self) -> str:
        self._literal(".")
        return self._pattern(_DIGITS, "[0-9]")

    def _index(self) -> str:
        self._literal("[")
        self._maybe_blanks()
        key = self._string()
        self._maybe_blanks()
        self._literal("]")
        return key

    def _pointer(self) -> Selector:
        found = _POINTER.match(self._text, self._at)
        if found is None:
            raise self._missing('"\\""')
        self._at = found.end()
        parts = found[1].split("/")[1:]
        return Selector(tuple(part.replace("~1", "/").replace("~0", "~") for part in parts))

    def _value(self) -> str:
        return self._first(self._bare_word, self._number, self._string)

    def _bare_word(self) -> str:
        start = self._at
        self._dotted()
        return self._text[start : self._at]

    def _number(self) -> str:
        found = _NUMBER.match(self._text, self._at)
        if found is None:
            for sign in ('"-"', '"0"', "[1-9]"):
                self._note(sign)
            raise _NoMatch
        self._at = found.end()
        following = self._text[self._at : self._at + 1]
        if following and following not in " \t\r\n)}":
            for what in (_BLANK, '")"', _END):
                self._note(what)
            raise _NoMatch
        return found[0]

    def _string(self) -> str:
        for quote in ("`", '"'):
            if not self._text.startswith(quote, self._at):
                self._note(f'"{quote}"' if quote == "`" else '"\\""')
                continue
            end = self._text.find(quote, self._at + 1)
            if end < 0:
                self._at = len(self._text)
                raise self._missing(f'"{quote}"' if quote == "`" else '"\\""')
            raw = self._text[self._at + 1 : end]
            self._at = end + 1
            return raw if quote == "`" else _unquoted(raw)
        raise _NoMatch

    def _identifier(self) -> str:
        found = _IDENTIFIER.match(self._text, self._at)
        if found is None:
            raise self._missing("[a-zA-Z]")
        self._at = found.end()
        self._note("[a-zA-Z0-9_/]")
        return found[0]

    def _word_as(self, word: str, *, value: _T) -> _T:
        self._literal(word)
        return value

    def _literal(self, word: str) -> None:
        if not self._text.startswith(word, self._at):
            raise self._missing(f'"{word}"')
        self._at += len(word)

    def _pattern(self, pattern: re.Pattern[str], name: str) -> str:
        found = pattern.match(self._text, self._at)
        if found is None:
            raise self._missing(name)
        self._at = found.end()
        return found[0]

    def _blanks(self) -> None:
        self._pattern(_BLANKS, _BLANK)
        self._note(_BLANK)

    def _maybe_blanks(self) -> None:
        found = _BLANKS.match(self._text, self._at)
        if found is not None:
            self._at = found.end()
        self._note(_BLANK)

    def _first(self, *choices: Callable[[], _T]) -> _T:
        """What the first choice that fits gives."""
        start = self._at
        for choice in choices[:-1]:
            try:
                return choice()
            except _NoMatch:
                self._at = start
        return choices[-1]()

    def _once(self, rule: str, read: Callable[[], Expression]) -> Expression:
        """What a rule gives here, read only the first time."""
        key = (rule, self._at)
        if key not in self._memo:
            try:
                self._memo[key] = (read(), self._at)
            except _NoMatch:
                self._memo[key] = (None, 0)
        expression, end = self._memo[key]
        if expression is None:
            raise _NoMatch
        self._at = end
        return expression

    def _nested(self, read: Callable[[], Expression]) -> Expression:
        self._depth += 1
        try:
            if self._depth > NESTING_MAX:
                raise FilterUnreadable(f"the expression is nested deeper than {NESTING_MAX} levels")
            return read()
        finally:
            self._depth -= 1

    def _missing(self, what: str) -> _NoMatch:
        self._note(what)
        return _NoMatch()

    def _note(self, what: str) -> None:
        """Remember what could have stood here, if nobody got farther."""
        if self._at > self._farthest:
            self._farthest = self._at
            self._expected = set()
        if self._at == self._farthest:
            self._expected.add(what)

    def _message(self) -> str:
        before = self._text[: self._farthest]
        line = before.count("\n") + 1
        column = self._farthest - (before.rfind("\n") + 1) + 1
        wanted = sorted(self._expected - {_END})
        if _END in self._expected:
            wanted.append(_END)
        listed = " or ".join((", ".join(wanted[:-1]), wanted[-1])) if len(wanted) > 1 else wanted[0]
        offset = len(before.encode())
        return f"{line}:{column} ({offset}): no match found, expected: {listed}"


_COMPARISONS: tuple[tuple[str, tuple[str, ...], bool], ...] = (
    ("==", ("==",), False),
    ("==", ("!=",), True),
    ("in", ("contains",), False),
    ("in", ("not", "contains"), True),
    ("matches", ("matches",), False),
    ("matches", ("not", "matches"), True),
)
_STATE_TESTS: tuple[tuple[str, tuple[str, ...], bool], ...] = (
    ("empty", ("is", "empty"), False),
    ("empty", ("is", "not", "empty"), True),
    ("nil", ("is", "nil"), False),
    ("nil", ("is", "not", "nil"), True),
)


def _unquoted(raw: str) -> str:
    """The text between double quotes; escapes are those of JSON."""
    if "\\" not in raw:
        return raw
    try:
        text: str = json.loads(f'"{raw}"')
    except ValueError:
        raise FilterUnreadable(f'"{raw}" has an escape that is not known; write it in back quotes') from None
    return text

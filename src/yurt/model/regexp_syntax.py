"""RE2's syntax for regular expressions, with Go's words for what is wrong with one.

Understood is what RE2 and Go share, less Unicode scripts (`\\p{Greek}`) and `\\C`.
"""

from __future__ import annotations

import re
import unicodedata
from typing import NoReturn, TypeAlias

import msgspec

from yurt.errors import YurtError

NESTING_MAX = 150
REPEAT_MAX = 1000

CODE_POINT_MAX = 0x10FFFF

Ranges: TypeAlias = tuple[tuple[int, int], ...]


class BadRegexp(YurtError):
    """A text that is no regular expression."""


class CharacterSet(msgspec.Struct, frozen=True):
    """One character out of a set; `categories` are Unicode's, wanted (True) or not."""

    ranges: Ranges = ()
    categories: tuple[tuple[str, bool], ...] = ()
    negated: bool = False
    fold_case: bool = False


class Assertion(msgspec.Struct, frozen=True):
    """A condition on a place: `begin`, `end`, `line_begin`, `line_end`, `word`, `not_word`."""

    kind: str


class Sequence(msgspec.Struct, frozen=True):
    """Parts, one after the other; none of them match the empty text."""

    parts: tuple[Node, ...]


class Choice(msgspec.Struct, frozen=True):
    """Any of several alternatives."""

    alternatives: tuple[Node, ...]


class Repeat(msgspec.Struct, frozen=True):
    """A part, so many times; no `most` means any number. A `lazy` one takes as few as it can."""

    part: Node
    least: int
    most: int | None
    lazy: bool = False


class Capture(msgspec.Struct, frozen=True):
    """A part whose text is remembered by number, counted from 1, and by its name if it has one."""

    part: Node
    number: int
    name: str = ""


Node: TypeAlias = CharacterSet | Assertion | Sequence | Choice | Repeat | Capture

_DIGITS: Ranges = ((48, 57),)
_SPACES: Ranges = ((9, 10), (12, 13), (32, 32))
_WORDS: Ranges = ((48, 57), (65, 90), (95, 95), (97, 122))
_PERL: dict[str, Ranges] = {"d": _DIGITS, "s": _SPACES, "w": _WORDS}
_POSIX: dict[str, Ranges] = {
    "alnum": ((48, 57), (65, 90), (97, 122)),
    "alpha": ((65, 90), (97, 122)),
    "ascii": ((0, 127),),
    "blank": ((9, 9), (32, 32)),
    "cntrl": ((0, 31), (127, 127)),
    "digit": _DIGITS,
    "graph": ((33, 126),),
    "lower": ((97, 122),),
    "print": ((32, 126),),
    "punct": ((33, 47), (58, 64), (91, 96), (123, 126)),
    "space": ((9, 13), (32, 32)),
    "upper": ((65, 90),),
    "word": _WORDS,
    "xdigit": ((48, 57), (65, 70), (97, 102)),
}
_CONTROLS = {"a": 7, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
_CATEGORY = re.compile("C[cfos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?")
_REPEAT = re.compile(r"\{([0-9]+)(,([0-9]*))?\}")
_POSIX_CLASS = re.compile(r"\[:(\^?)([a-z]*):\]")
_PROPERTY = re.compile(r"\\[pP](?:\{(\^?)([^}]*)\}|(.))")
_GROUP_NAME = re.compile(r"\(\?P?<([^>]*)>")


class _Flags(msgspec.Struct, frozen=True):
    fold_case: bool = False
    multi_line: bool = False
    dot_all: bool = False
    prefers_few: bool = False


def parse_regexp(pattern: str) -> Node:
    """Read a regular expression. Raises BadRegexp with Go's words."""
    parser = _Parser(pattern)
    node = parser.choice(_Flags(), depth=0)
    if parser.at < len(pattern):  # only a closing parenthesis stops it early
        _fail("unexpected )", pattern)
    return node


def _fail(problem: str, part: str) -> NoReturn:
    raise BadRegexp(f"error parsing regexp: {problem}: `{part}`")


def complement(ranges: Ranges) -> Ranges:
    """Give the code points outside `ranges`."""
    outside, low = [], 0
    for first, last in sorted(ranges):
        if first > low:
            outside.append((low, first - 1))
        low = max(low, last + 1)
    if low <= CODE_POINT_MAX:
        outside.append((low, CODE_POINT_MAX))
    return tuple(outside)


def in_category(character: str, category: str) -> bool:
    """Whether a character is of a Unicode category such as `L` or `Lu`."""
    return unicodedata.category(character).startswith(category)


class _Parser:
    """Reads one pattern from left to right."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0
        self.group_names: set[str] = set()
        self.captures = 0

    def choice(self, flags: _Flags, *, depth: int) -> Node:
        """Read alternatives up to the end or an unmatched parenthesis."""
        if depth > NESTING_MAX:
            _fail("expression nests too deeply", self.pattern)
        alternatives: list[Node] = []
        parts: list[Node] = []
        while self.at < len(self.pattern) and self.pattern[self.at] != ")":
            if self.pattern[self.at] == "|":
                self.at += 1
                alternatives.append(Sequence(tuple(parts)))
                parts = []
                continue
            if self.pattern.startswith("(?", self.at):
                changed = self._flag_change(flags)
                if changed is not None:
                    flags = changed
                    continue
            start = self.at
            atom = self._atom(flags, depth=depth)
            parts.append(self._repeated(atom, flags, start))
        alternatives.append(Sequence(tuple(parts)))
        return alternatives[0] if len(alternatives) == 1 else Choice(tuple(alternatives))

    def _flag_change(self, flags: _Flags) -> _Flags | None:
        """Step over `(?flags)`, which holds up to the end of the group; None if it is something else."""
        found = re.compile(r"\(\?([imsU]*)(-[imsU]+)?\)").match(self.pattern, self.at)
        if found is None or found.group() == "(?)":
            return None
        self.at = found.end()
        return _with_flags(flags, found[1], found[2])

    def _atom(self, flags: _Flags, *, depth: int) -> Node:
        character = self.pattern[self.at]
        match character:
            case "(":
                return self._group(flags, depth=depth)
            case "[":
                return self._bracket(flags)
            case "\\":
                return self._escape(flags)
            case "*" | "+" | "?":
                _fail("missing argument to repetition operator", character)
            case "{" if found := _REPEAT.match(self.pattern, self.at):
                _fail("missing argument to repetition operator", found.group())
        self.at += 1
        match character:
            case ".":
                newline: Ranges = () if flags.dot_all else ((10, 10),)
                return CharacterSet(newline, negated=True)
            case "^":
                return Assertion("line_begin" if flags.multi_line else "begin")
            case "$":
                return Assertion("line_end" if flags.multi_line else "end")
        return _literal(ord(character), flags)

    def _repeated(self, atom: Node, flags: _Flags, start: int) -> Node:
        """Apply the repetition operators that follow an atom; more than one is an error."""
        first = self.at
        bounds = self._bounds()
        if bounds is None:
            return atom
        has_mark = self.pattern.startswith("?", self.at)
        self.at += has_mark
        operator_end = self.at
        again = self._bounds()
        if again is not None:
            _fail("invalid nested repetition operator", self.pattern[first : self.at])
        self.at = operator_end
        least, most = bounds
        repeated = Repeat(atom, least, most, has_mark != flags.prefers_few)
        if max(least, most or 0) > 1 and _copies(repeated) > REPEAT_MAX:
            _fail("invalid repeat count", self.pattern[start : self.at])
        return repeated

    def _bounds(self) -> tuple[int, int | None] | None:
        simple = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(self.pattern[self.at : self.at + 1])
        if simple is not None:
            self.at += 1
            return simple
        found = _REPEAT.match(self.pattern, self.at)
        if found is None:
            return None
        least = int(found[1])
        most = least if found[2] is None else int(found[3]) if found[3] else None
        if least > REPEAT_MAX or (most is not None and not least <= most <= REPEAT_MAX):
            _fail("invalid repeat count", found.group())
        self.at = found.end()
        return least, most

    def _group(self, flags: _Flags, *, depth: int) -> Node:
        name, captures = "", True
        if self.pattern.startswith("(?", self.at):
            name, flags = self._group_head(flags)
            captures = bool(name)
        else:
            self.at += 1
        self.captures += captures
        number = self.captures
        node = self.choice(flags, depth=depth + 1)
        if self.at >= len(self.pattern):
            _fail("missing closing )", self.pattern)
        self.at += 1
        return Capture(node, number, name) if captures else node

    def _group_head(self, flags: _Flags) -> tuple[str, _Flags]:
        """Step over `(?P<name>`, `(?<name>` or `(?flags:`; give the name and the flags inside."""
        named = _GROUP_NAME.match(self.pattern, self.at)
        if named is not None:
            name = named[1]
            if not re.fullmatch(r"[0-9A-Za-z_]+", name):
                _fail("invalid named capture", named.group())
            if name in self.group_names:
                _fail("duplicate capture group name", name)
            self.group_names.add(name)
            self.at = named.end()
            return name, flags
        if self.pattern.startswith(("(?P<", "(?<"), self.at) and not re.match(
            r"\(\?<[=!]", self.pattern[self.at :]
        ):
            _fail("invalid named capture", self.pattern[self.at :])
        head = re.compile(r"\(\?([imsU]*)(-[imsU]+)?:").match(self.pattern, self.at)
        if head is None:
            unread = re.compile(r"\(\?[imsU-]*").match(self.pattern, self.at)
            assert unread is not None
            if unread.end() == len(self.pattern):
                _fail("missing closing )", self.pattern)
            _fail("invalid or unsupported Perl syntax", self.pattern[self.at : unread.end() + 1])
        self.at = head.end()
        return "", _with_flags(flags, head[1], head[2])

    def _escape(self, flags: _Flags) -> Node:
        start = self.at
        if start + 1 == len(self.pattern):
            _fail("trailing backslash at end of expression", "")
        kind = self.pattern[start + 1]
        if kind == "Q":
            text, _, _ = self.pattern[start + 2 :].partition("\\E")
            self.at = min(start + 2 + len(text) + 2, len(self.pattern))
            return Sequence(tuple(_literal(ord(character), flags) for character in text))
        assertion = {"A": "begin", "z": "end", "b": "word", "B": "not_word"}.get(kind)
        if assertion is not None:
            self.at += 2
            return Assertion(assertion)
        if kind.lower() in _PERL:
            self.at += 2
            ranges = _PERL[kind.lower()]
            return CharacterSet(complement(ranges) if kind.isupper() else ranges)
        if kind in "pP":
            return CharacterSet(categories=(self._property(),))
        return _literal(self._escaped_character(), flags)

    def _property(self) -> tuple[str, bool]:
        found = _PROPERTY.match(self.pattern, self.at)
        if found is None:
            _fail("invalid character class range", self.pattern[self.at :])
        name = found[2] if found[2] is not None else found[3]
        if name != "Any" and not _CATEGORY.fullmatch(name):
            _fail("invalid character class range", found.group())
        self.at = found.end()
        wanted = (found.group()[1] == "p") == (found[1] != "^")
        return ("" if name == "Any" else name), wanted

    def _escaped_character(self) -> int:
        """Read an escape that stands for one character."""
        start = self.at
        if start + 1 == len(self.pattern):
            _fail("trailing backslash at end of expression", "")
        kind = self.pattern[start + 1]
        octal = re.compile(r"\\(0[0-7]{0,2}|[1-7][0-7]{1,2})").match(self.pattern, start)
        if octal is not None:
            self.at = octal.end()
            return int(octal[1], 8)
        if kind == "x":
            found = re.compile(r"\\x(?:([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]+)\})").match(self.pattern, start)
            value = CODE_POINT_MAX + 1 if found is None else int(found[1] or found[2], 16)
            if found is None or value > CODE_POINT_MAX:
                _fail("invalid escape sequence", self.pattern[start : start + 3])
            self.at = found.end()
            return value
        if kind in _CONTROLS:
            self.at += 2
            return _CONTROLS[kind]
        if kind.isascii() and not kind.isalnum():
            self.at += 2
            return ord(kind)
        _fail("invalid escape sequence", self.pattern[start : start + 2])

    def _bracket(self, flags: _Flags) -> Node:
        start = self.at
        self.at += 1
        negated = self.pattern.startswith("^", self.at)
        self.at += negated
        ranges: list[tuple[int, int]] = []
        categories: list[tuple[str, bool]] = []
        first = True
        while first or not self.pattern.startswith("]", self.at):
            if self.at >= len(self.pattern):
                _fail("missing closing ]", self.pattern[start:])
            first = False
            posix = _POSIX_CLASS.match(self.pattern, self.at)
            if posix is not None:
                if posix[2] not in _POSIX:
                    _fail("invalid character class range", posix.group())
                self.at = posix.end()
                named = _POSIX[posix[2]]
                ranges += complement(named) if posix[1] else named
            elif self.pattern[self.at] == "\\" and self.pattern[self.at + 1 : self.at + 2].lower() in _PERL:
                kind = self.pattern[self.at + 1]
                self.at += 2
                named = _PERL[kind.lower()]
                ranges += complement(named) if kind.isupper() else named
            elif self.pattern.startswith(("\\p", "\\P"), self.at):
                categories.append(self._property())
            else:
                ranges.append(self._range(start))
        self.at += 1
        return CharacterSet(tuple(ranges), tuple(categories), negated, flags.fold_case)

    def _range(self, bracket: int) -> tuple[int, int]:
        start = self.at
        low = high = self._bracket_character(bracket)
        rest = self.pattern[self.at : self.at + 2]
        if len(rest) == 2 and rest[0] == "-" and rest[1] != "]":
            self.at += 1
            high = self._bracket_character(bracket)
            if high < low:
                _fail("invalid character class range", self.pattern[start : self.at])
        return low, high

    def _bracket_character(self, bracket: int) -> int:
        if self.at >= len(self.pattern):
            _fail("missing closing ]", self.pattern[bracket:])
        if self.pattern[self.at] == "\\":
            return self._escaped_character()
        self.at += 1
        return ord(self.pattern[self.at - 1])


def _literal(code_point: int, flags: _Flags) -> CharacterSet:
    return CharacterSet(((code_point, code_point),), fold_case=flags.fold_case)


def _with_flags(flags: _Flags, switched_on: str, switched_off: str | None) -> _Flags:
    values = {"i": flags.fold_case, "m": flags.multi_line, "s": flags.dot_all, "U": flags.prefers_few}
    values |= dict.fromkeys(switched_on, True)
    values |= dict.fromkeys((switched_off or "-")[1:], False)
    return _Flags(values["i"], values["m"], values["s"], values["U"])


def _copies(node: Node) -> int:
    """How often the innermost part of nested counted repetitions is repeated."""
    match node:
        case Repeat(part=part, least=least, most=most):
            return max(1, least, most or 0) * _copies(part)
        case Capture(part=part):
            return _copies(part)
        case Sequence(parts=parts) | Choice(alternatives=parts):
            return max((_copies(part) for part in parts), default=1)
        case _:
            return 1

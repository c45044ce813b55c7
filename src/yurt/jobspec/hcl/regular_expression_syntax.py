"""The syntax of RE2 patterns, as a tree."""

import re
from typing import NoReturn, TypeAlias

import msgspec

REPEAT_MAX = 1000
GROUP_DEPTH_MAX = 100

_QUANTIFIER = re.compile(r"([*+?])|\{(\d+)(,?)(\d*)\}", re.ASCII)
_GROUP_OPEN = re.compile(
    r"\((?:\?(?:P?<(?P<name>\w+)>|(?P<flags>[imsU]*)(?:-(?P<off>[imsU]+))?(?P<end>[:)])))?", re.ASCII
)
_CLASS = re.compile(r"\[\^?\]?(?:\[:\^?\w+:\]|\\(?s:.)|[^\]\\])*\]", re.ASCII)
_POSIX = re.compile(r"\[:(\^?)(\w+):\]")
_POSIX_RANGES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@[-`{-~",
    "space": r"\t\n\v\f\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_ESCAPED_CHARACTERS = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "a": "\a"}
_HEX = re.compile(r"\\x(?:\{([0-9a-fA-F]{1,6})\}|([0-9a-fA-F]{2}))")
_SET_OPERATION = re.compile(r"\\.|--|[\[&~|]", re.DOTALL)
_ASSERTIONS = {"b": "word", "B": "not word", "A": "start", "z": "end"}


class PatternError(ValueError):
    """The pattern is no good; the message says why."""


class Character(msgspec.Struct, frozen=True):
    """One character that `pattern` matches."""

    pattern: re.Pattern[str]

    def matches(self, char: str) -> bool:
        return self.pattern.match(char) is not None


class Assertion(msgspec.Struct, frozen=True):
    """A condition on a place: start, end, line start, line end, word, not word."""

    kind: str

    def holds(self, text: str, pos: int) -> bool:
        match self.kind:
            case "start":
                return pos == 0
            case "end":
                return pos == len(text)
            case "line start":
                return pos == 0 or text[pos - 1] == "\n"
            case "line end":
                return pos == len(text) or text[pos] == "\n"
        before = pos > 0 and _is_word(text[pos - 1])
        after = pos < len(text) and _is_word(text[pos])
        return (before != after) == (self.kind == "word")


class Sequence(msgspec.Struct, frozen=True):
    items: "tuple[Node, ...]"


class Alternation(msgspec.Struct, frozen=True):
    branches: "tuple[Node, ...]"


class Repetition(msgspec.Struct, frozen=True):
    node: "Node"
    least: int
    most: int | None
    is_greedy: bool


class Group(msgspec.Struct, frozen=True):
    """A group; `number` is None when it captures nothing."""

    node: "Node"
    number: int | None


Node: TypeAlias = Character | Assertion | Sequence | Alternation | Repetition | Group


class Pattern(msgspec.Struct, frozen=True):
    """A parsed pattern. `group_count` includes the whole match, group 0."""

    node: Node
    group_count: int
    names: dict[str, int]


def parse_pattern(text: str) -> Pattern:
    """Parse a pattern. Raises PatternError."""
    parser = _Parser(text)
    node = parser.alternation()
    if parser.pos < len(text):
        parser.fail("unexpected )", text)
    return Pattern(node, parser.group_count, parser.names)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.pos = 0
        self.depth = 0
        self.flags = ""
        self.group_count = 1
        self.names: dict[str, int] = {}

    def fail(self, problem: str, place: str) -> NoReturn:
        raise PatternError(f"error parsing regexp: {problem}: `{place}`")

    def alternation(self) -> Node:
        branches = [self._sequence()]
        while self.text.startswith("|", self.pos):
            self.pos += 1
            branches.append(self._sequence())
        return branches[0] if len(branches) == 1 else Alternation(tuple(branches))

    def _sequence(self) -> Sequence:
        items: list[Node] = []
        while self.pos < len(self.text) and self.text[self.pos] not in "|)":
            if self.text.startswith(r"\Q", self.pos):
                items.extend(self._quoted())
                continue
            atom = self._atom()
            if atom is not None:
                items.append(self._quantified(atom))
        return Sequence(tuple(items))

    def _quantified(self, atom: Node) -> Node:
        match = _QUANTIFIER.match(self.text, self.pos)
        if match is None:
            return atom
        self.pos = match.end()
        sign, low, comma, high = match.groups()
        if sign:
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[sign]
        else:
            least = int(low)
            most = (int(high) if high else None) if comma else least
            if least > REPEAT_MAX or (most is not None and not least <= most <= REPEAT_MAX):
                self.fail("invalid repeat count", match[0])
        is_lazy = self.text.startswith("?", self.pos)
        self.pos += is_lazy
        if _QUANTIFIER.match(self.text, self.pos):
            self.fail("invalid nested repetition operator", self.text[match.start() : self.pos + 1])
        return Repetition(atom, least, most, is_greedy=is_lazy == ("U" in self.flags))

    def _atom(self) -> Node | None:
        char = self.text[self.pos]
        if char == "(":
            return self._group()
        if char == "[":
            return self._class()
        if char == "\\":
            return self._escape()
        self.pos += 1
        if char in "*+?":
            self.fail("missing argument to repetition operator", char)
        if char == ".":
            return Character(re.compile(r"(?s:.)" if "s" in self.flags else r"[^\n]"))
        if char == "^":
            return Assertion("line start" if "m" in self.flags else "start")
        if char == "$":
            return Assertion("line end" if "m" in self.flags else "end")
        return self._literal(char)

    def _group(self) -> Node | None:
        opened = _GROUP_OPEN.match(self.text, self.pos)
        assert opened is not None
        if opened[0] == "(" and self.text.startswith("(?", self.pos):
            self.fail("invalid or unsupported Perl syntax", self.text[self.pos : self.pos + 3])
        start = self.pos
        self.pos = opened.end()
        outer = self.flags
        if opened["end"]:
            off = opened["off"] or ""
            self.flags = "".join(f for f in self.flags + (opened["flags"] or "") if f not in off)
            if opened["end"] == ")":
                return None  # flags for the rest of the group around
        number = None
        if not opened["end"]:
            number = self.group_count
            self.group_count += 1
            if opened["name"]:
                if opened["name"] in self.names:
                    self.fail("duplicate capture group name", opened["name"])
                self.names[opened["name"]] = number
        self.depth += 1
        if self.depth > GROUP_DEPTH_MAX:
            raise PatternError("error parsing regexp: expression nests too deeply")
        node = self.alternation()
        self.depth -= 1
        if not self.text.startswith(")", self.pos):
            self.fail("missing closing )", self.text[start:])
        self.pos += 1
        self.flags = outer
        return Group(node, number)

    def _class(self) -> Character:
        match = _CLASS.match(self.text, self.pos)
        if match is None:
            self.fail("missing closing ]", self.text[self.pos :])
        self.pos = match.end()
        body = _HEX.sub(_python_hex, _POSIX.sub(self._posix, match[0][1:]))
        return self._single("[" + _SET_OPERATION.sub(_plain_in_class, body), match[0])

    def _posix(self, match: re.Match[str]) -> str:
        negated, name = match.groups()
        if negated or name not in _POSIX_RANGES:
            self.fail("invalid character class range", match[0])
        return _POSIX_RANGES[name]

    def _escape(self) -> Node:
        selector = self.text[self.pos + 1 : self.pos + 2]
        if not selector:
            self.fail("trailing backslash at end of expression", "")
        hexadecimal = _HEX.match(self.text, self.pos)
        if hexadecimal:
            self.pos = hexadecimal.end()
            return self._single(_python_hex(hexadecimal), hexadecimal[0])
        self.pos += 2
        if selector in _ASSERTIONS:
            return Assertion(_ASSERTIONS[selector])
        if selector in "dDsSwW":
            return Character(re.compile("\\" + selector, re.ASCII))
        if selector in _ESCAPED_CHARACTERS:
            return self._literal(_ESCAPED_CHARACTERS[selector])
        if selector.isalnum():
            self.fail("invalid escape sequence", "\\" + selector)
        return self._literal(selector)

    def _quoted(self) -> list[Node]:
        end = self.text.find(r"\E", self.pos)
        stop = len(self.text) if end < 0 else end
        literals: list[Node] = [self._literal(char) for char in self.text[self.pos + 2 : stop]]
        self.pos = stop if end < 0 else end + 2
        return literals

    def _literal(self, char: str) -> Character:
        return self._single(re.escape(char), char)

    def _single(self, pattern: str, original: str) -> Character:
        try:
            # In ASCII mode, ignoring case would miss letters beyond it; \d, \w and \s must not see those.
            flags = re.IGNORECASE if "i" in self.flags else re.ASCII
            return Character(re.compile(pattern, flags))
        except (re.error, OverflowError, ValueError):
            self.fail("invalid character class range", original)


def _python_hex(match: re.Match[str]) -> str:
    return f"\\U{int(match[1] or match[2], 16):08x}"


def _plain_in_class(match: re.Match[str]) -> str:
    """Escape what Python means to give a meaning in classes some day, and warns of."""
    return match[0] if match[0][0] == "\\" else {"--": r"-\-"}.get(match[0], "\\" + match[0])


def _is_word(char: str) -> bool:
    return char == "_" or (char.isascii() and char.isalnum())

"""Read the part of YAML that configuration data is written in.

Maps and lists in block and flow style, plain, quoted and literal texts, comments. Not read are anchors,
aliases, tags, complex keys, plain texts over several lines and streams of documents; these are errors.
"""

from __future__ import annotations

import json
import re

import msgspec

from yurt.agent.templates.language.values import Value

NESTING_MAX = 100

_INT = re.compile(r"[-+]?(?:0|[1-9][0-9]*)")
_HEX_OR_OCTAL = re.compile(r"0x[0-9A-Fa-f]+|0o[0-7]+")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+)(?:[eE][-+]?[0-9]+)?")
_WORDS: dict[str, Value] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_SPECIAL_FLOATS = {".nan": "nan", ".inf": "inf", "+.inf": "inf", "-.inf": "-inf"}
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\']|\'\')*\'')
_KEY = re.compile(rf"({_QUOTED.pattern}|[^\s#\-?:,\[\]{{}}&*!|>'\"%@`][^#]*?|-[^\s#][^#]*?):(?=\s|$)")
_BLOCK = re.compile(r"([|>])([-+]?)([1-9]?)([-+]?)\s*(?:#.*)?")
_UNREAD = {"&": "anchors", "*": "aliases", "!": "tags", "?": "complex keys", "%": "directives"}


class _Line(msgspec.Struct, frozen=True):
    number: int
    indent: int
    text: str


def read_yaml(text: str) -> Value:
    """Read one YAML document. Raises ValueError that names the line."""
    return _Reader(text).document()


class _Reader:
    def __init__(self, text: str) -> None:
        self._raw = text.removesuffix("\n").split("\n")
        self._lines = []
        for number, line in enumerate(self._raw, start=1):
            content = line.strip()
            if content and not content.startswith("#"):
                self._lines.append(_Line(number, len(line) - len(line.lstrip(" ")), line.strip(" \r")))
        self._at = 0
        self._depth = 0

    def document(self) -> Value:
        if self._lines and self._lines[0].text == "---":
            self._at = 1
        value = self._node(-1)
        if self._at < len(self._lines):
            line = self._lines[self._at]
            problem = "several documents" if line.text == "---" else f"unexpected {line.text!r}"
            raise _error(line.number, problem)
        return value

    def _peek(self, parent: int) -> _Line | None:
        """The next line if it belongs below something at the indent `parent`."""
        if self._at >= len(self._lines):
            return None
        line = self._lines[self._at]
        if "\t" in self._raw[line.number - 1][: line.indent + 1]:
            raise _error(line.number, "tabs cannot indent")
        return line if line.indent > parent and line.text != "---" else None

    def _node(self, parent: int) -> Value:
        line = self._peek(parent)
        if line is None:
            return None
        self._depth += 1
        if self._depth > NESTING_MAX:
            raise _error(line.number, f"nested more than {NESTING_MAX} deep")
        if line.text == "-" or line.text.startswith("- "):
            value: Value = self._sequence(line.indent)
        elif _KEY.match(line.text):
            value = self._mapping(line.indent)
        else:
            self._at += 1
            value = self._inline(line.text, line)
        self._depth -= 1
        return value

    def _sequence(self, indent: int) -> list[Value]:
        items = []
        while (line := self._peek(indent - 1)) is not None and line.indent == indent:
            if not (line.text == "-" or line.text.startswith("- ")):
                break
            rest = line.text[1:].lstrip()
            if not rest or rest.startswith("#"):
                self._at += 1
                items.append(self._node(indent))
            elif rest.startswith("- ") or rest == "-" or _KEY.match(rest):
                # What follows the dash is a line of its own, further in.
                inner = indent + len(line.text) - len(rest)
                self._lines[self._at] = _Line(line.number, inner, rest)
                items.append(self._node(indent))
            else:
                self._at += 1
                items.append(self._inline(rest, line))
        return items

    def _mapping(self, indent: int) -> dict[Value, Value]:
        made: dict[Value, Value] = {}
        while (line := self._peek(indent - 1)) is not None and line.indent == indent:
            found = _KEY.match(line.text)
            if found is None:
                raise _error(line.number, f"expected a key, found {line.text!r}")
            key = _scalar(found[1].strip(), line.number)
            if key in made:
                raise _error(line.number, f"key {key!r} is there twice")
            self._at += 1
            rest = line.text[found.end() :].strip()
            if rest and not rest.startswith("#"):
                made[key] = self._inline(rest, line)
                continue
            following = self._peek(indent - 1)
            # A list may stand as far out as its key.
            is_list = following is not None and (following.text == "-" or following.text.startswith("- "))
            same = following is not None and following.indent == indent
            made[key] = self._sequence(indent) if same and is_list else self._node(indent)
        return made

    def _inline(self, text: str, line: _Line) -> Value:
        """A value that begins on the line of its key or dash."""
        block = _BLOCK.fullmatch(text)
        if block is not None:
            return self._literal(block, line)
        if text[0] in "[{":
            return self._flow(text, line)
        quoted = _QUOTED.match(text)
        if quoted is not None:
            if text[quoted.end() :].strip() and not text[quoted.end() :].lstrip().startswith("#"):
                raise _error(line.number, f"unexpected {text[quoted.end() :].strip()!r}")
            return _scalar(quoted.group(), line.number)
        if self._at < len(self._lines) and self._lines[self._at].indent > line.indent:
            raise _error(self._lines[self._at].number, "texts over several lines need quotes, | or >")
        return _scalar(re.split(r"\s#", text, maxsplit=1)[0].strip(), line.number)

    def _literal(self, block: re.Match[str], line: _Line) -> str:
        style, before, width, after = block.groups()
        number = line.number
        indent = line.indent + int(width) if width else 0
        taken: list[str] = []
        while number < len(self._raw):
            raw = self._raw[number].rstrip("\r")
            own = len(raw) - len(raw.lstrip(" "))
            if raw.strip():
                indent = indent or own
                if own < indent or own <= line.indent:
                    break
            taken.append(raw[indent:] if raw.strip() else "")
            number += 1
        while self._at < len(self._lines) and self._lines[self._at].number <= number:
            self._at += 1
        trailing = 0
        while taken and not taken[-1]:
            taken.pop()
            trailing += 1
        text = "\n".join(taken) if style == "|" else _folded(taken)
        keep = before or after
        return text + {"": "\n" if taken else "", "-": "", "+": "\n" * (trailing + bool(taken))}[keep]

    def _flow(self, text: str, line: _Line) -> Value:
        """A list or map in brackets, which may go on over the lines that follow."""
        reader = _Flow(text, line.number)
        while not reader.is_closed():
            following = self._peek(-1)
            if following is None:
                raise _error(line.number, "an opening bracket is not closed")
            self._at += 1
            reader.extend(following.text)
        return reader.read()


class _Flow:
    """A value in brackets."""

    def __init__(self, text: str, line: int) -> None:
        self._text = text
        self._line = line
        self._at = 0
        self._depth = 0

    def extend(self, text: str) -> None:
        self._text += f" {text}"

    def is_closed(self) -> bool:
        depth = 0
        for character in _QUOTED.sub("", re.sub(r"\s#.*", "", self._text)):
            depth += (character in "[{") - (character in "]}")
        return depth <= 0

    def read(self) -> Value:
        value = self._value()
        rest = self._text[self._at :].strip()
        if rest and not rest.startswith("#"):
            raise _error(self._line, f"unexpected {rest!r}")
        return value

    def _skip(self) -> str:
        while self._text[self._at : self._at + 1].isspace():
            self._at += 1
        return self._text[self._at : self._at + 1]

    def _value(self) -> Value:
        self._depth += 1
        if self._depth > NESTING_MAX:
            raise _error(self._line, f"nested more than {NESTING_MAX} deep")
        match self._skip():
            case "[":
                value: Value = self._list()
            case "{":
                value = self._map()
            case _:
                value = self._plain(",]}")
        self._depth -= 1
        return value

    def _list(self) -> list[Value]:
        self._at += 1
        items: list[Value] = []
        while self._skip() != "]":
            items.append(self._value())
            self._comma("]")
        self._at += 1
        return items

    def _map(self) -> dict[Value, Value]:
        self._at += 1
        made: dict[Value, Value] = {}
        while self._skip() != "}":
            key = self._plain(":,}")
            if self._skip() == ":":
                self._at += 1
                made[key] = self._value()
            else:
                made[key] = None
            self._comma("}")
        self._at += 1
        return made

    def _comma(self, closing: str) -> None:
        found = self._skip()
        if found == ",":
            self._at += 1
        elif found != closing:
            raise _error(self._line, f"expected , or {closing}, found {found!r}")

    def _plain(self, ends: str) -> Value:
        quoted = _QUOTED.match(self._text, self._at)
        if quoted is not None:
            self._at = quoted.end()
            return _scalar(quoted.group(), self._line)
        start = self._at
        while self._at < len(self._text) and self._text[self._at] not in ends:
            self._at += 1
        if start == self._at:
            raise _error(self._line, f"expected a value, found {self._text[start : start + 1]!r}")
        return _scalar(self._text[start : self._at].strip(), self._line)


def _scalar(text: str, line: int) -> Value:
    if text[:1] == '"':
        try:
            return json.loads(text.replace("\\'", "'").replace("\\0", "\\u0000"), strict=False)
        except ValueError as error:
            raise _error(line, f"{text} is no quoted text") from error
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in _UNREAD:
        raise _error(line, f"{_UNREAD[text[0]]} are not read: {text!r}; write the value itself")
    if text[0] in "[]{},@`|>":
        raise _error(line, f"{text!r} needs quotes")
    if _INT.fullmatch(text):
        return int(text)
    if _HEX_OR_OCTAL.fullmatch(text):
        return int(text, 0)
    if _FLOAT.fullmatch(text):
        return float(text)
    return float(_SPECIAL_FLOATS[text.lower()]) if text.lower() in _SPECIAL_FLOATS else text


def _folded(lines: list[str]) -> str:
    """Join lines by blanks; empty ones stay line breaks, and so do those around indented ones."""
    made = ""
    for number, line in enumerate(lines):
        before = lines[number - 1] if number else ""
        if not number:
            made = line
        elif not line:
            made += "\n"
        elif not before:
            made += line
        else:
            made += ("\n" if line[0] == " " or before[0] == " " else " ") + line
    return made


def _error(line: int, problem: str) -> ValueError:
    return ValueError(f"yaml: line {line}: {problem}")

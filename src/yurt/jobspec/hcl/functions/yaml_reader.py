"""A reader of the YAML that configuration is written in.

Block and flow mappings and sequences, plain and quoted scalars, block scalars and comments, with the types
of YAML 1.1. One document; no anchors, aliases, tags or merge keys.
"""

import re
from bisect import bisect_right
from itertools import accumulate
from typing import NoReturn

from yurt.jobspec.hcl.limits import NESTING_DEPTH_MAX
from yurt.jobspec.hcl.numbers import NumberTooLarge, parse_number, rounded
from yurt.jobspec.hcl.values import Value

_KEY = re.compile(
    r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s\-?:,\[\]{}#&*!|>'"%@`][^#\n]*?|[-?:][^\s#][^#\n]*?)\s*:(?=\s|$)"""
)
_DOUBLE_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*+)"', re.DOTALL)
_SINGLE_QUOTED = re.compile(r"'((?:[^']|'')*+)'")
_BLOCK_HEADER = re.compile(r"([|>])([+-]?)(\d?)([+-]?)\s*(?:#.*)?$")
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|\n[ \t]*|.)", re.DOTALL)
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r", "e": "\x1b",
    '"': '"', "/": "/", "\\": "\\", " ": " ", "N": "\x85", "_": "\xa0", "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_TRUE = {w for base in ("y", "yes", "true", "on") for w in (base, base.title(), base.upper())}
_FALSE = {w for base in ("n", "no", "false", "off") for w in (base, base.title(), base.upper())}
_NULL = {"", "~", "null", "Null", "NULL"}
_INTEGER = re.compile(r"[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0o?[0-7_]+|0|[1-9][0-9_]*)")
_FLOAT = re.compile(r"[-+]?(?:[0-9][0-9_]*(?:\.[0-9_]*)?|\.[0-9][0-9_]*)(?:[eE][-+]?[0-9]+)?")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_TIMESTAMP = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[Tt]|[ \t]+)(\d\d:\d\d:\d\d(?:\.\d+)?)(?:[ \t]*(Z|[-+]\d\d(?::?\d\d)?))?"
)


class YAMLError(ValueError):
    """The text is not YAML that can be read; the message begins with the place."""


def yaml_value(text: str) -> Value:
    """The value of a YAML document. Raises YAMLError."""
    reader = _Reader(text)
    value = reader.block(-1)
    reader.finish()
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text.replace("\r\n", "\n")
        self.lines = self.text.split("\n")
        self.row = 0
        self.depth = 0
        lengths = (len(line) + 1 for line in self.lines)
        self.line_starts = [0, *accumulate(lengths)][:-1]
        if self.lines[0].startswith("---"):
            self.lines[0] = "   " + self.lines[0][3:]

    def fail(self, problem: str, column: int = 0) -> NoReturn:
        raise YAMLError(f"on line {min(self.row, len(self.lines) - 1) + 1}, column {column + 1}: {problem}")

    def finish(self) -> None:
        self._skip_blank()
        if self.row < len(self.lines) and self.lines[self.row].strip() not in ("...", "---"):
            self.fail("did not find expected <document start>")

    # Block style

    def block(self, parent_indent: int, *, may_be_sequence_at: int | None = None) -> Value:
        """The value of the lines indented more than `parent_indent`; null when there are none.

        A sequence may also stand at `may_be_sequence_at`, as it does under a mapping's key.
        """
        self.depth += 1
        if self.depth > NESTING_DEPTH_MAX:
            self.fail("the value is nested too deeply")
        try:
            self._skip_blank()
            if self.row >= len(self.lines) or self._is_document_mark():
                return None
            indent, content = self._line()
            if _is_item(content) and (indent > parent_indent or indent == may_be_sequence_at):
                return self._sequence(indent)
            if indent <= parent_indent:
                return None
            if _KEY.match(content) and content[0] not in "[{":
                return self._mapping(indent)
            return self._scalar(content, indent, parent_indent)
        finally:
            self.depth -= 1

    def _sequence(self, indent: int) -> Value:
        items: list[Value] = []
        while self._at(indent) and _is_item(self._line()[1]):
            line = self.lines[self.row]
            # The item stands as if it were a line of its own, indented to where it begins.
            self.lines[self.row] = line[:indent] + " " + line[indent + 1 :]
            if not _without_comment(self.lines[self.row]).strip():
                self.row += 1
            items.append(self.block(indent))
        self._no_stray(indent)
        return tuple(items)

    def _mapping(self, indent: int) -> Value:
        result: dict[str, Value] = {}
        while self._at(indent):
            content = self._line()[1]
            match = _KEY.match(content)
            if match is None:
                self.fail("could not find expected ':'", indent)
            key = self._key(match[1])
            if key == "<<":
                self.fail("merge keys are not supported", indent)
            if key in result:
                self.fail(f'key "{key}" is already set in this map', indent)
            rest = content[match.end() :]
            if _without_comment(rest).strip():
                offset = indent + match.end() + len(rest) - len(rest.lstrip())
                result[key] = self._scalar(rest.lstrip(), offset, indent)
            else:
                self.row += 1
                result[key] = self.block(indent, may_be_sequence_at=indent)
        self._no_stray(indent)
        return result

    def _key(self, text: str) -> str:
        if text[0] in "\"'":
            return _unquoted(text)
        return text

    def _scalar(self, content: str, column: int, parent_indent: int) -> Value:
        """A value that starts on this line, at `column`, with `content`."""
        first = content[0]
        if first in "&*!":
            self.fail("anchors, aliases and tags are not supported", column)
        if first in "@`%":
            self.fail("found character that cannot start any token", column)
        if first in "|>":
            return self._block_scalar(content, parent_indent)
        if first in "[{\"'":
            return self._flow(column)
        words = [_without_comment(content).strip()]
        has_comment = _without_comment(content) != content
        self.row += 1
        while not has_comment and self.row < len(self.lines) and not self._is_document_mark():
            line = self.lines[self.row]
            if line.strip() and (
                len(line) - len(line.lstrip()) <= parent_indent or line.lstrip().startswith("#")
            ):
                break
            words.append(_without_comment(line).strip())
            if _KEY.match(words[-1]):
                self.fail("mapping values are not allowed in this context")
            self.row += 1
        while words and not words[-1]:
            words.pop()
        if len(words) == 1:
            if _KEY.match(words[0]):
                self.fail("mapping values are not allowed in this context", column)
            return resolve(words[0], self)
        return _folded(words)

    def _block_scalar(self, content: str, parent_indent: int) -> str:
        header = _BLOCK_HEADER.match(content)
        if header is None:
            self.fail("did not find expected comment or line break")
        style, chomp_before, digit, chomp_after = header.groups()
        self.row += 1
        lines: list[str] = []
        indent = max(parent_indent, 0) + int(digit) if digit else None
        while self.row < len(self.lines):
            line = self.lines[self.row]
            if line.strip():
                own = len(line) - len(line.lstrip(" "))
                if indent is None:
                    indent = own if own > parent_indent else None
                if indent is None or own < indent:
                    break
            lines.append(line[indent or 0 :] if line.strip() else line[indent or len(line) :])
            self.row += 1
        trailing = 0
        while lines and not lines[-1]:
            lines.pop()
            trailing += 1
        text = "\n".join(lines) if style == "|" else _folded(lines)
        chomp = chomp_before or chomp_after
        if not lines or chomp == "-":
            return text
        at_end = self.row >= len(self.lines) and trailing > 0
        return text + "\n" * (1 + (trailing - at_end) if chomp == "+" else 1)

    # Flow style

    def _flow(self, column: int) -> Value:
        """A flow collection or quoted scalar; nothing may follow it on its last line."""
        # It may go on over lines, so it is read from the text. Lines change only in front of where their
        # values begin, and keep their length, so places in them are places in the text.
        flow = _FlowReader(self.text, self.line_starts[self.row] + column, self)
        value = flow.value()
        self.row = bisect_right(self.line_starts, flow.pos) - 1
        end = self.text.find("\n", flow.pos)
        rest = self.text[flow.pos : end if end >= 0 else len(self.text)]
        if _without_comment(" " + rest).strip():
            self.fail("did not find expected key", column)
        self.row += 1
        return value

    # Lines

    def _skip_blank(self) -> None:
        while self.row < len(self.lines) and not _without_comment(self.lines[self.row]).strip():
            self.row += 1

    def _line(self) -> tuple[int, str]:
        line = self.lines[self.row]
        content = line.lstrip(" ")
        if content.startswith("\t"):
            self.fail("found character that cannot start any token")
        return len(line) - len(content), content

    def _at(self, indent: int) -> bool:
        self._skip_blank()
        return self.row < len(self.lines) and not self._is_document_mark() and self._line()[0] == indent

    def _no_stray(self, indent: int) -> None:
        self._skip_blank()
        if self.row < len(self.lines) and not self._is_document_mark() and self._line()[0] > indent:
            self.fail("did not find expected key or item at this indentation", self._line()[0])

    def _is_document_mark(self) -> bool:
        return self.row < len(self.lines) and self.lines[self.row].rstrip() in ("---", "...")


class _FlowReader:
    def __init__(self, text: str, pos: int, reader: _Reader) -> None:
        self.text = text
        self.pos = pos
        self.depth = 0
        self.reader = reader

    def value(self) -> Value:
        char = self._next()
        if char in ("[", "{"):
            self.depth += 1
            if self.depth > NESTING_DEPTH_MAX:
                self.reader.fail("the value is nested too deeply")
            self.pos += 1
            value = self._items() if char == "[" else self._members()
            self.depth -= 1
            return value
        if char in ("'", '"'):
            return self._quoted(char)
        return resolve(self._plain(), self.reader)

    def _items(self) -> Value:
        items: list[Value] = []
        while self._next() != "]":
            items.append(self.value())
            self._separator("]")
        self.pos += 1
        return tuple(items)

    def _members(self) -> Value:
        result: dict[str, Value] = {}
        while (char := self._next()) != "}":
            key = self._quoted(char) if char in ("'", '"') else self._plain()
            if self._next() == ":":
                self.pos += 1
                result[key] = None if self._next() in (",", "}") else self.value()
            else:
                result[key] = None
            self._separator("}")
        self.pos += 1
        return result

    def _separator(self, closer: str) -> None:
        char = self._next()
        if char == ",":
            self.pos += 1
        elif char != closer:
            self.reader.fail(f"did not find expected ',' or '{closer}'")

    def _next(self) -> str:
        while self.pos < len(self.text):
            char = self.text[self.pos]
            if char == "#" and (self.pos == 0 or self.text[self.pos - 1].isspace()):
                end = self.text.find("\n", self.pos)
                self.pos = len(self.text) if end < 0 else end
            elif char.isspace():
                self.pos += 1
            else:
                return char
        self.reader.fail("did not find expected node content")

    def _quoted(self, mark: str) -> str:
        match = (_DOUBLE_QUOTED if mark == '"' else _SINGLE_QUOTED).match(self.text, self.pos)
        if match is None:
            self.reader.fail("found unexpected end of stream")
        self.pos = match.end()
        return _unquoted(match[0])

    def _plain(self) -> str:
        start = self.pos
        while self.pos < len(self.text):
            char = self.text[self.pos]
            if char in ",[]{}\n" or (
                char == ":" and self.text[self.pos + 1 : self.pos + 2] in (" ", "\n", "", ",", "}", "]")
            ):
                break
            if char == "#" and self.text[self.pos - 1].isspace():
                break
            self.pos += 1
        text = self.text[start : self.pos].strip()
        if not text or text[0] in "&*!@`%|>":
            self.reader.fail("did not find expected node content")
        return text


def resolve(text: str, reader: _Reader) -> Value:
    """The value of a plain scalar, by the rules of YAML 1.1."""
    if text in _NULL:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    try:
        if _INTEGER.fullmatch(text):
            return _integer(text.replace("_", ""))
        if _FLOAT.fullmatch(text):
            return parse_number(text.replace("_", "").lstrip("+"))
    except NumberTooLarge as error:
        reader.fail(str(error))
    except ValueError:
        return text
    if text.lstrip("+-").lower() in (".inf", ".nan"):
        reader.fail("infinity and NaN are not supported")
    if _DATE.fullmatch(text):
        return f"{text}T00:00:00Z"
    timestamp = _TIMESTAMP.fullmatch(text)
    if timestamp:
        zone = timestamp[3] or "Z"
        if len(zone) == 3:
            zone += ":00"
        return f"{timestamp[1]}T{timestamp[2]}{zone}"
    return text


def _integer(text: str) -> Value:
    sign = -1 if text[0] == "-" else 1
    digits = text.lstrip("+-")
    if digits[:2] in ("0x", "0b"):
        return rounded(sign * int(digits, 0))
    if digits[0] == "0" and len(digits) > 1:
        return rounded(sign * int(digits.removeprefix("0o"), 8))
    return parse_number(text.removeprefix("+"))


def _unquoted(text: str) -> str:
    inner = text[1:-1]
    if "\n" in inner:
        inner = _folded(
            [line.strip() if index else line.rstrip() for index, line in enumerate(inner.split("\n"))]
        )
    if text[0] == "'":
        return inner.replace("''", "'")
    return _ESCAPE.sub(_escaped, inner)


def _escaped(match: re.Match[str]) -> str:
    selector = match[1]
    if len(selector) > 1 and selector[0] in "xuU":
        code = int(selector[1:], 16)
        return chr(code) if code <= 0x10FFFF and not 0xD800 <= code < 0xE000 else "\ufffd"
    return "" if selector[0] == "\n" else _ESCAPES.get(selector, match[0])


def _folded(lines: list[str]) -> str:
    """Lines joined by blanks; empty lines between them stay as line breaks."""
    result = ""
    pending = 0
    for index, line in enumerate(lines):
        if not line:
            pending += 1
            continue
        if index:
            result += "\n" * pending if pending else " "
        result += line
        pending = 0
    return result


def _is_item(content: str) -> bool:
    return content == "-" or content.startswith("- ")


def _without_comment(line: str) -> str:
    if line.lstrip().startswith("#"):
        return ""
    at = line.find(" #")
    return line if at < 0 else line[:at]

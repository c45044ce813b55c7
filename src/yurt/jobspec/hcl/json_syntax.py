"""The parser of HCL2's JSON syntax, which gives the same expressions as the native one."""

import re
from fractions import Fraction
from typing import NoReturn

from yurt.jobspec.hcl.diagnostics import syntax_error, too_deep
from yurt.jobspec.hcl.limits import NESTING_DEPTH_MAX, SOURCE_CHARACTERS_MAX
from yurt.jobspec.hcl.numbers import NumberTooLarge, parse_number
from yurt.jobspec.hcl.parser import parse_template
from yurt.jobspec.hcl.source import Source
from yurt.jobspec.hcl.syntax import Embedded, Expression, Literal, ObjectExpr, ObjectItem, Text, TupleExpr

_BLANK = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"((?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+)"')
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_WORD = re.compile(r"\w+")
_ESCAPE = re.compile(r"(?:\\u[0-9a-fA-F]{4})+|\\.")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS = {"true": True, "false": False, "null": None}


def parse_object(source: Source) -> ObjectExpr:
    """Parse a JSON text whose outermost value is an object. Raises HCLError at the first syntax error.

    Keys are Text; a string with template sequences is Embedded, any other is Text.
    """
    if len(source.text) > SOURCE_CHARACTERS_MAX:
        raise syntax_error(
            source, 0, 0, "Text too long", f"A file may have at most {SOURCE_CHARACTERS_MAX} characters."
        )
    return _JSONParser(source).file()


class _JSONParser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.pos = 0
        self.depth = 0

    def file(self) -> ObjectExpr:
        if self._next() != "{":
            self._fail(
                "Root value must be object",
                "The root value in a JSON-based configuration must be a JSON object.",
            )
        root = self._object()
        if self._next():
            self._fail("Extraneous data after value", "Extra characters appear after the JSON value.")
        return root

    def _next(self) -> str:
        """Skip blanks; the character there, or nothing at the end."""
        blank = _BLANK.match(self.text, self.pos)
        assert blank is not None
        self.pos = blank.end()
        return self.text[self.pos : self.pos + 1]

    def _value(self) -> Expression:
        char = self._next()
        if char == '"':
            return self._string_value()
        if char == "{":
            return self._object()
        if char == "[":
            return self._array()
        start = self.pos
        number = _NUMBER.match(self.text, start)
        if number:
            self.pos = number.end()
            return Literal(start, self.pos, self._number(number[0], start))
        word = _WORD.match(self.text, start)
        if word and word[0] in _WORDS:
            self.pos = word.end()
            return Literal(start, self.pos, _WORDS[word[0]])
        if not char:
            self._fail("Missing JSON value", "A JSON value is required here, but the text ends.")
        end = word.end() if word else start + 1
        raise syntax_error(
            self.source,
            start,
            end,
            "Invalid JSON value",
            "Expected an object, an array, a string, a number, true, false or null here.",
        )

    def _number(self, text: str, start: int) -> int | Fraction:
        try:
            number = parse_number(text)
        except NumberTooLarge as error:
            self.pos = start
            self._fail("Invalid JSON number", f"This number cannot be used: {error}.")
        assert not isinstance(number, float)
        return number

    def _object(self) -> ObjectExpr:
        start = self._open()
        items: list[ObjectItem] = []
        comma = -1
        while (char := self._next()) != "}":
            if char != '"':
                self._fail(
                    "Invalid object property name", "A JSON object property name must be a string in quotes."
                )
            key_start = self.pos
            key = self._string()
            name = Text(key_start, self.pos, key, key_start, self.pos)
            if self._next() != ":":
                self._fail("Missing property value", "A colon and a value must follow a JSON property name.")
            self.pos += 1
            items.append(ObjectItem(name, self._value()))
            comma = self._separator("}", "object", "property")
        self._no_trailing(comma, "object", "property")
        self.pos += 1
        self.depth -= 1
        return ObjectExpr(start, self.pos, tuple(items))

    def _array(self) -> TupleExpr:
        start = self._open()
        items: list[Expression] = []
        comma = -1
        while self._next() != "]":
            items.append(self._value())
            comma = self._separator("]", "array", "value")
        self._no_trailing(comma, "array", "value")
        self.pos += 1
        self.depth -= 1
        return TupleExpr(start, self.pos, tuple(items))

    def _open(self) -> int:
        start = self.pos
        self.depth += 1
        if self.depth > NESTING_DEPTH_MAX:
            raise too_deep(self.source, start)
        self.pos += 1
        return start

    def _separator(self, closer: str, whole: str, part: str) -> int:
        """Step over a comma, if one is there and needed; the answer is its place or -1."""
        char = self._next()
        if char == ",":
            self.pos += 1
            return self.pos - 1
        if not char:
            self._fail(f"Unclosed {whole}", f"There is no closing {closer} for this JSON {whole}.")
        if char != closer:
            self._fail("Missing comma", f"A comma must separate each {part} of a JSON {whole} from the next.")
        return -1

    def _no_trailing(self, comma: int, whole: str, part: str) -> None:
        if comma >= 0:
            raise syntax_error(
                self.source,
                comma,
                comma + 1,
                f"Trailing comma in {whole}",
                f"JSON does not permit a trailing comma after the final {part} in an {whole}.",
            )

    def _string_value(self) -> Expression:
        start = self.pos
        text = self._string()
        if "${" not in text and "%{" not in text:
            return Text(start, self.pos, text, start, self.pos)
        origin = self.source.position(start + 1)
        embedded = Source(text, self.source.filename, origin=origin)
        return Embedded(start, self.pos, parse_template(embedded), embedded)

    def _string(self) -> str:
        string = _STRING.match(self.text, self.pos)
        if string is None:
            self._fail(
                "Invalid JSON string",
                "This string has no closing quote, a line break or a wrong escape in it.",
            )
        self.pos = string.end()
        return _ESCAPE.sub(_unescaped, string[1]) if "\\" in string[1] else string[1]

    def _fail(self, summary: str, detail: str) -> NoReturn:
        end = min(self.pos + 1, len(self.text))
        raise syntax_error(self.source, self.pos, end, summary, detail)


def _unescaped(match: re.Match[str]) -> str:
    escape = match[0]
    if escape[1] != "u":
        return _ESCAPES[escape[1]]
    units = bytes.fromhex(escape.replace("\\u", ""))
    return units.decode("utf-16-be", errors="replace")

"""Files of plain values in the older HCL syntax: agent configuration, ACL policies.

There are no expressions, functions or variables, keys may be quoted, `a = { }` equals `a { }`, and items
may share a line. The tree is made of plain Python values:

- a body is a `LiteralBody`, a dict that also knows the line of each key;
- a string, number or bool is itself, a list is a list;
- a block or object is a list of bodies, one for each time it occurs, and each label is one more level:
  `plugin "docker" { a = 1 }` twice is `{"plugin": [{"docker": [{"a": 1}]}, {"docker": [{"a": 1}]}]}`.

The JSON form of such files gives the same tree, so a loader works on one shape. Of a value given twice
the last one counts.
"""

from typing import TypeAlias, Union

from yurt.jobspec.hcl import json_syntax
from yurt.jobspec.hcl import lexer as t
from yurt.jobspec.hcl.expressions import ExpressionParser
from yurt.jobspec.hcl.numbers import Number
from yurt.jobspec.hcl.source import Source
from yurt.jobspec.hcl.syntax import Embedded, Expression, Literal, ObjectExpr, Text, TupleExpr
from yurt.jobspec.hcl.templates import parse_heredoc, unescape

LiteralValue: TypeAlias = Union[str, int, float, bool, list["LiteralValue"], "LiteralBody", None]


class LiteralBody(dict[str, LiteralValue]):
    """A body's values by key; `lines` has the line on which each key last stood."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: dict[str, int] = {}


def literal_body(text: str, *, filename: str) -> LiteralBody:
    """Read a file of plain values, in HCL or, when it begins with `{`, in JSON.

    Raises HCLError at the first syntax error, and for expressions.
    """
    source = Source(text, filename)
    if source.text.lstrip().startswith("{"):
        return _from_json(json_syntax.parse_object(source), source)
    return _LiteralParser(source).file()


class _LiteralParser(ExpressionParser):
    """Bodies of plain values; of the expression parser only the moving over tokens is used."""

    def file(self) -> LiteralBody:
        return self._items(t.EOF)

    def _items(self, closer: int) -> LiteralBody:
        self.enter()
        open_index = max(0, self.index - 1)
        body = LiteralBody()
        while True:
            kind = self.kinds[self.index]
            if kind in (t.NEWLINE, t.COMMA):
                self.index += 1
            elif kind == closer:
                self.index += 1
                self.depth -= 1
                return body
            elif kind == t.EOF:
                self.fail(
                    "Unclosed block",
                    "There is no closing brace for this block before the end of the file.",
                    at=open_index,
                )
            else:
                self._item(body)

    def _item(self, body: LiteralBody) -> None:
        line = self.source.position(self.starts[self.index]).line
        keys = [self._key()]
        while self.kinds[self.index] in (t.IDENTIFIER, t.STRING, t.QUOTE_OPEN):
            keys.append(self._key())
        kind = self.kinds[self.index]
        if kind in (t.ASSIGN, t.COLON):
            self.index += 1
            value = self._value()
        elif kind == t.BRACE_OPEN:
            self.index += 1
            value = [self._items(t.BRACE_CLOSE)]
        else:
            self.fail("Value required", f'Expected "=" or "{{" after "{keys[-1]}".')
        for label in reversed(keys[1:]):
            value = [_single(label, value, line)]
        _put(body, keys[0], value, line)

    def _key(self) -> str:
        kind = self.peek()
        if kind == t.IDENTIFIER:
            name = self.take_text()
            while self.kinds[self.index] == t.DOT and self.kinds[self.index + 1] == t.IDENTIFIER:
                self.index += 1
                name += "." + self.take_text()
            return name
        if kind in (t.STRING, t.QUOTE_OPEN):
            return self._string()
        self.fail("Key required", "Expected a name here, followed by a value or a block.")

    def _value(self) -> LiteralValue:
        self.enter()
        kind = self.peek()
        value: LiteralValue
        if kind in (t.STRING, t.QUOTE_OPEN):
            value = self._string()
        elif kind in (t.NUMBER, t.MINUS):
            sign = -1 if kind == t.MINUS else 1
            self.index += kind == t.MINUS
            if self.peek() != t.NUMBER:
                self.fail("Invalid number", 'A "-" must be followed by a number.')
            self.index += 1
            value = sign * _plain_number(self._number(self.index - 1))
        elif kind == t.HEREDOC_OPEN:
            value = self._heredoc()
        elif kind == t.BRACKET_OPEN:
            value = self._list()
        elif kind == t.BRACE_OPEN:
            self.index += 1
            value = [self._items(t.BRACE_CLOSE)]
        elif (
            kind == t.IDENTIFIER
            and (word := self.text[self.starts[self.index] : self.ends[self.index]]) in _WORDS
        ):
            self.index += 1
            value = _WORDS[word]
        else:
            self.fail(
                "Plain value required",
                "Expected a string, number, bool, list or block here; expressions, functions and variables "
                "are not available in this file.",
            )
        self.depth -= 1
        return value

    def _list(self) -> list[LiteralValue]:
        open_index = self.index
        self.index += 1
        items: list[LiteralValue] = []
        while True:
            kind = self.kinds[self.index]
            if kind in (t.NEWLINE, t.COMMA):
                self.index += 1
            elif kind == t.BRACKET_CLOSE:
                self.index += 1
                return items
            elif kind == t.EOF:
                self.fail("Unclosed list", "There is no closing bracket for this list.", at=open_index)
            else:
                item = self._value()
                # An object in a list stands for itself, not for a list of one.
                items.extend(item if isinstance(item, list) and kind == t.BRACE_OPEN else [item])

    def _string(self) -> str:
        """Read a quoted string; `${…}` in it is ordinary text."""
        start, end = self.starts[self.index], self.ends[self.index]
        if self.kinds[self.index] == t.STRING:
            self.index += 1
            return self.text[start + 1 : end - 1]
        self._skip_template(t.QUOTE_OPEN, t.QUOTE_CLOSE)
        return unescape(self.source, end, self.starts[self.index - 1])

    def _heredoc(self) -> str:
        if self.kinds[self.index + 1 : self.index + 3] == [t.LITERAL, t.HEREDOC_CLOSE]:
            heredoc = parse_heredoc(self)
            assert isinstance(heredoc, Text)
            return heredoc.value
        start = self.ends[self.index]
        self._skip_template(t.HEREDOC_OPEN, t.HEREDOC_CLOSE)
        return self.text[start : self.starts[self.index - 1]]

    def _skip_template(self, opener: int, closer: int) -> None:
        depth = 0
        while True:
            kind = self.kinds[self.index]
            depth += (kind == opener) - (kind == closer)
            self.index += 1
            if depth == 0:
                return


_WORDS = {"true": True, "false": False, "null": None}


def _plain_number(number: Number) -> int | float:
    return number if isinstance(number, int) else float(number)


def _single(key: str, value: LiteralValue, line: int) -> LiteralBody:
    body = LiteralBody()
    _put(body, key, value, line)
    return body


def _put(body: LiteralBody, key: str, value: LiteralValue, line: int) -> None:
    earlier = body.get(key)
    if _is_blocks(earlier) and _is_blocks(value):
        assert isinstance(earlier, list)
        assert isinstance(value, list)
        value = [*earlier, *value]
    body[key] = value
    body.lines[key] = line


def _is_blocks(value: LiteralValue) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, LiteralBody) for item in value)


def _from_json(node: ObjectExpr, source: Source) -> LiteralBody:
    body = LiteralBody()
    for item in node.items:
        assert isinstance(item.key, Text)
        value = _json_value(item.value, source)
        if isinstance(value, LiteralBody):
            value = [value]
        _put(body, item.key.value, value, source.position(item.key.start).line)
    return body


def _json_value(expr: Expression, source: Source) -> LiteralValue:
    match expr:
        case Text():
            return expr.value
        case Embedded():
            return expr.source.text
        case Literal():
            value = expr.value
            return value if value is None or isinstance(value, bool) else _plain_number(value)
        case TupleExpr():
            return [_json_value(item, source) for item in expr.items]
        case ObjectExpr():
            return _from_json(expr, source)
        case _:
            raise AssertionError(f"JSON has no {type(expr).__name__}")

"""The parser of HCL2's native syntax: files, blocks, attributes."""

from typing import NoReturn

from yurt.jobspec.hcl import lexer as t
from yurt.jobspec.hcl.diagnostics import syntax_error
from yurt.jobspec.hcl.expressions import ExpressionParser
from yurt.jobspec.hcl.source import Source
from yurt.jobspec.hcl.syntax import Attribute, Block, Body, Expression, Label
from yurt.jobspec.hcl.templates import parse_bare_template, unescape


def parse(text: str, *, filename: str) -> Body:
    """Parse a file in HCL2's native syntax. Raises HCLError at the first syntax error."""
    return _BodyParser(Source(text, filename)).file()


def parse_expression(source: Source) -> Expression:
    """Parse a text that is one expression."""
    parser = ExpressionParser(source)
    parser.skips_newlines = True
    expr = parser.expression()
    if parser.peek() != t.EOF:
        parser.fail(
            "Extra characters after expression",
            "An expression was successfully parsed, but extra characters were found after it.",
        )
    return expr


def parse_template(source: Source) -> Expression:
    """Parse a text that is one template, without marks around it or escapes in it."""
    return parse_bare_template(ExpressionParser(source, is_template=True))


class _BodyParser(ExpressionParser):
    def file(self) -> Body:
        body = self._items(0, t.EOF, None)
        return Body(0, len(self.text), *body, self.source)

    def _items(
        self, start: int, closer: int, open_index: int | None
    ) -> tuple[dict[str, Attribute], tuple[Block, ...]]:
        """Read items, each on its own lines, up to the token `closer`, and step over that."""
        kinds = self.kinds
        attributes: dict[str, Attribute] = {}
        blocks: list[Block] = []
        while True:
            kind = kinds[self.index]
            if kind == t.NEWLINE:
                self.index += 1
            elif kind == t.IDENTIFIER:
                following = kinds[self.index + 1]
                if following == t.ASSIGN:
                    self._keep(attributes, self._attribute())
                    self._end_of_item(
                        "Missing newline after argument", "An argument definition must end with a newline."
                    )
                elif following in (t.BRACE_OPEN, t.STRING, t.QUOTE_OPEN, t.IDENTIFIER):
                    blocks.append(self._block())
                    self._end_of_item(
                        "Missing newline after block definition",
                        "A block definition must end with a newline.",
                    )
                else:
                    self._not_an_item()
            elif kind == closer:
                self.index += 1
                return attributes, tuple(blocks)
            else:
                self._unexpected(kind, open_index)

    def _attribute(self) -> Attribute:
        index = self.index
        start, name_end = self.starts[index], self.ends[index]
        self.index = index + 2
        expr = self.expression()
        return Attribute(start, expr.end, self.text[start:name_end], name_end, expr, self.source)

    def _keep(self, attributes: dict[str, Attribute], attribute: Attribute) -> None:
        earlier = attributes.get(attribute.name)
        if earlier is not None:
            raise syntax_error(
                self.source,
                attribute.start,
                attribute.name_end,
                "Attribute redefined",
                f'The argument "{attribute.name}" was already set at {earlier.name_range()}. Each argument '
                "may be set "
                "only once.",
            )
        attributes[attribute.name] = attribute

    def _block(self) -> Block:
        self.enter()
        index = self.index
        start, type_end = self.starts[index], self.ends[index]
        self.index = index + 1
        labels = []
        while (kind := self.kinds[self.index]) != t.BRACE_OPEN:
            labels.append(self._label(kind))
        open_index = self.index
        self.index += 1
        following = self.kinds[self.index]
        if following == t.NEWLINE:
            attributes, blocks = self._items(self.starts[open_index], t.BRACE_CLOSE, open_index)
        else:
            attributes, blocks = self._one_line(following, open_index), ()
        end = self.ends[self.index - 1]
        self.depth -= 1
        body = Body(self.starts[open_index], end, attributes, blocks, self.source)
        return Block(start, end, self.text[start:type_end], type_end, tuple(labels), body, self.source)

    def _label(self, kind: int) -> Label:
        start, end = self.starts[self.index], self.ends[self.index]
        if kind == t.IDENTIFIER:
            return Label(start, end, self.take_text())
        if kind == t.STRING:
            self.index += 1
            return Label(start, end, self.text[start + 1 : end - 1])
        if kind == t.QUOTE_OPEN:
            return self._escaped_label(start)
        self.fail(
            "Invalid block definition",
            'A block definition must have block content delimited by "{" and "}", starting on the same '
            "line as the "
            "block header.",
        )

    def _escaped_label(self, start: int) -> Label:
        literal = self.index + 1
        if self.kinds[literal] != t.LITERAL or self.kinds[literal + 1] != t.QUOTE_CLOSE:
            self.fail(
                "Invalid string literal",
                'Template sequences are not allowed in this string. To include a literal "$", double it '
                '(as "$$") '
                "to escape it.",
                at=literal,
            )
        self.index = literal + 2
        text = unescape(self.source, self.starts[literal], self.ends[literal])
        return Label(start, self.ends[literal + 1], text)

    def _one_line(self, kind: int, open_index: int) -> dict[str, Attribute]:
        """Read the rest of `{ }` or `{ name = value }`."""
        summary = "Invalid single-argument block definition"
        attributes: dict[str, Attribute] = {}
        if kind == t.IDENTIFIER:
            if self.kinds[self.index + 1] != t.ASSIGN:
                self.fail(
                    summary,
                    "A single-line block definition can contain only a single argument. If you want to "
                    "define multiple arguments or a nested block, put a newline after the opening brace.",
                )
            self._keep(attributes, self._attribute())
            kind = self.kinds[self.index]
        if kind == t.EOF:
            self._unexpected(kind, open_index)
        if kind != t.BRACE_CLOSE:
            self.fail(
                summary,
                "A single-line block definition must end with a closing brace immediately after its single "
                "argument definition.",
            )
        self.index += 1
        return attributes

    def _end_of_item(self, summary: str, detail: str) -> None:
        kind = self.kinds[self.index]
        if kind == t.NEWLINE:
            self.index += 1
        elif kind != t.EOF:
            self.fail(summary, detail)

    def _not_an_item(self) -> NoReturn:
        self.fail(
            "Argument or block definition required",
            'An argument or block definition is required here. To set an argument, use the equals sign "=" '
            "to "
            "introduce the argument value.",
        )

    def _unexpected(self, kind: int, open_index: int | None) -> NoReturn:
        if kind == t.EOF:
            self.fail(
                "Unclosed configuration block",
                "There is no closing brace for this block before the end of the file. This may be caused "
                "by incorrect brace nesting elsewhere in this file.",
                at=open_index,
            )
        if kind in (t.STRING, t.QUOTE_OPEN):
            self.fail("Invalid argument name", "Argument names must not be quoted.")
        self.fail(
            "Argument or block definition required", "An argument or block definition is required here."
        )

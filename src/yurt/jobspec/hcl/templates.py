"""The parser of templates: quoted strings and heredocs with `${…}` and `%{…}` in them."""

import re
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from yurt.jobspec.hcl import lexer as t
from yurt.jobspec.hcl.diagnostics import syntax_error
from yurt.jobspec.hcl.source import Source
from yurt.jobspec.hcl.syntax import (
    Expression,
    ForPart,
    IfPart,
    InterpolationPart,
    LiteralPart,
    Template,
    TemplatePart,
    TemplateWrap,
    Text,
)

if TYPE_CHECKING:
    from yurt.jobspec.hcl.expressions import ExpressionParser

_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[\s\S])|\$\$\{|%%\{")
_SIMPLE_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\"}
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_BLANKS: Final = " \t"
_CODE_POINT_MAX: Final = 0x10FFFF
_SURROGATES: Final = range(0xD800, 0xE000)


class _Directive(msgspec.Struct, frozen=True):
    """A `%{…}` met while reading, before it is matched with its end."""

    start: int
    end: int
    word: str  # if, else, endif, for, endfor
    names: tuple[str | None, str] = (None, "")
    expr: Expression | None = None


_Flat: TypeAlias = LiteralPart | InterpolationPart | _Directive


def parse_quoted(parser: "ExpressionParser") -> Text | Template | TemplateWrap:
    """Read a quoted string from its opening quote on."""
    start = parser.starts[parser.index]
    parts = _flat_parts(parser, t.QUOTE_CLOSE, is_heredoc=False)
    return _finished(parser, parts, start, parser.ends[parser.index - 1])


def parse_heredoc(parser: "ExpressionParser") -> Text | Template | TemplateWrap:
    """Read a heredoc from its `<<` on."""
    index = parser.index
    start = parser.starts[index]
    is_flush = parser.text[start + 2] == "-"
    parts = _flat_parts(parser, t.HEREDOC_CLOSE, is_heredoc=True)
    if is_flush:
        parts = _without_indent(parts)
    return _finished(parser, parts, start, parser.ends[parser.index - 1], is_heredoc=True)


def parse_bare_template(parser: "ExpressionParser") -> Text | Template | TemplateWrap:
    """Read a template that fills its whole text without marks around it (see `lex`)."""
    start = parser.starts[parser.index]
    parts = _flat_parts(parser, t.HEREDOC_CLOSE, is_heredoc=True)
    return _finished(parser, parts, start, parser.ends[parser.index - 1])


def unescape(source: Source, start: int, end: int) -> str:
    """The text that the inside of a quoted string stands for."""
    raw = source.text[start:end]
    if "\\" not in raw and "{" not in raw:
        return raw

    def replaced(match: re.Match[str]) -> str:
        selector = match[1]
        if selector is None:
            return match[0][1:]  # `$${` and `%%{`
        if selector in _SIMPLE_ESCAPES:
            return _SIMPLE_ESCAPES[selector]
        at = start + match.start()
        if len(selector) > 1 and (code := int(selector[1:], 16)) <= _CODE_POINT_MAX:
            return "\ufffd" if code in _SURROGATES else chr(code)
        detail = f'The symbol "{selector}" is not a valid escape sequence selector.'
        if selector[0] in "uU":
            detail = "The escape \\u takes four hexadecimal digits, \\U eight that name a character."
        raise syntax_error(source, at, at + len(match[0]), "Invalid escape sequence", detail)

    return _ESCAPE.sub(replaced, raw)


def _flat_parts(parser: "ExpressionParser", closer: int, *, is_heredoc: bool) -> list[_Flat]:
    """The parts in order, directives not yet matched up, `~` marks already carried out."""
    outer = parser.skips_newlines
    parser.index += 1
    parser.skips_newlines = True
    parts: list[_Flat] = []
    strip_next = False
    while (kind := parser.kinds[parser.index]) != closer:
        index = parser.index
        start, end = parser.starts[index], parser.ends[index]
        if kind == t.LITERAL:
            parser.index += 1
            text = _cooked(parser, start, end, is_heredoc=is_heredoc)
            parts.append(LiteralPart(start, end, text.lstrip() if strip_next else text))
            strip_next = False
            continue
        strips_before = parser.text[end - 1] == "~"
        if strips_before and parts and isinstance(before := parts[-1], LiteralPart):
            parts[-1] = LiteralPart(before.start, before.end, before.text.rstrip())
        parser.index += 1
        directive = None if kind == t.INTERPOLATION_OPEN else _directive(parser, start)
        expr = parser.expression() if directive is None else None
        if parser.peek() != t.SEQUENCE_CLOSE:
            parser.fail(
                "Extra characters after template expression",
                "Expected a closing brace to end the template sequence, but found extra characters.",
            )
        close_start, close_end = parser.starts[parser.index], parser.ends[parser.index]
        parser.index += 1
        strip_next = close_end - close_start == len("~}")
        if directive is not None:
            parts.append(msgspec.structs.replace(directive, end=close_end))
        else:
            assert expr is not None
            parts.append(InterpolationPart(start, close_end, expr, strips_before or strip_next))
    parser.index += 1
    parser.skips_newlines = outer
    return parts


def _cooked(parser: "ExpressionParser", start: int, end: int, *, is_heredoc: bool) -> str:
    if is_heredoc:
        raw = parser.text[start:end]
        return raw.replace("$${", "${").replace("%%{", "%{") if "{" in raw else raw
    return unescape(parser.source, start, end)


def _directive(parser: "ExpressionParser", start: int) -> _Directive:
    if parser.peek() != t.IDENTIFIER:
        parser.fail("Invalid template directive", "A template directive keyword is required after %{.")
    word_index = parser.index
    word = parser.take_text()
    match word:
        case "if":
            return _Directive(start, start, word, expr=parser.expression())
        case "for":
            names = parser.for_names("Invalid 'for' directive")
            return _Directive(start, start, word, names, parser.expression())
        case "else" | "endif" | "endfor":
            return _Directive(start, start, word)
        case _:
            parser.fail(
                "Invalid template directive",
                f'"{word}" is not a valid template directive keyword.',
                at=word_index,
            )


def _without_indent(parts: list[_Flat]) -> list[_Flat]:
    """Take from every line the blanks that all lines begin with.

    Lines of blanks only neither count nor change. What stands behind a sequence is not a line's start,
    even where the sequence's `~` has eaten the line break before it.
    """
    smallest: int | None = None
    at_line_start = True
    for part in parts:
        if not isinstance(part, LiteralPart):
            if at_line_start:
                smallest = 0
            at_line_start = False
            continue
        for line in _LINE.findall(part.text):
            if at_line_start and not _is_blank_line(line):
                indent = len(line) - len(line.lstrip(_BLANKS))
                smallest = indent if smallest is None else min(smallest, indent)
            at_line_start = line.endswith("\n")
    if not smallest:
        return parts
    return _dedented(parts, smallest)


def _dedented(parts: list[_Flat], indent: int) -> list[_Flat]:
    result: list[_Flat] = []
    at_line_start = True
    for part in parts:
        if not isinstance(part, LiteralPart):
            at_line_start = False
            result.append(part)
            continue
        lines = []
        for line in _LINE.findall(part.text):
            lines.append(line[indent:] if at_line_start and not _is_blank_line(line) else line)
            at_line_start = line.endswith("\n")
        result.append(LiteralPart(part.start, part.end, "".join(lines)))
    return result


def _is_blank_line(line: str) -> bool:
    return line.endswith("\n") and not line.strip(" \t\r\n")


def _finished(
    parser: "ExpressionParser", flat: list[_Flat], start: int, end: int, *, is_heredoc: bool = False
) -> Text | Template | TemplateWrap:
    if all(isinstance(part, LiteralPart) for part in flat):
        text = "".join(part.text for part in flat if isinstance(part, LiteralPart))
        inner = flat[0].start if flat else start + 1
        return Text(start, end, text, inner, flat[-1].end if flat else inner)
    if not is_heredoc and len(flat) == 1 and isinstance(flat[0], InterpolationPart):
        return TemplateWrap(start, end, flat[0])
    reader = _PartReader(parser, flat)
    parts = reader.parts(())
    return Template(start, end, tuple(parts), flat[0].start)


class _PartReader:
    """Matches directives with their ends."""

    def __init__(self, parser: "ExpressionParser", flat: list[_Flat]) -> None:
        self.parser = parser
        self.flat = flat
        self.index = 0

    def parts(self, ends: tuple[str, ...], opened: _Directive | None = None) -> list[TemplatePart]:
        """Read up to a directive named in `ends`, and leave that one unread; without `ends` read all."""
        parts: list[TemplatePart] = []
        while self.index < len(self.flat):
            part = self.flat[self.index]
            if not isinstance(part, _Directive):
                self.index += 1
                parts.append(part)
            elif part.word in ends:
                return parts
            elif part.word in ("if", "for"):
                self.parser.enter()
                parts.append(self._if(part) if part.word == "if" else self._for(part))
                self.parser.depth -= 1
            else:
                self._fail(
                    part,
                    "Unexpected template directive",
                    f"There is no sequence open that %{{ {part.word} }} fits.",
                )
        if opened is not None:
            self._fail(
                opened, "Unclosed template directive", f"Expected %{{ end{opened.word} }} before the end."
            )
        return parts

    def _if(self, directive: _Directive) -> IfPart:
        assert directive.expr is not None
        self.index += 1
        then = self.parts(("else", "endif"), directive)
        otherwise: list[TemplatePart] = []
        if self._word() == "else":
            self.index += 1
            otherwise = self.parts(("endif",), directive)
        self.index += 1
        return IfPart(
            directive.start, self.flat[self.index - 1].end, directive.expr, tuple(then), tuple(otherwise)
        )

    def _for(self, directive: _Directive) -> ForPart:
        assert directive.expr is not None
        self.index += 1
        body = self.parts(("endfor",), directive)
        self.index += 1
        key_name, value_name = directive.names
        end = self.flat[self.index - 1].end
        return ForPart(directive.start, end, key_name, value_name, directive.expr, tuple(body))

    def _word(self) -> str:
        part = self.flat[self.index]
        assert isinstance(part, _Directive)
        return part.word

    def _fail(self, part: _Directive, summary: str, detail: str) -> None:
        raise syntax_error(self.parser.source, part.start, part.end, summary, detail)

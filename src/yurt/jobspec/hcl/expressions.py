"""The parser of HCL2 expressions."""

from fractions import Fraction
from typing import Final, NoReturn

from yurt.jobspec.hcl import lexer as t
from yurt.jobspec.hcl.diagnostics import syntax_error, too_deep
from yurt.jobspec.hcl.limits import NESTING_DEPTH_MAX
from yurt.jobspec.hcl.numbers import NumberTooLarge, parse_number
from yurt.jobspec.hcl.source import Source
from yurt.jobspec.hcl.syntax import (
    Access,
    AttributeStep,
    Call,
    Conditional,
    Expression,
    ForExpr,
    IndexStep,
    KeyStep,
    Literal,
    ObjectExpr,
    ObjectItem,
    Operand,
    Operation,
    Parentheses,
    Reference,
    SplatStep,
    Step,
    Text,
    TupleExpr,
    Unary,
)
from yurt.jobspec.hcl.templates import parse_heredoc, parse_quoted

_LEVELS: Final = {
    t.OR: 1, t.AND: 2, t.EQUAL: 3, t.NOT_EQUAL: 3,
    t.LESS: 4, t.LESS_EQUAL: 4, t.GREATER: 4, t.GREATER_EQUAL: 4,
    t.PLUS: 5, t.MINUS: 5, t.STAR: 6, t.SLASH: 6, t.PERCENT: 6,
}  # fmt: skip
_KEYWORDS: Final = {"true": True, "false": False, "null": None}


class ExpressionParser:
    """Reads expressions from tokens, from the token at `index` on.

    `skips_newlines` tells whether line breaks mean nothing where the parser stands: so inside
    parentheses, brackets and template sequences.
    """

    def __init__(self, source: Source, *, is_template: bool = False) -> None:
        self.source = source
        self.text = source.text
        self.kinds, self.starts, self.ends = t.lex(source, is_template=is_template)
        self.index = 0
        self.depth = 0
        self.skips_newlines = False

    # Moving over tokens

    def peek(self) -> int:
        """The kind of the next token that matters here."""
        if self.skips_newlines:
            kinds, index = self.kinds, self.index
            while kinds[index] == t.NEWLINE:
                index += 1
            self.index = index
        return self.kinds[self.index]

    def take_text(self) -> str:
        index = self.index
        self.index = index + 1
        return self.text[self.starts[index] : self.ends[index]]

    def is_word(self, word: str) -> bool:
        """Whether the next token is the identifier `word`."""
        return (
            self.peek() == t.IDENTIFIER
            and self.text.startswith(word, self.starts[self.index])
            and (self.ends[self.index] - self.starts[self.index] == len(word))
        )

    def expect(self, kind: int, summary: str, detail: str) -> int:
        """Step over a token of `kind`; the answer is its end."""
        if self.peek() != kind:
            self.fail(summary, detail)
        self.index += 1
        return self.ends[self.index - 1]

    def fail(self, summary: str, detail: str, *, at: int | None = None) -> NoReturn:
        """Stop at the token number `at`, by default the next one."""
        index = self.index if at is None else at
        raise syntax_error(self.source, self.starts[index], self.ends[index], summary, detail)

    def enter(self) -> None:
        self.depth += 1
        if self.depth > NESTING_DEPTH_MAX:
            raise too_deep(self.source, self.starts[self.index])

    # Expressions, loosest binding first

    def expression(self) -> Expression:
        """Read one expression; the parser then stands behind it."""
        self.enter()
        expr = self._term()
        kind = self.peek()
        if kind in _LEVELS:
            expr = self._operations(expr, 1)
            kind = self.peek()
        if kind == t.QUESTION:
            expr = self._conditional(expr)
        self.depth -= 1
        return expr

    def _conditional(self, condition: Expression) -> Conditional:
        self.index += 1
        then = self.expression()
        self.expect(
            t.COLON,
            "Missing false expression in conditional",
            "The conditional operator (...?...:...) requires a false expression, delimited by a colon.",
        )
        otherwise = self.expression()
        return Conditional(condition.start, otherwise.end, condition, then, otherwise)

    def _operations(self, left: Expression, level_min: int) -> Expression:
        """Join `left` with the operators behind it that bind at least as tightly as `level_min`."""
        while (level := _LEVELS.get(self.peek(), 0)) >= level_min:
            rest = []
            while _LEVELS.get(operator := self.peek(), 0) == level:
                self.index += 1
                operand = self._term()
                if _LEVELS.get(self.peek(), 0) > level:
                    operand = self._operations(operand, level + 1)
                rest.append(Operand(operator, operand))
            left = Operation(left.start, rest[-1].expr.end, left, tuple(rest))
        return left

    def _term(self) -> Expression:
        kind = self.peek()
        if kind in (t.MINUS, t.NOT):
            self.enter()
            start = self.starts[self.index]
            self.index += 1
            operand = self._term()
            self.depth -= 1
            return Unary(start, operand.end, kind, operand)
        expr = self._primary(kind)
        kind = self.peek()
        if kind in (t.DOT, t.BRACKET_OPEN):
            steps = self._steps(only_attributes=False)
            return Access(expr.start, steps[-1].end, expr, steps)
        return expr

    def _primary(self, kind: int) -> Expression:
        index = self.index
        start, end = self.starts[index], self.ends[index]
        if kind == t.STRING:
            self.index = index + 1
            return Text(start, end, self.text[start + 1 : end - 1], start + 1, end - 1)
        if kind == t.IDENTIFIER:
            return self._named()
        if kind == t.NUMBER:
            self.index = index + 1
            return Literal(start, end, self._number(index))
        if kind == t.QUOTE_OPEN:
            return parse_quoted(self)
        if kind == t.BRACKET_OPEN:
            return self._tuple()
        if kind == t.BRACE_OPEN:
            return self._object()
        if kind == t.HEREDOC_OPEN:
            return parse_heredoc(self)
        if kind == t.PAREN_OPEN:
            return self._parentheses()
        if kind == t.EOF:
            self.fail(
                "Missing expression", "Expected the start of an expression, but found the end of the file."
            )
        self.fail(
            "Invalid expression",
            "Expected the start of an expression, but found an invalid expression token.",
        )

    def _number(self, index: int) -> int | Fraction:
        try:
            number = parse_number(self.text[self.starts[index] : self.ends[index]])
        except NumberTooLarge as error:
            self.fail("Invalid number", f"This number cannot be used: {error}.", at=index)
        assert not isinstance(number, float)
        return number

    def _parentheses(self) -> Parentheses:
        start, outer = self.starts[self.index], self.skips_newlines
        self.index += 1
        self.skips_newlines = True
        expr = self.expression()
        end = self.expect(
            t.PAREN_CLOSE,
            "Unbalanced parentheses",
            "Expected a closing parenthesis to terminate the expression.",
        )
        self.skips_newlines = outer
        return Parentheses(start, end, expr)

    # Names: keywords, calls, references

    def _named(self) -> Expression:
        index = self.index
        start, end = self.starts[index], self.ends[index]
        name = self.take_text()
        following = self.peek()
        if following == t.PAREN_OPEN:
            return self._call(name, start, end)
        if name in _KEYWORDS:
            return Literal(start, end, _KEYWORDS[name])
        if following not in (t.DOT, t.BRACKET_OPEN):
            return Reference(start, end, name, end, ())
        steps = self._steps(only_attributes=False)
        constant: list[AttributeStep | KeyStep] = []
        for step in steps:
            if not isinstance(step, AttributeStep | KeyStep):
                break
            constant.append(step)
        reference = Reference(start, constant[-1].end if constant else end, name, end, tuple(constant))
        rest = steps[len(constant) :]
        return Access(start, steps[-1].end, reference, rest) if rest else reference

    def _call(self, name: str, start: int, name_end: int) -> Call:
        outer = self.skips_newlines
        open_index = self.index
        self.index += 1
        self.skips_newlines = True
        arguments: list[Expression] = []
        is_spread = False
        while self.peek() != t.PAREN_CLOSE:
            arguments.append(self.expression())
            kind = self.peek()
            if kind == t.COMMA:
                self.index += 1
            elif kind == t.ELLIPSIS:
                self._spread_end()
                is_spread = True
            elif kind == t.EOF:
                self.fail(
                    "Unterminated function call",
                    "There is no closing parenthesis for this function call before the end of the file. "
                    "This may be caused by incorrect parenthesis nesting elsewhere in this file.",
                    at=open_index,
                )
            elif kind != t.PAREN_CLOSE:
                self.fail(
                    "Missing argument separator",
                    "A comma is required to separate each function argument from the next.",
                )
        self.index += 1
        self.skips_newlines = outer
        return Call(
            start,
            self.ends[self.index - 1],
            name,
            name_end,
            self.ends[open_index],
            tuple(arguments),
            is_spread,
        )

    def _spread_end(self) -> None:
        ellipsis = self.index
        self.index += 1
        if self.peek() == t.COMMA and self.kinds[self.index + 1] == t.PAREN_CLOSE:
            self.index += 1
        if self.peek() != t.PAREN_CLOSE:
            self.fail(
                "Missing closing parenthesis",
                "An expanded function argument (with ...) must be immediately followed by closing "
                "parentheses.",
                at=ellipsis,
            )

    # Steps into values

    def _steps(self, *, only_attributes: bool) -> tuple[Step, ...]:
        steps: list[Step] = []
        while True:
            kind = self.peek()
            if kind == t.DOT:
                self._dotted(steps, only_attributes=only_attributes)
            elif kind == t.BRACKET_OPEN and not only_attributes:
                steps.append(self._bracketed())
            else:
                return tuple(steps)

    def _dotted(self, steps: list[Step], *, only_attributes: bool) -> None:
        start = self.starts[self.index]
        self.index += 1
        kind = self.peek()
        end = self.ends[self.index]
        if kind == t.IDENTIFIER:
            steps.append(AttributeStep(start, end, self.take_text()))
        elif kind == t.NUMBER:
            for part in self.take_text().split("."):  # `a.0.1` reads as one number after the dot
                if not part.isdigit():
                    self.fail("Invalid legacy index syntax", "An index after a dot must be a whole number.")
                steps.append(KeyStep(start, end, int(part)))
        elif kind == t.STAR and not only_attributes:
            self.index += 1
            self.enter()
            each = self._steps(only_attributes=True)
            self.depth -= 1
            steps.append(SplatStep(start, each[-1].end if each else end, end, each))
        else:
            self.fail("Invalid attribute name", "An attribute name is required after a dot.")

    def _bracketed(self) -> Step:
        start, outer = self.starts[self.index], self.skips_newlines
        self.index += 1
        self.skips_newlines = True
        if self.peek() == t.STAR:
            self.index += 1
            end = self._close_bracket(outer)
            self.enter()
            each = self._steps(only_attributes=False)
            self.depth -= 1
            return SplatStep(start, each[-1].end if each else end, end, each)
        key = self.expression()
        end = self._close_bracket(outer)
        if isinstance(key, Text):
            return KeyStep(start, end, key.value)
        if (
            isinstance(key, Literal)
            and isinstance(key.value, int | Fraction)
            and not isinstance(key.value, bool)
        ):
            return KeyStep(start, end, key.value)
        return IndexStep(start, end, key)

    def _close_bracket(self, skips_newlines: bool) -> int:
        end = self.expect(
            t.BRACKET_CLOSE,
            "Missing close bracket on index",
            'The index operator must end with a closing bracket ("]").',
        )
        self.skips_newlines = skips_newlines
        return end

    # Collections

    def _tuple(self) -> TupleExpr | ForExpr:
        open_index, outer = self.index, self.skips_newlines
        self.index += 1
        self.skips_newlines = True
        if self.is_word("for"):
            return self._for(open_index, outer, t.BRACKET_CLOSE)
        items: list[Expression] = []
        while self.peek() != t.BRACKET_CLOSE:
            items.append(self.expression())
            kind = self.peek()
            if kind == t.COMMA:
                self.index += 1
            elif kind == t.EOF:
                self._unterminated(open_index, "Unterminated tuple constructor expression", "bracket")
            elif kind != t.BRACKET_CLOSE:
                self.fail(
                    "Missing item separator", "Expected a comma to mark the beginning of the next item."
                )
        self.index += 1
        self.skips_newlines = outer
        return TupleExpr(self.starts[open_index], self.ends[self.index - 1], tuple(items))

    def _object(self) -> ObjectExpr | ForExpr:
        open_index, outer = self.index, self.skips_newlines
        self.index += 1
        self.skips_newlines = True
        if self.is_word("for") and self.kinds[self.index + 1] not in (t.ASSIGN, t.COLON):
            return self._for(open_index, outer, t.BRACE_CLOSE)
        self.skips_newlines = False
        items: list[ObjectItem] = []
        kinds = self.kinds
        while True:
            while kinds[self.index] == t.NEWLINE:
                self.index += 1
            if kinds[self.index] == t.BRACE_CLOSE:
                break
            items.append(self._object_item(open_index))
            kind = kinds[self.index]
            if kind in (t.COMMA, t.NEWLINE):
                self.index += 1
            elif kind == t.EOF:
                self._unterminated(open_index, "Unterminated object constructor expression", "brace")
            elif kind != t.BRACE_CLOSE:
                self.fail(
                    "Missing attribute separator",
                    "Expected a newline or comma to mark the beginning of the next attribute.",
                )
        self.index += 1
        self.skips_newlines = outer
        return ObjectExpr(self.starts[open_index], self.ends[self.index - 1], tuple(items))

    def _object_item(self, open_index: int) -> ObjectItem:
        index = self.index
        if self.kinds[index] == t.EOF:
            self._unterminated(open_index, "Unterminated object constructor expression", "brace")
        key: Expression
        if self.kinds[index] == t.IDENTIFIER and self.kinds[index + 1] in (t.ASSIGN, t.COLON):
            start, end = self.starts[index], self.ends[index]
            key = Text(start, end, self.take_text(), start, end)
        else:
            key = self.expression()
            if isinstance(key, Reference):
                self._ambiguous_key(key)
        if self.kinds[self.index] not in (t.ASSIGN, t.COLON):
            self.fail(
                "Missing attribute value", 'Expected an attribute value, introduced by an equals sign ("=").'
            )
        self.index += 1
        return ObjectItem(key, self.expression())

    def _ambiguous_key(self, key: Reference) -> None:
        if not key.steps:
            return  # `{ name }`: the missing value is what to report
        raise syntax_error(
            self.source,
            key.start,
            key.end,
            "Ambiguous attribute key",
            "If this expression is intended to be a reference, wrap it in parentheses. If it's instead "
            "intended as a literal name containing periods, wrap it in quotes to create a string literal.",
        )

    def _for(self, open_index: int, outer: bool, closer: int) -> ForExpr:
        summary = "Invalid 'for' expression"
        self.index += 1
        key_name, value_name = self.for_names(summary)
        collection = self.expression()
        self.expect(t.COLON, summary, "For expression requires a colon after the collection expression.")
        key, value, groups = None, self.expression(), False
        if self.peek() == t.ARROW:
            if closer == t.BRACKET_CLOSE:
                self.fail(summary, "Key expression is not valid when building a tuple.")
            self.index += 1
            key, value = value, self.expression()
            if self.peek() == t.ELLIPSIS:
                self.index += 1
                groups = True
        elif closer == t.BRACE_CLOSE:
            self.fail(summary, "Key expression is required when building an object.")
        condition = None
        if self.is_word("if"):
            self.index += 1
            condition = self.expression()
        mark = "bracket" if closer == t.BRACKET_CLOSE else "brace"
        end = self.expect(
            closer, summary, f"Extra characters after the end of the 'for' expression, or no {mark}."
        )
        self.skips_newlines = outer
        return ForExpr(
            self.starts[open_index], end, key_name, value_name, collection, key, value, condition, groups
        )

    def for_names(self, summary: str) -> tuple[str | None, str]:
        """Read `v in` or `k, v in`, the start of every loop."""
        names = []
        for _ in range(2):
            if self.peek() != t.IDENTIFIER:
                self.fail(summary, "For expression requires a variable name after 'for' and after a comma.")
            names.append(self.take_text())
            if self.peek() != t.COMMA:
                break
            self.index += 1
        if not self.is_word("in"):
            self.fail(summary, "For expression requires the 'in' keyword after its name declarations.")
        self.index += 1
        return (None, names[0]) if len(names) == 1 else (names[0], names[1])

    def _unterminated(self, open_index: int, summary: str, mark: str) -> NoReturn:
        self.fail(
            summary,
            f"There is no corresponding closing {mark} before the end of the file. This may be caused by "
            f"incorrect {mark} nesting elsewhere in this file.",
            at=open_index,
        )

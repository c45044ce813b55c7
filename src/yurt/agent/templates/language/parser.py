"""Read a template into its parts."""

from __future__ import annotations

from collections.abc import Collection
from typing import NoReturn

import msgspec

from yurt.agent.templates.language import literals, nodes
from yurt.agent.templates.language.errors import ParseFailed
from yurt.agent.templates.language.tokens import Delimiters, Kind, Token, line_of, tokens_of
from yurt.model.go_text import quoted

NESTING_MAX = 60

_KEYWORDS = frozenset(
    ("block", "break", "continue", "define", "else", "end", "if", "nil", "range", "template", "with")
)
_SHOWN_CHARS = 10


class ParsedTemplate(msgspec.Struct, frozen=True):
    """A template that was read: its own body, and those of the templates that it defines."""

    name: str
    source: str
    body: nodes.Body
    defined: dict[str, nodes.Body]


def parse_template(
    source: str, *, functions: Collection[str], name: str = "", delimiters: Delimiters | None = None
) -> ParsedTemplate:
    """Read a template that may call `functions`. Raises ParseFailed."""
    parser = _Parser(name, source, functions, delimiters or Delimiters())
    body = parser.whole()
    return ParsedTemplate(name, source, body, parser.defined)


class _End(msgspec.Struct, frozen=True):
    """What closed a body: `end` or `else`; after an `else` comes what continues it."""

    word: str
    at: int


class _Parser:
    """Reads one template from left to right."""

    def __init__(self, name: str, source: str, functions: Collection[str], delimiters: Delimiters) -> None:
        self._name = name
        self._source = source
        self._functions = functions
        self._tokens = tokens_of(name, source, delimiters)
        self._ahead: list[Token] = []
        self._variables = ["$"]
        self._range_depth = 0
        self._depth = 0
        self.defined: dict[str, nodes.Body] = {}

    # --- tokens ---------------------------------------------------------------------------------------

    def _next(self) -> Token:
        return self._ahead.pop() if self._ahead else next(self._tokens)

    def _back(self, token: Token) -> None:
        self._ahead.append(token)

    def _peek(self) -> Token:
        token = self._next()
        self._back(token)
        return token

    def _next_non_space(self) -> Token:
        token = self._next()
        while token.kind is Kind.SPACE:
            token = self._next()
        return token

    def _peek_non_space(self) -> Token:
        token = self._next_non_space()
        self._back(token)
        return token

    def _fail(self, at: int, problem: str) -> NoReturn:
        raise ParseFailed(self._name, line_of(self._source, at), problem)

    def _unexpected(self, token: Token, context: str) -> NoReturn:
        self._fail(token.at, f"unexpected {_shown(token)} in {context}")

    # --- bodies ---------------------------------------------------------------------------------------

    def whole(self) -> nodes.Body:
        """Read up to the end of the source."""
        body, end = self._body(top=True)
        assert end is None
        return body

    def _body(self, *, top: bool = False) -> tuple[nodes.Body, _End | None]:
        """Read statements up to an `end` or `else`, or to the end of the source at the `top`."""
        self._depth += 1
        if self._depth > NESTING_MAX:
            self._fail(self._peek().at, f"actions are nested more than {NESTING_MAX} deep")
        found: list[nodes.Statement] = []
        while True:
            token = self._next()
            if token.kind is Kind.END:
                if not top:
                    self._fail(token.at, "unexpected EOF")
                break
            if token.kind is Kind.TEXT:
                found.append(nodes.Text(token.at, token.text))
                continue
            statement = self._statement()
            if isinstance(statement, _End):
                if top:
                    self._fail(statement.at, f"unexpected {{{{{statement.word}}}}}")
                self._depth -= 1
                return tuple(found), statement
            if statement is not None:
                found.append(statement)
        self._depth -= 1
        return tuple(found), None

    def _statement(self) -> nodes.Statement | _End | None:
        token = self._next_non_space()
        if token.kind is Kind.WORD and token.text in _KEYWORDS - {"nil"}:
            return self._keyword(token)
        self._back(token)
        pipe = self._pipe("command", Kind.CLOSE)
        return nodes.Action(token.at, pipe)

    def _keyword(self, token: Token) -> nodes.Statement | _End | None:
        match token.text:
            case "end":
                self._close("end")
                return _End("end", token.at)
            case "else":
                following = self._peek_non_space()
                if not (following.kind is Kind.WORD and following.text in ("if", "with")):
                    self._close("else")
                return _End("else", token.at)
            case "if" | "with" | "range":
                return self._control(token)
            case "break" | "continue":
                self._close(token.text)
                if not self._range_depth:
                    self._fail(token.at, f"{{{{{token.text}}}}} outside {{{{range}}}}")
                return nodes.Break(token.at) if token.text == "break" else nodes.Continue(token.at)
            case "template":
                return self._call(token)
            case "define":
                self._definition(token)
                return None
            case _:
                return self._block(token)

    def _close(self, context: str) -> None:
        token = self._next_non_space()
        if token.kind is not Kind.CLOSE:
            self._unexpected(token, context)

    def _control(self, token: Token) -> nodes.Statement:
        """Read the rest of an `if`, `with` or `range`, variables of which end with it."""
        known = len(self._variables)
        word = token.text
        pipe = self._pipe(word, Kind.CLOSE)
        self._range_depth += word == "range"
        body, end = self._body()
        self._range_depth -= word == "range"
        otherwise: nodes.Body = ()
        assert end is not None
        if end.word == "else":
            following = self._peek_non_space()
            if following.kind is Kind.WORD and following.text in ("if", "with"):
                if following.text != word:
                    self._unexpected(following, "else")
                self._next_non_space()
                otherwise = (self._control(following),)
            else:
                otherwise, end = self._body()
                assert end is not None
                if end.word == "else":
                    self._fail(end.at, "expected end; found {{else}}")
        del self._variables[known:]
        match word:
            case "if":
                return nodes.If(token.at, pipe, body, otherwise)
            case "with":
                return nodes.With(token.at, pipe, body, otherwise)
            case _:
                return nodes.Range(token.at, pipe, body, otherwise)

    def _call(self, token: Token) -> nodes.Call:
        name = self._template_name("template clause")
        pipe = None
        if self._peek_non_space().kind is Kind.CLOSE:
            self._next_non_space()
        else:
            pipe = self._pipe("template clause", Kind.CLOSE)
        return nodes.Call(token.at, name, pipe)

    def _definition(self, token: Token) -> None:
        if self._depth > 1:
            self._unexpected(token, "command")
        name = self._template_name("define clause")
        self._close("define clause")
        self.defined[name] = self._separate_body()

    def _block(self, token: Token) -> nodes.Call:
        name = self._template_name("block clause")
        pipe = self._pipe("block clause", Kind.CLOSE)
        self.defined[name] = self._separate_body()
        return nodes.Call(token.at, name, pipe)

    def _separate_body(self) -> nodes.Body:
        """Read a body that sees no variables but its own."""
        variables, self._variables = self._variables, ["$"]
        ranges, self._range_depth = self._range_depth, 0
        body, end = self._body()
        self._variables, self._range_depth = variables, ranges
        assert end is not None
        if end.word != "end":
            self._fail(end.at, "unexpected {{else}} in define clause")
        return body

    def _template_name(self, context: str) -> str:
        token = self._next_non_space()
        match token.kind:
            case Kind.STRING:
                return self._text(token)
            case Kind.RAW_STRING:
                return token.text[1:-1]
        self._unexpected(token, context)

    # --- pipelines ------------------------------------------------------------------------------------

    def _pipe(self, context: str, end: Kind) -> nodes.Pipe:
        self._depth += 1
        if self._depth > NESTING_MAX:
            self._fail(self._peek().at, f"actions are nested more than {NESTING_MAX} deep")
        at = self._peek_non_space().at
        targets, declares = self._targets(context)
        commands: list[nodes.Command] = []
        while True:
            token = self._next_non_space()
            if token.kind is end:
                break
            self._back(token)
            commands.append(self._command())
            if self._after_command(end):
                break
        self._depth -= 1
        if not commands:
            self._fail(at, f"missing value for {context}")
        for number, command in enumerate(commands[1:], start=2):
            if not isinstance(command.args[0], nodes.Field | nodes.Identifier | nodes.Chain | nodes.Variable):
                self._fail(command.at, f"non executable command in pipeline stage {number}")
        return nodes.Pipe(at, tuple(commands), targets, declares)

    def _after_command(self, end: Kind) -> bool:
        """Step over what follows a command; True at the end of the pipeline."""
        token = self._next_non_space()
        if token.kind is end:
            return True
        if token.kind is not Kind.PIPE:
            self._unexpected(token, "command")
        if self._peek_non_space().kind in (end, Kind.PIPE):
            self._fail(token.at, "missing value for command")
        return False

    def _targets(self, context: str) -> tuple[tuple[str, ...], bool]:
        """Read `$x :=`, `$x =` or `$i, $x :=` at the start of a pipeline."""
        first = self._peek_non_space()
        if first.kind is not Kind.VARIABLE:
            return (), False
        self._next_non_space()
        after = self._peek_non_space()
        names = [first.text]
        if after.kind is Kind.COMMA and context == "range":
            self._next_non_space()
            second = self._next_non_space()
            if second.kind is not Kind.VARIABLE:
                self._unexpected(second, "range")
            names.append(second.text)
            after = self._peek_non_space()
            if after.kind is not Kind.DECLARE and after.kind is not Kind.ASSIGN:
                self._unexpected(after, "range")
        if after.kind is Kind.DECLARE:
            self._next_non_space()
            self._variables += names
            return tuple(names), True
        if after.kind is Kind.ASSIGN:
            self._next_non_space()
            for name in names:
                self._check_variable(name, first.at)
            return tuple(names), False
        if after.kind is Kind.COMMA:
            self._fail(after.at, f"too many declarations in {context}")
        self._back_over(first)
        return (), False

    def _back_over(self, token: Token) -> None:
        """Put a token back that was read before those that are ahead, so that a space stays between."""
        following = self._next()
        self._back(following)
        gap = following.at > token.at + len(token.text)
        if gap:
            self._back(Token(Kind.SPACE, " ", token.at + len(token.text)))
        self._back(token)

    def _command(self) -> nodes.Command:
        at = self._peek_non_space().at
        args: list[nodes.Operand] = []
        while True:
            token = self._peek_non_space()
            if token.kind in (Kind.CLOSE, Kind.CLOSE_PAREN, Kind.PIPE):
                break
            operand = self._operand()
            args.append(operand)
            token = self._next()
            if token.kind is Kind.SPACE:
                continue
            self._back(token)
            if token.kind not in (Kind.CLOSE, Kind.CLOSE_PAREN, Kind.PIPE):
                self._unexpected(token, "operand")
        if not args:
            self._fail(at, "empty command")
        return nodes.Command(at, tuple(args))

    def _operand(self) -> nodes.Operand:
        token = self._next_non_space()
        term = self._term(token)
        names = self._field_names()
        if not names:
            return term
        match term:
            case nodes.Field():
                return nodes.Field(term.at, (*term.names, *names))
            case nodes.Variable():
                return nodes.Variable(term.at, term.name, (*term.fields, *names))
            case nodes.Dot():
                self._fail(token.at, "unexpected . after term")
            case nodes.Constant() | nodes.Nil():
                self._fail(token.at, f"unexpected . after term {quoted(nodes.written(term))}")
        return nodes.Chain(term.at, term, names)

    def _field_names(self) -> tuple[str, ...]:
        names = []
        token = self._next()
        while token.kind is Kind.FIELD:
            names.append(token.text[1:])
            token = self._next()
        self._back(token)
        return tuple(names)

    def _term(self, token: Token) -> nodes.Operand:
        match token.kind:
            case Kind.WORD:
                return self._word(token)
            case Kind.DOT:
                return nodes.Dot(token.at)
            case Kind.VARIABLE:
                self._check_variable(token.text, token.at)
                return nodes.Variable(token.at, token.text)
            case Kind.FIELD:
                return nodes.Field(token.at, (token.text[1:],))
            case Kind.OPEN_PAREN:
                return self._pipe("parenthesized pipeline", Kind.CLOSE_PAREN)
            case Kind.STRING:
                return nodes.Constant(token.at, self._text(token), token.text)
            case Kind.RAW_STRING:
                return nodes.Constant(token.at, token.text[1:-1], token.text)
            case Kind.CHARACTER | Kind.NUMBER:
                return self._number(token)
        self._unexpected(token, "operand")

    def _word(self, token: Token) -> nodes.Operand:
        match token.text:
            case "true" | "false":
                return nodes.Constant(token.at, token.text == "true", token.text)
            case "nil":
                return nodes.Nil(token.at)
        if token.text in _KEYWORDS:
            self._unexpected(token, "operand")
        if token.text not in self._functions:
            self._fail(token.at, f"function {quoted(token.text)} not defined")
        return nodes.Identifier(token.at, token.text)

    def _text(self, token: Token) -> str:
        try:
            return literals.unquoted(token.text)
        except ValueError as error:
            self._fail(token.at, str(error))

    def _number(self, token: Token) -> nodes.Constant:
        read = literals.character if token.kind is Kind.CHARACTER else literals.number
        try:
            return nodes.Constant(token.at, read(token.text), token.text)
        except ValueError:
            self._fail(token.at, f"bad number syntax: {quoted(token.text)}")

    def _check_variable(self, name: str, at: int) -> None:
        if name not in self._variables:
            self._fail(at, f"undefined variable {quoted(name)}")


def _shown(token: Token) -> str:
    if token.kind is Kind.END:
        return "EOF"
    if token.kind is Kind.WORD and token.text in _KEYWORDS:
        return f"<{token.text}>"
    text = quoted(token.text[:_SHOWN_CHARS])
    return f"{text}..." if len(token.text) > _SHOWN_CHARS else text

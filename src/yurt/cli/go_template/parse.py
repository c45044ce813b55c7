"""From template text to its parts."""

import re
from typing import NamedTuple

from yurt.cli.go_template.functions import FUNCTIONS
from yurt.cli.go_template.nodes import (
    Action,
    Branch,
    Call,
    Field,
    Jump,
    Literal,
    Node,
    Operand,
    Pipeline,
    TemplateError,
    Text,
    Variable,
)

_ACTION = re.compile(
    r"\{\{(?:(-)\s)?\s*(/\*.*?\*/|(?:\"(?:\\.|[^\"\\])*\"|`[^`]*`|[^}]|\}(?!\}))*?)\s*(?:\s(-))?\}\}",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<string>"(?:\\.|[^"\\])*"|`[^`]*`)
    | (?P<char>'(?:\\.|[^'\\])')
    | (?P<number>[-+]?(?:0[xX][0-9a-fA-F]+|\d+\.?\d*(?:[eE][-+]?\d+)?))
    | (?P<field>(?:\.[A-Za-z_]\w*)+)
    | (?P<dot>\.)
    | (?P<variable>\$\w*(?:\.[A-Za-z_]\w*)*)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<symbol>:=|[|=(),])
    )""",
    re.VERBOSE,
)
_CONSTANTS: dict[str, object] = {"true": True, "false": False, "nil": None}
DEPTH_MAX = 100


class Token(NamedTuple):
    """A piece of an action."""

    kind: str
    text: str


def parse(template: str) -> tuple[Node, ...]:
    """Parse a template. Raises `TemplateError`."""
    parser = _Parser(_pieces(template))
    nodes, keyword = parser.block(depth=0)
    if keyword:
        raise TemplateError(f"unexpected {{{{{keyword}}}}}")
    return nodes


def _pieces(template: str) -> list[str | list[Token]]:
    """Cut a template into texts and actions, trimming blanks where an action asks for it."""
    pieces: list[str | list[Token]] = []
    position = 0
    trim_next = False
    for match in _ACTION.finditer(template):
        text = template[position : match.start()]
        text = text.lstrip() if trim_next else text
        pieces.append(text.rstrip() if match[1] else text)
        trim_next = bool(match[3])
        if not match[2].startswith("/*"):
            pieces.append(_tokens(match[2]))
        position = match.end()
    rest = template[position:]
    if "{{" in rest:
        raise TemplateError("unclosed action")
    pieces.append(rest.lstrip() if trim_next else rest)
    return pieces


def _tokens(text: str) -> list[Token]:
    tokens = []
    position = 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            raise TemplateError(f"unexpected {text[position:].strip()!r} in {{{{{text}}}}}")
        tokens.append(Token(match.lastgroup, match[match.lastgroup]))
        position = match.end()
    return tokens


class _Parser:
    """Reads pieces from front to back."""

    def __init__(self, pieces: list[str | list[Token]]) -> None:
        self._pieces = pieces
        self._next = 0

    def block(self, depth: int) -> tuple[tuple[Node, ...], str]:
        """Read up to `end`, `else` or the end of the template, and say which it was."""
        if depth > DEPTH_MAX:
            raise TemplateError(f"blocks are nested more than {DEPTH_MAX} deep")
        nodes: list[Node] = []
        while self._next < len(self._pieces):
            piece = self._pieces[self._next]
            self._next += 1
            if isinstance(piece, str):
                if piece:
                    nodes.append(Text(piece))
                continue
            if not piece:
                raise TemplateError("missing value for command")
            word = piece[0].text if piece[0].kind == "word" else ""
            if word == "end" and len(piece) == 1:
                return tuple(nodes), "end"
            if word == "else":
                self._pieces[self._next - 1] = piece
                return tuple(nodes), "else"
            if word in {"if", "with", "range"}:
                nodes.append(self._branch(word, piece[1:], depth))
            elif word in {"break", "continue"}:
                nodes.append(Jump(word))
            else:
                nodes.append(Action(_Reader(piece).whole_pipeline()))
        return tuple(nodes), ""

    def _branch(self, keyword: str, tokens: list[Token], depth: int) -> Branch:
        pipeline = _Reader(tokens).whole_pipeline()
        body, ended_by = self.block(depth + 1)
        otherwise: tuple[Node, ...] = ()
        if ended_by == "else":
            piece = self._pieces[self._next - 1]
            assert not isinstance(piece, str)
            if len(piece) > 1:
                # {{else if x}} shares the {{end}} of the outer block.
                return Branch(keyword, pipeline, body, (self._branch(piece[1].text, piece[2:], depth + 1),))
            otherwise, ended_by = self.block(depth + 1)
        if ended_by != "end":
            raise TemplateError(f"{{{{{keyword}}}}} has no {{{{end}}}}")
        return Branch(keyword, pipeline, body, otherwise)


class _Reader:
    """Reads the tokens of one action."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._next = 0

    def whole_pipeline(self) -> Pipeline:
        pipeline = self._pipeline()
        if self._peek():
            raise TemplateError(f"unexpected {self._peek()!r} in an action")
        return pipeline

    def _peek(self) -> str:
        return self._tokens[self._next].text if self._next < len(self._tokens) else ""

    def _take(self) -> Token:
        token = self._tokens[self._next]
        self._next += 1
        return token

    def _pipeline(self) -> Pipeline:
        assigns, declares = self._assignment()
        stages = [self._command()]
        while self._peek() == "|":
            self._take()
            stages.append(self._command())
        return Pipeline(tuple(stages), assigns, declares)

    def _assignment(self) -> tuple[tuple[str, ...], bool]:
        names = []
        start = self._next
        while self._next < len(self._tokens) and self._tokens[self._next].kind == "variable":
            names.append(self._take().text)
            if self._peek() != ",":
                break
            self._take()
        if names and self._peek() in {":=", "="}:
            return tuple(names), self._take().text == ":="
        self._next = start
        return (), True

    def _command(self) -> Operand:
        operands: list[Operand] = []
        name = ""
        while self._next < len(self._tokens) and self._peek() not in {"|", ")"}:
            token = self._tokens[self._next]
            if token.kind == "word" and token.text not in _CONSTANTS and not operands and not name:
                name = self._take().text
                if name not in FUNCTIONS:
                    raise TemplateError(f'function "{name}" not defined')
                continue
            operands.append(self._operand())
        if name:
            return Call(name, tuple(operands))
        if len(operands) != 1:
            raise TemplateError(
                "missing value for command" if not operands else "a value cannot take arguments"
            )
        return operands[0]

    def _operand(self) -> Operand:
        token = self._take()
        match token.kind:
            case "field":
                return Field(None, tuple(token.text[1:].split(".")))
            case "dot":
                return Field(None, ())
            case "variable":
                name, *fields = token.text.split(".")
                return Field(Variable(name), tuple(fields)) if fields else Variable(name)
            case "word" if token.text in _CONSTANTS:
                return Literal(_CONSTANTS[token.text])
            case "word" if token.text in FUNCTIONS:
                return Call(token.text, ())
            case "string":
                return Literal(token.text[1:-1] if token.text[0] == "`" else _unquote(token.text[1:-1]))
            case "char":
                return Literal(ord(_unquote(token.text[1:-1])))
            case "number":
                return Literal(_number(token.text))
            case "symbol" if token.text == "(":
                return self._parenthesised()
        raise TemplateError(f"unexpected {token.text!r} in an action")

    def _parenthesised(self) -> Operand:
        inner = self._pipeline()
        if self._peek() != ")":
            raise TemplateError("unclosed left paren")
        self._take()
        if self._next < len(self._tokens) and self._tokens[self._next].kind == "field":
            return Field(inner, tuple(self._take().text[1:].split(".")))
        return inner


_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "'": "'", "\\": "\\"}


def _unquote(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), text)


def _number(text: str) -> int | float:
    try:
        return int(text, 0)
    except ValueError:
        return float(text)

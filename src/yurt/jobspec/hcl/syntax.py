"""The syntax tree of HCL2: bodies, blocks, attributes, expressions.

Every node has `start` and `end`, offsets into the text of its Source.
"""

from fractions import Fraction
from typing import TypeAlias

import msgspec

from yurt.jobspec.hcl.source import Range, Source


class Node(msgspec.Struct, frozen=True, gc=False):
    """A stretch of the text that means something."""

    start: int
    end: int


# Expressions


class Literal(Node, frozen=True, gc=False):
    """A number, `true`, `false` or `null`."""

    value: int | Fraction | bool | None


class Text(Node, frozen=True, gc=False):
    """A quoted string or heredoc without template sequences. `start` and `end` include the marks."""

    value: str
    text_start: int
    text_end: int


class Template(Node, frozen=True, gc=False):
    """A string with template sequences: literal text, expressions and directives in order."""

    parts: "tuple[TemplatePart, ...]"
    text_start: int


class TemplateWrap(Node, frozen=True, gc=False):
    """A string that is exactly one `${…}` and so has the value of its expression, of whatever type."""

    part: "InterpolationPart"


class LiteralPart(Node, frozen=True, gc=False):
    text: str


class InterpolationPart(Node, frozen=True, gc=False):
    """`${…}`; `has_strip` tells of a `~` at either end."""

    expr: "Expression"
    has_strip: bool


class IfPart(Node, frozen=True, gc=False):
    """`%{ if }…%{ else }…%{ endif }`"""

    condition: "Expression"
    then: "tuple[TemplatePart, ...]"
    otherwise: "tuple[TemplatePart, ...]"


class ForPart(Node, frozen=True, gc=False):
    """`%{ for k, v in xs }…%{ endfor }`"""

    key_name: str | None
    value_name: str
    collection: "Expression"
    body: "tuple[TemplatePart, ...]"


TemplatePart: TypeAlias = LiteralPart | InterpolationPart | IfPart | ForPart


class AttributeStep(Node, frozen=True, gc=False):
    """`.name`"""

    name: str


class KeyStep(Node, frozen=True, gc=False):
    """`["key"]`, `[0]` or the old form `.0`: a key known from the text alone."""

    key: str | int | Fraction


class IndexStep(Node, frozen=True, gc=False):
    """`[expression]`"""

    key: "Expression"


class SplatStep(Node, frozen=True, gc=False):
    """`[*]` with all that follows it, or `.*` with the attributes that follow it."""

    marker_end: int
    each: "tuple[Step, ...]"


Step: TypeAlias = AttributeStep | KeyStep | IndexStep | SplatStep


class Reference(Node, frozen=True, gc=False):
    """A name with the constant steps after it, such as `var.ports["http"]`."""

    name: str
    name_end: int
    steps: "tuple[AttributeStep | KeyStep, ...]"


class Access(Node, frozen=True, gc=False):
    """Steps into the value of an expression that is not a plain reference."""

    subject: "Expression"
    steps: "tuple[Step, ...]"


class Call(Node, frozen=True, gc=False):
    """`name(arguments…)`; `is_spread` tells of `...` after the last one."""

    name: str
    name_end: int
    open_end: int
    arguments: "tuple[Expression, ...]"
    is_spread: bool


class Conditional(Node, frozen=True, gc=False):
    condition: "Expression"
    then: "Expression"
    otherwise: "Expression"


class Operand(msgspec.Struct, frozen=True, gc=False):
    """An operator (its token kind) with the expression to its right."""

    operator: int
    expr: "Expression"


class Operation(Node, frozen=True, gc=False):
    """Operands joined from left to right by operators of one precedence.

    One flat node, not a tree, so that a long sum does not need a deep stack.
    """

    first: "Expression"
    rest: tuple[Operand, ...]


class Unary(Node, frozen=True, gc=False):
    operator: int
    expr: "Expression"


class TupleExpr(Node, frozen=True, gc=False):
    items: "tuple[Expression, ...]"


class ObjectItem(msgspec.Struct, frozen=True, gc=False):
    """One `key = value`; a bare identifier as key is a Text."""

    key: "Expression"
    value: "Expression"


class ObjectExpr(Node, frozen=True, gc=False):
    items: tuple[ObjectItem, ...]


class ForExpr(Node, frozen=True, gc=False):
    """`[for …]`, or `{for …}` when it has a `key`. `groups` tells of `...` after the value."""

    key_name: str | None
    value_name: str
    collection: "Expression"
    key: "Expression | None"
    value: "Expression"
    condition: "Expression | None"
    groups: bool


class Parentheses(Node, frozen=True, gc=False):
    expr: "Expression"


class Embedded(Node, frozen=True, gc=False):
    """An expression that stands in a text of its own: the content of a JSON string."""

    expr: "Expression"
    source: Source


Expression: TypeAlias = (
    Literal
    | Text
    | Template
    | TemplateWrap
    | Reference
    | Access
    | Call
    | Conditional
    | Operation
    | Unary
    | TupleExpr
    | ObjectExpr
    | ForExpr
    | Parentheses
    | Embedded
)


# Bodies


class Attribute(Node, frozen=True):
    """`name = expression`; `name_end` ends the name."""

    name: str
    name_end: int
    expr: Expression
    source: Source

    def range(self) -> Range:
        return self.source.range(self.start, self.end)

    def name_range(self) -> Range:
        return self.source.range(self.start, self.name_end)


class Label(Node, frozen=True, gc=False):
    text: str


class Block(Node, frozen=True):
    """`type "label" … { body }`; `type_end` ends the type name, `body.start` is the opening brace."""

    type: str
    type_end: int
    labels: tuple[Label, ...]
    body: "Body"
    source: Source

    def type_range(self) -> Range:
        return self.source.range(self.start, self.type_end)


class Body(Node, frozen=True):
    """The inside of a block, or a whole file: attributes by name, blocks in order."""

    attributes: dict[str, Attribute]
    blocks: tuple[Block, ...]
    source: Source


def head_span(expr: Expression) -> tuple[int, int]:
    """The part of an expression that messages about the whole of it point at.

    It keeps messages about long lists and objects on one line.
    """
    match expr:
        case TupleExpr() | ObjectExpr() | ForExpr() | Unary():
            return expr.start, expr.start + 1
        case Call():
            return expr.start, expr.open_end
        case Text():
            return expr.text_start, expr.text_end
        case Template():
            first = expr.parts[0]
            return expr.text_start, first.end if isinstance(first, LiteralPart) else expr.end
        case Conditional():
            return head_span(expr.condition)
        case Operation():
            return head_span(expr.first)
        case Access():
            step = expr.steps[-1]
            if isinstance(step, SplatStep):
                return step.start, step.marker_end
            return (step.start, step.start + 1) if isinstance(step, IndexStep) else (expr.start, expr.end)
        case _:
            return expr.start, expr.end

"""The parts of a parsed template."""

from typing import NamedTuple, TypeAlias

from yurt.errors import YurtError


class TemplateError(YurtError):
    """The template cannot be parsed, or does not fit the data."""


class Text(NamedTuple):
    """Text that stands as it is."""

    text: str


class Literal(NamedTuple):
    """A string, number, boolean or nil."""

    value: object


class Field(NamedTuple):
    """`.A.B` on the dot, `$x.A` on a variable, `(...).A` on a value: names to follow from a start."""

    start: "Operand | None"
    names: tuple[str, ...]


class Variable(NamedTuple):
    """`$name`; `$` alone is the data the template started with."""

    name: str


class Call(NamedTuple):
    """A function with its arguments."""

    name: str
    arguments: tuple["Operand", ...]


class Pipeline(NamedTuple):
    """Calls fed into one another; `assigns` names the variables that take the result."""

    stages: tuple["Operand", ...]
    assigns: tuple[str, ...] = ()
    declares: bool = True


Operand: TypeAlias = Literal | Field | Variable | Call | Pipeline


class Action(NamedTuple):
    """`{{pipeline}}`."""

    pipeline: Pipeline


class Branch(NamedTuple):
    """`if`, `with` or `range`, with what to do otherwise."""

    keyword: str
    pipeline: Pipeline
    body: tuple["Node", ...]
    otherwise: tuple["Node", ...]


class Jump(NamedTuple):
    """`break` or `continue`."""

    keyword: str


Node: TypeAlias = Text | Action | Branch | Jump

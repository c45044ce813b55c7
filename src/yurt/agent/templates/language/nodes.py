"""The parts of a template that was read, and how each is written."""

from __future__ import annotations

from typing import TypeAlias

import msgspec


class _Node(msgspec.Struct, frozen=True):
    """`at` is the place in the source."""

    at: int


# --- what stands in pipelines ---------------------------------------------------------------------------


class Dot(_Node, frozen=True):
    """The current value."""


class Nil(_Node, frozen=True):
    """No value."""


class Constant(_Node, frozen=True):
    """A literal: text, number or truth; `written` is how it stands in the source."""

    value: str | int | float | bool
    written: str


class Field(_Node, frozen=True):
    """Members of the current value."""

    names: tuple[str, ...]


class Variable(_Node, frozen=True):
    """A variable, and members of it."""

    name: str
    fields: tuple[str, ...] = ()


class Chain(_Node, frozen=True):
    """Members of what another operand gives."""

    of: Operand
    names: tuple[str, ...]


class Identifier(_Node, frozen=True):
    """A function."""

    name: str


class Command(_Node, frozen=True):
    """A function or value with its arguments."""

    args: tuple[Operand, ...]


class Pipe(_Node, frozen=True):
    """Commands, each given the value of the one before; the last value may go to variables."""

    commands: tuple[Command, ...]
    targets: tuple[str, ...] = ()
    declares: bool = False


Operand: TypeAlias = Dot | Nil | Constant | Field | Variable | Chain | Identifier | Pipe

# --- what a template consists of --------------------------------------------------------------------------


class Text(_Node, frozen=True):
    """Text that is copied."""

    text: str


class Action(_Node, frozen=True):
    """A pipeline whose value is shown, unless it goes to a variable."""

    pipe: Pipe


class If(_Node, frozen=True):
    """One of two bodies."""

    pipe: Pipe
    body: Body
    otherwise: Body


class With(_Node, frozen=True):
    """A body about a value, or another if there is none."""

    pipe: Pipe
    body: Body
    otherwise: Body


class Range(_Node, frozen=True):
    """A body for each of several values, or another if there are none."""

    pipe: Pipe
    body: Body
    otherwise: Body


class Break(_Node, frozen=True):
    """Leave the innermost range."""


class Continue(_Node, frozen=True):
    """Go on with the next value of the innermost range."""


class Call(_Node, frozen=True):
    """Another template, about a value."""

    name: str
    pipe: Pipe | None


Statement: TypeAlias = Text | Action | If | With | Range | Break | Continue | Call
Body: TypeAlias = tuple[Statement, ...]


def written(node: Operand | Command | Statement) -> str:
    """Write a node as error texts show it."""
    match node:
        case Command(args=args):
            return " ".join(map(_argument, args))
        case Action(pipe=pipe):
            return f"{{{{{written(pipe)}}}}}"
        case Call(name=name, pipe=called):
            return f'{{{{template "{name}"{" " + written(called) if called else ""}}}}}'
        case If() | With() | Range():
            return f"{{{{{type(node).__name__.lower()} {written(node.pipe)}}}}}"
        case Break() | Continue():
            return f"{{{{{type(node).__name__.lower()}}}}}"
        case Text(text=text):
            return text
    return _operand(node)


def _operand(node: Operand) -> str:
    match node:
        case Dot():
            return "."
        case Nil():
            return "nil"
        case Constant(written=text):
            return text
        case Field(names=names):
            return "".join(f".{name}" for name in names)
        case Variable(name=name, fields=fields):
            return ".".join((name, *fields))
        case Chain(of=of, names=names):
            return _argument(of) + "".join(f".{name}" for name in names)
        case Identifier(name=name):
            return name
        case Pipe(commands=commands, targets=targets, declares=declares):
            into = f"{', '.join(targets)} {':=' if declares else '='} " if targets else ""
            return into + " | ".join(map(written, commands))


def _argument(node: Operand) -> str:
    return f"({written(node)})" if isinstance(node, Pipe) else written(node)

"""Looking through expressions without evaluating them."""

from collections.abc import Iterator
from typing import TypeAlias

from yurt.jobspec.hcl.syntax import (
    Access,
    Call,
    Conditional,
    Embedded,
    Expression,
    ForExpr,
    ForPart,
    IfPart,
    IndexStep,
    InterpolationPart,
    ObjectExpr,
    Operation,
    Parentheses,
    Reference,
    SplatStep,
    Step,
    Template,
    TemplatePart,
    TemplateWrap,
    TupleExpr,
    Unary,
)

_Bound: TypeAlias = frozenset[str]


def free_names(expr: Expression) -> Iterator[Reference | Call]:
    """The references and calls in `expr`, in order, less references to names that its loops bind."""
    return _walk(expr, frozenset())


def _walk(expr: Expression, bound: _Bound) -> Iterator[Reference | Call]:
    match expr:
        case Reference():
            if expr.name not in bound:
                yield expr
        case Call():
            yield expr
            yield from _walk_all(expr.arguments, bound)
        case Template():
            yield from _walk_parts(expr.parts, bound)
        case TemplateWrap():
            yield from _walk(expr.part.expr, bound)
        case Parentheses() | Unary() | Embedded():
            yield from _walk(expr.expr, bound)
        case Access():
            yield from _walk(expr.subject, bound)
            yield from _walk_steps(expr.steps, bound)
        case Conditional():
            yield from _walk_all((expr.condition, expr.then, expr.otherwise), bound)
        case Operation():
            yield from _walk_all((expr.first, *(operand.expr for operand in expr.rest)), bound)
        case TupleExpr():
            yield from _walk_all(expr.items, bound)
        case ObjectExpr():
            for item in expr.items:
                yield from _walk_all((item.key, item.value), bound)
        case ForExpr():
            yield from _walk(expr.collection, bound)
            inner = bound | {expr.value_name} | ({expr.key_name} if expr.key_name else set())
            parts = (expr.key, expr.value, expr.condition)
            yield from _walk_all(tuple(part for part in parts if part is not None), inner)


def _walk_all(exprs: tuple[Expression, ...], bound: _Bound) -> Iterator[Reference | Call]:
    for expr in exprs:
        yield from _walk(expr, bound)


def _walk_steps(steps: tuple[Step, ...], bound: _Bound) -> Iterator[Reference | Call]:
    for step in steps:
        if isinstance(step, IndexStep):
            yield from _walk(step.key, bound)
        elif isinstance(step, SplatStep):
            yield from _walk_steps(step.each, bound)


def _walk_parts(parts: tuple[TemplatePart, ...], bound: _Bound) -> Iterator[Reference | Call]:
    for part in parts:
        match part:
            case InterpolationPart():
                yield from _walk(part.expr, bound)
            case IfPart():
                yield from _walk(part.condition, bound)
                yield from _walk_parts((*part.then, *part.otherwise), bound)
            case ForPart():
                yield from _walk(part.collection, bound)
                names = {part.value_name} | ({part.key_name} if part.key_name else set())
                yield from _walk_parts(part.body, bound | names)

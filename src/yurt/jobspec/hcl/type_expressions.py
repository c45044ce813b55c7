"""Types written as expressions: `string`, `list(number)`, `object({ a = bool })`."""

from typing import Final

from yurt.jobspec.hcl.parser import parse_expression
from yurt.jobspec.hcl.source import Source
from yurt.jobspec.hcl.syntax import Call, Expression, ObjectExpr, Reference, Text, TupleExpr
from yurt.jobspec.hcl.values import (
    ANY,
    BOOL,
    NUMBER,
    STRING,
    ListType,
    MapType,
    ObjectType,
    SetType,
    TupleType,
    Type,
)

_PRIMITIVES: Final = {"string": STRING, "number": NUMBER, "bool": BOOL}
_COLLECTIONS: Final[dict[str, type[ListType | SetType | MapType]]] = {
    "list": ListType,
    "set": SetType,
    "map": MapType,
}
_CONSTRUCTORS: Final = {
    "list": "The list type constructor requires one argument specifying the element type.",
    "set": "The set type constructor requires one argument specifying the element type.",
    "map": "The map type constructor requires one argument specifying the element type.",
    "object": "The object type constructor requires one argument specifying the attribute types and values "
    "as a map.",
    "tuple": "The tuple type constructor requires one argument specifying the element types as a list.",
}
_GENERAL: Final = (
    "A type specification is either a primitive type keyword (bool, number, string) or a complex type "
    "constructor call, like list(string)."
)


class TypeExpressionError(ValueError):
    """The expression names no type; `start` and `end` say where."""

    def __init__(self, expr: Expression, detail: str, *, end: int | None = None) -> None:
        super().__init__(detail)
        self.start = expr.start
        self.end = expr.end if end is None else end
        self.detail = detail


def type_expression(expr: Expression, *, allow_any: bool = False) -> Type:
    """The type that `expr` names. Raises TypeExpressionError.

    `allow_any` lets `any` and the marker `optional(T)` pass, the latter as T.
    """
    if isinstance(expr, Reference) and not expr.steps:
        return _keyword(expr, allow_any=allow_any)
    if isinstance(expr, Call):
        return _constructor(expr, allow_any=allow_any)
    raise TypeExpressionError(expr, _GENERAL)


def type_from_text(expr: Text) -> Type:
    """The type that a string of the JSON syntax names."""
    return type_expression(parse_expression(Source(expr.value, "")))


def _keyword(expr: Reference, *, allow_any: bool) -> Type:
    if expr.name in _PRIMITIVES:
        return _PRIMITIVES[expr.name]
    if expr.name == "any":
        if allow_any:
            return ANY
        raise TypeExpressionError(
            expr, 'The keyword "any" cannot be used in this type specification: an exact type is required.'
        )
    if expr.name in _CONSTRUCTORS:
        raise TypeExpressionError(expr, _CONSTRUCTORS[expr.name])
    raise TypeExpressionError(expr, f'The keyword "{expr.name}" is not a valid type specification.')


def _constructor(expr: Call, *, allow_any: bool) -> Type:
    name = expr.name
    if name in _PRIMITIVES or name == "any":
        raise TypeExpressionError(expr, f'Primitive type keyword "{name}" does not expect arguments.')
    if name == "optional":
        if allow_any and expr.arguments:
            return type_expression(expr.arguments[0], allow_any=True)
        detail = "Optional attribute modifier is only for type constraints, not for exact types."
        raise TypeExpressionError(expr, detail, end=expr.name_end)
    if name not in _CONSTRUCTORS:
        raise TypeExpressionError(expr, f'Keyword "{name}" is not a valid type constructor.')
    if len(expr.arguments) != 1:
        raise TypeExpressionError(expr, _CONSTRUCTORS[name])
    [argument] = expr.arguments
    if name in _COLLECTIONS:
        return _COLLECTIONS[name](type_expression(argument, allow_any=allow_any))
    if name == "tuple":
        if not isinstance(argument, TupleExpr):
            raise TypeExpressionError(argument, "Tuple type constructor requires a list of element types.")
        return TupleType(tuple(type_expression(item, allow_any=allow_any) for item in argument.items))
    return _object(argument, allow_any=allow_any)


def _object(argument: Expression, *, allow_any: bool) -> ObjectType:
    if not isinstance(argument, ObjectExpr):
        detail = "Object type constructor requires a map of attribute names and types."
        raise TypeExpressionError(argument, detail)
    attributes: dict[str, Type] = {}
    for item in argument.items:
        if not isinstance(item.key, Text):
            raise TypeExpressionError(item.key, "Object constructor map keys must be attribute names.")
        attributes[item.key.value] = type_expression(item.value, allow_any=allow_any)
    return ObjectType(attributes)

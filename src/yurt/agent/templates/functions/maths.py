"""Functions on numbers, made for pipes: the value that comes through the pipe is the first operand."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.text import text_of
from yurt.agent.templates.language.values import Value, type_name

_INT_MIN, _INT_MAX = -(1 << 63), (1 << 64) - 1


def _number(name: str, value: Value) -> int | float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FunctionFailed(f"{name}: unknown type for {text_of(value)} ({type_name(value)})")
    return value


def _checked(value: float) -> Value:
    if isinstance(value, int) and not _INT_MIN <= value <= _INT_MAX:
        raise FunctionFailed("the result does not fit into 64 bits")
    return value


def add(second: Value, first: Value) -> Value:
    return _checked(_number("add", first) + _number("add", second))


def subtract(second: Value, first: Value) -> Value:
    return _checked(_number("subtract", first) - _number("subtract", second))


def multiply(second: Value, first: Value) -> Value:
    return _checked(_number("multiply", first) * _number("multiply", second))


def divide(divisor: Value, dividend: Value) -> Value:
    over, under = _number("divide", dividend), _number("divide", divisor)
    if isinstance(over, int) and isinstance(under, int):
        if under == 0:
            raise FunctionFailed("runtime error: integer divide by zero")
        return _toward_zero(over, under)
    if under == 0:
        return math.nan if over == 0 else math.copysign(math.inf, over)
    return over / under


def modulo(divisor: Value, dividend: Value) -> Value:
    over, under = _number("modulo", dividend), _number("modulo", divisor)
    if not isinstance(over, int) or not isinstance(under, int):
        raise FunctionFailed("modulo: takes whole numbers only")
    if under == 0:
        raise FunctionFailed("runtime error: integer divide by zero")
    return over - _toward_zero(over, under) * under


def _toward_zero(over: int, under: int) -> int:
    quotient = abs(over) // abs(under)
    return quotient if (over < 0) == (under < 0) else -quotient


def minimum(second: Value, first: Value) -> Value:
    return min(_number("minimum", first), _number("minimum", second))


def maximum(second: Value, first: Value) -> Value:
    return max(_number("maximum", first), _number("maximum", second))


MATHS: Mapping[str, Callable[..., Value]] = {
    "add": add,
    "divide": divide,
    "maximum": maximum,
    "minimum": minimum,
    "modulo": modulo,
    "multiply": multiply,
    "subtract": subtract,
}

"""Operators on values."""

from typing import Final

from yurt.jobspec.hcl import lexer as t
from yurt.jobspec.hcl import numbers
from yurt.jobspec.hcl.conversion import ConversionError, to_bool, to_number
from yurt.jobspec.hcl.meter import Meter
from yurt.jobspec.hcl.numbers import Number, NumberTooLarge
from yurt.jobspec.hcl.values import UNKNOWN, Value, equal

_LOGIC: Final = (t.AND, t.OR)
_DIVISION: Final = (t.SLASH, t.PERCENT)


class OperandError(ValueError):
    """Operands of the wrong type: the side (`left`, `right`) and what is wrong, of each."""

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        super().__init__(problems)
        self.problems = problems


def binary(operator: int, left: Value, right: Value, meter: Meter) -> Value:
    """`left operator right`. Raises OperandError, or ArithmeticError where no result exists."""
    if operator in (t.EQUAL, t.NOT_EQUAL):
        if left is UNKNOWN or right is UNKNOWN:
            return UNKNOWN
        meter.admit(left)
        return equal(left, right) == (operator == t.EQUAL)
    kind = to_bool if operator in _LOGIC else to_number
    problems = []
    operands: list[Value] = []
    for side, operand in (("left", left), ("right", right)):
        if operand is None:
            problems.append((side, "argument must not be null"))
            continue
        try:
            operands.append(kind(operand))
        except ConversionError as error:
            problems.append((side, str(error)))
    if problems:
        raise OperandError(problems)
    a, b = operands
    if a is UNKNOWN or b is UNKNOWN:
        return UNKNOWN
    if operator in _LOGIC:
        return bool(a and b) if operator == t.AND else bool(a or b)
    return _numeric(operator, a, b)  # type: ignore[arg-type]  # to_number gave numbers


def unary(operator: int, operand: Value) -> Value:
    """`-operand` or `!operand`. Raises ConversionError."""
    if operand is None:
        raise ConversionError("argument must not be null")
    if operator == t.NOT:
        flag = to_bool(operand)
        return flag if flag is UNKNOWN else not flag
    number = to_number(operand)
    return number if number is UNKNOWN else -number  # type: ignore[operator]  # to_number gave a number


def _numeric(operator: int, a: Number, b: Number) -> Value:
    if operator == t.LESS:
        return a < b
    if operator == t.LESS_EQUAL:
        return a <= b
    if operator == t.GREATER:
        return a > b
    if operator == t.GREATER_EQUAL:
        return a >= b
    try:
        return _arithmetic(operator, a, b)
    except ZeroDivisionError:
        if operator in _DIVISION:
            problem = "can't divide zero by zero or infinity by infinity"
        else:
            problem = "the result is not a number"
        raise ArithmeticError(problem) from None
    except NumberTooLarge as error:
        raise ArithmeticError(str(error)) from None


def _arithmetic(operator: int, a: Number, b: Number) -> Number:
    if operator == t.PLUS:
        return numbers.add(a, b)
    if operator == t.MINUS:
        return numbers.add(a, -b)
    if operator == t.STAR:
        return numbers.multiply(a, b)
    return numbers.divide(a, b) if operator == t.SLASH else numbers.remainder(a, b)

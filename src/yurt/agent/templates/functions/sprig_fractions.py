"""The functions of sprig on fractions, bases and series, which templates call with the prefix `sprig_`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, DivisionByZero, InvalidOperation, localcontext

from yurt.agent.templates.functions.limits import check_items
from yurt.agent.templates.functions.sprig_texts import text
from yurt.agent.templates.functions.sprig_values import largest, to_float, until_step
from yurt.agent.templates.language import FunctionFailed
from yurt.agent.templates.language.values import Value

# Sprig divides decimals to so many places.
_PLACES = 16


def _decimal(value: Value) -> Decimal:
    return Decimal(repr(to_float(value)))


def _folded(first: Value, others: tuple[Value, ...], step: Callable[[Decimal, Decimal], Decimal]) -> float:
    total = _decimal(first)
    try:
        with localcontext() as context:
            context.prec = 2 * _PLACES
            for other in others:
                total = step(total, _decimal(other))
    except (DivisionByZero, InvalidOperation):
        raise FunctionFailed("decimal division by 0") from None
    return float(total)


def add_fractions(first: Value, *others: Value) -> float:
    return _folded(first, others, lambda a, b: a + b)


def add_one(value: Value) -> float:
    return add_fractions(value, 1)


def subtract_fractions(first: Value, *others: Value) -> float:
    return _folded(first, others, lambda a, b: a - b)


def multiply_fractions(first: Value, *others: Value) -> float:
    return _folded(first, others, lambda a, b: a * b)


def divide_fractions(first: Value, *others: Value) -> float:
    return _folded(first, others, lambda a, b: a / b)


def largest_fraction(first: Value, *others: Value) -> float:
    return max(map(to_float, (first, *others)))


def smallest_fraction(first: Value, *others: Value) -> float:
    return min(map(to_float, (first, *others)))


def from_octal(value: Value) -> int:
    """The number that octal digits stand for, 0 for what are none."""
    try:
        return int(text(value), 8)
    except ValueError:
        return 0


def seq(*bounds: int) -> str:
    """Numbers as the command of that name prints them, in one line: to, from and to, or from, step and to."""
    match bounds:
        case (stop,):
            start, step = 1, 1 if stop >= 1 else -1
        case (start, stop):
            step = 1 if stop >= start else -1
        case (start, step, stop):
            if (step > 0) != (stop >= start):
                return ""
        case _:
            return ""
    made = until_step(start, stop + (1 if stop >= start else -1), step)
    check_items(len(made))
    return " ".join(map(str, made))


SPRIG_FRACTIONS: Mapping[str, Callable[..., Value]] = {
    "add1f": add_one,
    "addf": add_fractions,
    "biggest": largest,
    "divf": divide_fractions,
    "maxf": largest_fraction,
    "minf": smallest_fraction,
    "mulf": multiply_fractions,
    "seq": seq,
    "subf": subtract_fractions,
    "toDecimal": from_octal,
}

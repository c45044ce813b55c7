"""HCL's numbers: 512 bits of binary precision, written in plain decimal.

A number is an int when whole, else a Fraction whose denominator is a power of two. A float is a number
of 53 bits, which is what the functions on floats give; it keeps its shorter decimal form.
Infinities are floats.
"""

import math
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

from yurt.jobspec.hcl.limits import NUMBER_BITS_MAX

Number: TypeAlias = int | Fraction | float

_PRECISION_BITS = 512
_PRECISION_DIGITS = 158  # decimal digits that are more than 512 bits can tell apart
_DIGITS_MAX = NUMBER_BITS_MAX * 3 // 10
_FLOAT_BITS = 53


class NumberTooLarge(ValueError):
    """The number's magnitude is beyond what is worth computing with."""

    def __init__(self) -> None:
        super().__init__(f"numbers must be smaller than 2 to the power of {NUMBER_BITS_MAX}")


def parse_number(text: str) -> Number:
    """The number that `text` spells: digits, with an optional sign, fraction and exponent.

    Raises ValueError for other text and NumberTooLarge for what is out of range.
    """
    if len(text) > _DIGITS_MAX:
        raise NumberTooLarge
    if not text.isascii() or "_" in text or "/" in text or text != text.strip():
        raise ValueError(f"{text!r} is not a number")
    if text.isdigit():
        return rounded(int(text))
    exponent = text.lower().partition("e")[2]
    if exponent and abs(int(exponent)) > _DIGITS_MAX:
        raise NumberTooLarge
    return rounded(Fraction(text))


def rounded(value: int | Fraction) -> int | Fraction:
    """`value` at the precision of a number; a whole one as an int."""
    top, bottom = value.numerator, value.denominator
    size = top.bit_length() - bottom.bit_length()
    if abs(size) > NUMBER_BITS_MAX:
        raise NumberTooLarge
    if bottom & (bottom - 1) == 0 and top.bit_length() <= _PRECISION_BITS:
        return top if bottom == 1 else value
    shift = _PRECISION_BITS - size
    mantissa = _divide_to_even(abs(top), bottom, shift)
    if mantissa.bit_length() > _PRECISION_BITS:
        shift -= 1
        mantissa = _divide_to_even(abs(top), bottom, shift)
    result = Fraction(mantissa << -shift) if shift < 0 else Fraction(mantissa, 1 << shift)
    result = -result if top < 0 else result
    return result.numerator if result.denominator == 1 else result


def from_float(value: float) -> Number:
    """The number a float function gave. Raises ValueError for NaN, which is no number."""
    if math.isnan(value):
        raise ValueError("the result is not a number")
    if value.is_integer() and abs(value) < 2**_FLOAT_BITS:
        return int(value)
    return value


def is_whole(value: Number) -> bool:
    if isinstance(value, float):
        return value.is_integer()
    return isinstance(value, int)


def exact(value: Number) -> int | Fraction:
    """A finite number as an exact one."""
    if isinstance(value, float):
        fraction = Fraction(value)
        return fraction.numerator if fraction.denominator == 1 else fraction
    return value


def magnitude(value: Number) -> Number:
    return -value if value < 0 else value


def add(left: Number, right: Number) -> Number:
    if isinstance(left, float) or isinstance(right, float):
        return _with_float(left, right, "+")
    return rounded(left + right)


def multiply(left: Number, right: Number) -> Number:
    if isinstance(left, float) or isinstance(right, float):
        return _with_float(left, right, "*")
    return rounded(left * right)


def divide(left: Number, right: Number) -> Number:
    """Raises ZeroDivisionError only where no value makes sense: 0/0 and infinity/infinity."""
    if right == 0:
        if left == 0:
            raise ZeroDivisionError
        return math.inf if left > 0 else -math.inf
    if isinstance(left, float) or isinstance(right, float):
        return _with_float(left, right, "/")
    return rounded(Fraction(left) / right)


def remainder(left: Number, right: Number) -> Number:
    """`left % right` with the sign of `left`; `left` itself when `right` is 0."""
    if right == 0 or (isinstance(right, float) and math.isinf(right)):
        return left
    if isinstance(left, float) and math.isinf(left):
        raise ZeroDivisionError
    top, bottom = Fraction(exact(left)), exact(right)
    return rounded(top - bottom * math.trunc(top / bottom))


def format_number(value: Number) -> str:
    """Plain decimal, no exponent, as few digits as tell the number apart; infinities as `+Inf`, `-Inf`."""
    if isinstance(value, float):
        if math.isinf(value):
            return "+Inf" if value > 0 else "-Inf"
        return _trim_zeros(format(Decimal(repr(value)), "f"))
    if isinstance(value, int) and value.bit_length() <= _PRECISION_BITS:
        return str(value)
    sign = "-" if value < 0 else ""
    return sign + _shortest(abs(Fraction(value)))


def _with_float(left: Number, right: Number, operator: str) -> Number:
    finite = all(not isinstance(n, float) or math.isfinite(n) for n in (left, right))
    if finite and not (isinstance(left, float) and isinstance(right, float)):
        # The wider operand decides the precision of the result.
        a, b = Fraction(exact(left)), exact(right)
        return rounded(a + b if operator == "+" else a * b if operator == "*" else a / b)
    x, y = float(left), float(right)
    result = x + y if operator == "+" else x * y if operator == "*" else x / y
    if math.isnan(result):
        raise ZeroDivisionError
    return from_float(result)


def _divide_to_even(top: int, bottom: int, shift: int) -> int:
    """`top * 2**shift / bottom`, rounded to the nearest int, ties to even."""
    if shift >= 0:
        top <<= shift
    else:
        bottom <<= -shift
    quotient, rest = divmod(top, bottom)
    return quotient + (rest * 2 > bottom or (rest * 2 == bottom and quotient & 1))


def _shortest(value: Fraction) -> str:
    """Fewest decimal digits that still name the 512-bit number `value` > 0 and no other."""
    top, bottom = value.numerator, value.denominator
    unit = Fraction(2) ** (top.bit_length() - bottom.bit_length() - _PRECISION_BITS)
    while value / unit >= 1 << _PRECISION_BITS:
        unit *= 2
    mantissa = value / unit
    below = unit / 4 if mantissa == 1 << (_PRECISION_BITS - 1) else unit / 2
    # Everything below is whole numbers: the value and its neighbourhood times a power of ten, doubled so
    # that halves stay whole.
    place = len(str(top // bottom)) if top >= bottom else 1 - len(str(bottom // top))
    exponent = max(0, _PRECISION_DIGITS - place)
    scale = 10**exponent
    exact_value = value * scale
    low, high = (value - below) * scale, (value + unit / 2) * scale
    closed = mantissa.numerator % 2 == 0
    first, last = 0, place + exponent
    while first < last:  # the most trailing digits that can be dropped
        dropped = (first + last + 1) // 2
        if _nearest_within(exact_value, low, high, 10**dropped, closed=closed) is None:
            last = dropped - 1
        else:
            first = dropped
    digits = _nearest_within(exact_value, low, high, 10**first, closed=closed)
    assert digits is not None, "enough digits always name the number"
    text = str(digits).rjust(exponent + 1, "0")
    return _trim_zeros(f"{text[:-exponent]}.{text[-exponent:]}" if exponent else text)


def _nearest_within(value: Fraction, low: Fraction, high: Fraction, step: int, *, closed: bool) -> int | None:
    """The multiple of `step` nearest to `value` that lies between `low` and `high`, if one does."""
    down = value // step * step
    up = down + step
    down_fits = down > low or (closed and down == low)
    up_fits = up < high or (closed and up == high)
    if down_fits and down > 0 and (not up_fits or value - down <= up - value):
        return down
    return up if up_fits else None


def _trim_zeros(text: str) -> str:
    return text.rstrip("0").rstrip(".") if "." in text else text

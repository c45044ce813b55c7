"""Functions on numbers."""

import math
import string

from yurt.jobspec.hcl import numbers
from yurt.jobspec.hcl.function import ArgumentError, CallError, Parameter, Registry
from yurt.jobspec.hcl.numbers import Number
from yurt.jobspec.hcl.values import ANY, NUMBER, Value, value_type_name

FUNCTIONS = Registry()

_NUM = Parameter("num", NUMBER)
_NUMBERS = Parameter("numbers", NUMBER)
_BASE_MAX = 62
_DIGITS = string.digits + string.ascii_lowercase + string.ascii_uppercase


@FUNCTIONS.add("abs", _NUM)
def _abs(number: Number) -> Number:
    return numbers.magnitude(number)


@FUNCTIONS.add("ceil", _NUM)
def _ceil(number: Number) -> Number:
    return number if isinstance(number, float) and math.isinf(number) else math.ceil(number)


@FUNCTIONS.add("floor", _NUM)
def _floor(number: Number) -> Number:
    return number if isinstance(number, float) and math.isinf(number) else math.floor(number)


@FUNCTIONS.add("signum", _NUM)
def _signum(number: Number) -> Number:
    if not numbers.is_whole(number):
        raise ArgumentError(0, "a whole number is required")
    return (number > 0) - (number < 0)


@FUNCTIONS.add("max", rest=_NUMBERS)
def _max(*values: Number) -> Number:
    if not values:
        raise CallError("must pass at least one number")
    return max(values)


@FUNCTIONS.add("min", rest=_NUMBERS)
def _min(*values: Number) -> Number:
    if not values:
        raise CallError("must pass at least one number")
    return min(values)


@FUNCTIONS.add("log", _NUM, Parameter("base", NUMBER))
def _log(number: Number, base: Number) -> Number:
    try:
        if number == 0:
            return -math.inf
        return numbers.from_float(math.log(number) / math.log(base))
    except (ValueError, ZeroDivisionError):
        raise CallError("the logarithm of these numbers is not a number") from None


@FUNCTIONS.add("pow", _NUM, Parameter("power", NUMBER))
def _pow(number: Number, power: Number) -> Number:
    try:
        return numbers.from_float(math.pow(number, power))
    except OverflowError:
        return math.inf
    except ValueError:
        raise CallError("the result is not a number") from None


@FUNCTIONS.add("parseint", Parameter("number", ANY), Parameter("base", NUMBER))
def _parseint(text: Value, base: Number) -> int:
    if not isinstance(text, str):
        raise ArgumentError(0, f"first argument must be a string, not {value_type_name(text)}")
    if not isinstance(base, int) or not 2 <= base <= _BASE_MAX:
        raise ArgumentError(1, "base must be a whole number between 2 and 62 inclusive")
    digits = text[1:] if text[:1] in ("-", "+") else text
    if base <= len(string.digits + string.ascii_lowercase):
        digits = digits.lower()
    result = 0
    for digit in digits:
        value = _DIGITS.find(digit)
        if not 0 <= value < base:
            digits = ""
            break
        result = result * base + value
    if not digits:
        raise ArgumentError(0, f'cannot parse "{text}" as a base {base} integer')
    try:
        whole = numbers.rounded(-result if text[0] == "-" else result)
    except numbers.NumberTooLarge as error:
        raise ArgumentError(0, str(error)) from None
    assert isinstance(whole, int)
    return whole

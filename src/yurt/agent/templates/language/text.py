"""Values as text, as Go's `print` and `%v` show them."""

from __future__ import annotations

import math
from decimal import Decimal

from yurt.agent.templates.language.values import Record, Value

# Below and from these exponents on, Go writes the shortest form of a fraction with one.
_EXPONENT_MIN = -4
_EXPONENT_LIMIT = 6
NO_VALUE = "<no value>"


def shown(value: Value) -> str:
    """A value as it stands in a rendered file."""
    return NO_VALUE if value is None else text_of(value)


def text_of(value: Value) -> str:
    """A value as `%v` shows it."""
    match value:
        case None:
            return "<nil>"
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int():
            return str(value)
        case float():
            return float_text(value)
        case bytes() | list() | range():
            return f"[{' '.join(map(text_of, value))}]"
        case dict():
            return f"map[{' '.join(f'{text_of(key)}:{text_of(value[key])}' for key in sorted_keys(value))}]"
        case Record():
            own = value.text()
            return own if own is not None else f"{{{' '.join(map(text_of, value.members().values()))}}}"
    raise AssertionError(f"{type(value)} is no value of a template")


def sorted_keys(value: dict[Value, Value]) -> list[Value]:
    """The keys of a map in the order in which templates see them."""
    return sorted(value, key=lambda key: (isinstance(key, str), key))


def float_text(
    value: float, *, exponent_min: int = _EXPONENT_MIN, exponent_limit: int = _EXPONENT_LIMIT
) -> str:
    """The shortest text of a fraction that reads back as the same number."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, _ = Decimal(repr(value)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    minus = "-" if sign else ""
    if value == 0:
        return f"{minus}0"
    exponent = Decimal(repr(value)).adjusted()
    text = text.lstrip("0") or "0"
    if exponent < exponent_min or exponent >= exponent_limit:
        fraction = f".{text[1:]}" if len(text) > 1 else ""
        return f"{minus}{text[0]}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
    if exponent < 0:
        return f"{minus}0.{'0' * (-exponent - 1)}{text}"
    whole = text[: exponent + 1].ljust(exponent + 1, "0")
    fraction = text[exponent + 1 :]
    return f"{minus}{whole}.{fraction}" if fraction else f"{minus}{whole}"

"""Reads single values, as forgiving about quotes as HCL1 is."""

import msgspec

from yurt.config.quantities import parse_duration, parse_size
from yurt.config.schema import KeySpec, Kind
from yurt.jobspec.hcl import LiteralBody, LiteralValue
from yurt.jobspec.hcl.diagnostics import closest_name

_BOOLS = {
    **dict.fromkeys(("1", "t", "T", "true", "True", "TRUE"), True),
    **dict.fromkeys(("0", "f", "F", "false", "False", "FALSE"), False),
}
_SHOWN_CHARACTERS_MAX = 60


class WrongValue(Exception):
    """The value is not of the form that its key asks for; the text says which that is."""


def read_scalar(spec: KeySpec, value: LiteralValue) -> bool | int | float | str:
    """Read a value for a key of one of the scalar kinds. Raises WrongValue."""
    if spec.kind is Kind.TEXT:
        return read_text(value, spec.choices)
    if spec.kind is Kind.BOOL:
        return _read_bool(value)
    number = _read_number(spec.kind, value)
    _check_limits(spec.limits, number)
    return number


def read_text(value: LiteralValue, choices: tuple[str, ...] = (), *, bool_too: bool = False) -> str:
    """Read a string; numbers count as their digits. Raises WrongValue."""
    if isinstance(value, bool):
        if not bool_too:
            raise _expected(Kind.TEXT.value, value)
        return "true" if value else "false"
    if not isinstance(value, str | int | float):
        raise _expected(Kind.TEXT.value, value)
    text = str(value)
    if choices and text not in choices:
        meant = closest_name(text, choices)
        hint = f"; did you mean {meant!r}?" if meant else ""
        raise WrongValue(f"expected one of {', '.join(repr(c) for c in choices)}, got {shown(value)}{hint}")
    return text


def _read_bool(value: LiteralValue) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str | int) and str(value) in _BOOLS:
        return _BOOLS[str(value)]
    raise _expected(Kind.BOOL.value, value)


def _read_number(kind: Kind, value: LiteralValue) -> int | float:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise _expected(kind.value, value)
    try:
        match kind:
            case Kind.DURATION if isinstance(value, str):
                return parse_duration(value)
            case Kind.SIZE if isinstance(value, str | int):
                return parse_size(str(value))
            case Kind.FLOAT:
                return float(value)
            case Kind.INT if not isinstance(value, float) or value.is_integer():
                return int(value)
    except ValueError as error:
        raise _expected(kind.value, value) from error
    raise _expected(kind.value, value)


def _check_limits(limits: msgspec.Meta | None, number: float) -> None:
    if limits is None:
        return
    if limits.ge is not None and number < limits.ge:
        raise WrongValue(f"must be at least {limits.ge}, got {number}")
    if limits.gt is not None and number <= limits.gt:
        raise WrongValue(f"must be more than {limits.gt}, got {number}")
    if limits.le is not None and number > limits.le:
        raise WrongValue(f"must be at most {limits.le}, got {number}")


def _expected(what: str, value: LiteralValue) -> WrongValue:
    return WrongValue(f"expected {what}, got {shown(value)}")


def shown(value: LiteralValue) -> str:
    """A value as messages show it, cut to a readable length."""
    match value:
        case LiteralBody():
            return "a block"
        case list():
            return "a block" if value and isinstance(value[0], LiteralBody) else "a list"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return f'"{value[:_SHOWN_CHARACTERS_MAX]}"'
        case _:
            return str(value)[:_SHOWN_CHARACTERS_MAX]

"""What the operands of constraints and affinities mean."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeAlias

from yurt.model.regexp import BadRegexp, compile_regexp
from yurt.model.versions import Dialect, satisfies

DISTINCT_HOSTS = "distinct_hosts"
DISTINCT_PROPERTY = "distinct_property"

_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1
_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE
)

Compare: TypeAlias = Callable[[str, str], bool]


def holds(left: str | None, operand: str, right: str | None) -> bool:
    """Say whether `left operand right` is true; None is a target that the node does not have.

    Operands nobody knows are false. The two distinct ones are judged elsewhere and pass here.
    """
    if operand in (DISTINCT_HOSTS, DISTINCT_PROPERTY):
        return True
    if operand == "is_set":
        return left is not None
    if operand == "is_not_set":
        return left is None
    if operand in ("!=", "not"):
        return (left or "") != (right or "")
    compare = _COMPARISONS.get(operand)
    return compare is not None and left is not None and right is not None and compare(left, right)


def parse_bool(text: str) -> bool | None:
    """Read a boolean as Go does; None if it is none."""
    return _BOOLEANS.get(text)


def _ordered(compare: Callable[[float | str, float | str], bool]) -> Compare:
    def check(left: str, right: str) -> bool:
        whole = _integer(left), _integer(right)
        if whole[0] is not None and whole[1] is not None:
            return compare(whole[0], whole[1])
        real = _float(left), _float(right)
        if real[0] is not None and real[1] is not None:
            return compare(real[0], real[1])
        return compare(left, right)

    return check


def _integer(text: str) -> int | None:
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if _INT64_MIN <= number <= _INT64_MAX else None


def _float(text: str) -> float | None:
    return float(text) if _FLOAT.fullmatch(text) else None


def _regexp(left: str, right: str) -> bool:
    try:
        return compile_regexp(right).matches(left)
    except BadRegexp:
        return False


def _elements(text: str) -> set[str]:
    return {element.strip() for element in text.split(",")}


_COMPARISONS: dict[str, Compare] = {
    "=": lambda left, right: left == right,
    "==": lambda left, right: left == right,
    "is": lambda left, right: left == right,
    "<": _ordered(lambda left, right: left < right),  # type: ignore[operator]  # both of one kind
    "<=": _ordered(lambda left, right: left <= right),  # type: ignore[operator]
    ">": _ordered(lambda left, right: left > right),  # type: ignore[operator]
    ">=": _ordered(lambda left, right: left >= right),  # type: ignore[operator]
    "version": lambda left, right: satisfies(left, right, Dialect.VERSION),
    "semver": lambda left, right: satisfies(left, right, Dialect.SEMVER),
    "regexp": _regexp,
    "set_contains": lambda left, right: _elements(right) <= _elements(left),
    "set_contains_all": lambda left, right: _elements(right) <= _elements(left),
    "set_contains_any": lambda left, right: not _elements(right).isdisjoint(_elements(left)),
}

_BOOLEANS = {
    **dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True),
    **dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False),
}

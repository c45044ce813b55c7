"""An expression made ready to be tried on many objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeAlias

from yurt.api.filter.errors import FilterFailed
from yurt.api.filter.parse import parse_filter
from yurt.api.filter.syntax import Both, Either, Expression, Match, Not, Quantified
from yurt.api.filter.values import MISSING, Names, contains, equals, finder, is_empty
from yurt.model.regexp import BadRegexp, Regexp, compile_regexp

# Clients repeat the same few expressions, with every blocking query.
COMPILED_MAX = 256

_Test: TypeAlias = Callable[[Any, Names], bool]

_NO_NAMES: Names = {}


class Filter:
    """A test of objects. Raises FilterFailed where the expression does not fit an object."""

    def __init__(self, test: _Test) -> None:
        self._test = test

    def matches(self, value: object) -> bool:
        """Whether the expression holds for `value`."""
        return self._test(value, _NO_NAMES)


@lru_cache(maxsize=COMPILED_MAX)
def compile_filter(text: str) -> Filter:
    """Make an expression ready. Raises FilterUnreadable."""
    return Filter(_test_of(parse_filter(text)))


def _test_of(expression: Expression) -> _Test:
    match expression:
        case Match():
            return _match_test(expression)
        case Not(inner):
            negated = _test_of(inner)
            return lambda value, names: not negated(value, names)
        case Both(left, right):
            first, second = _test_of(left), _test_of(right)
            return lambda value, names: first(value, names) and second(value, names)
        case Either(left, right):
            first, second = _test_of(left), _test_of(right)
            return lambda value, names: first(value, names) or second(value, names)
        case Quantified():
            return _quantified_test(expression)


def _match_test(match: Match) -> _Test:
    holds = _TESTS[match.operator](match.value)
    find, negated = finder(match.selector.path), match.negated
    # What is not there is empty and nil, and otherwise matches nothing.
    when_missing = (match.operator in ("empty", "nil")) != negated

    def test(value: object, names: Names) -> bool:
        found = find(value, names)
        return when_missing if found is MISSING else holds(found) != negated

    return test


def _pattern_test(text: str) -> Callable[[Any], bool]:
    # Compiled at the first object: a list without objects finds no fault with it.
    compiled: list[Regexp] = []

    def test(found: object) -> bool:
        if not compiled:
            try:
                compiled.append(compile_regexp(text))
            except BadRegexp as error:
                raise FilterFailed(f'failed to compile regular expression "{text}": {error}') from None
        if not isinstance(found, str):
            raise FilterFailed("a regular expression can only be matched against text")
        return compiled[0].matches(found)

    return test


_TESTS: Mapping[str, Callable[[str], Callable[[Any], bool]]] = {
    "==": lambda text: lambda found: equals(found, text),
    "in": lambda text: lambda found: contains(found, text),
    "matches": _pattern_test,
    "empty": lambda _text: is_empty,
    "nil": lambda _text: lambda found: found is None,
}


def _quantified_test(quantified: Quantified) -> _Test:
    inner = _test_of(quantified.inner)
    path, key_name, item_name = quantified.selector.path, quantified.key_name, quantified.item_name
    find = finder(path)
    decide = all if quantified.every else any

    def test(value: object, names: Names) -> bool:
        found = find(value, names)
        if found is MISSING or found is None:
            return quantified.every
        pairs: Iterable[tuple[object, object]]
        if isinstance(found, dict):
            # With one name a map's keys are meant, as in Go's range.
            pairs = found.items() if key_name else ((key, key) for key in found)
        elif isinstance(found, (list, tuple)):
            pairs = enumerate(found)
        else:
            raise FilterFailed(f"/{'/'.join(path)} is neither a list nor a map, it cannot be quantified over")
        return decide(
            inner(value, {**names, **_bound(key_name, key), **_bound(item_name, item)}) for key, item in pairs
        )

    return test


def _bound(name: str, value: object) -> Names:
    return {name: value} if name else {}

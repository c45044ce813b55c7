"""Finding values inside objects, and comparing them with the texts of an expression."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, Final, TypeAlias

import msgspec

from yurt.api.filter.errors import FilterFailed

Names: TypeAlias = Mapping[str, Any]
"""What the names bound by quantifiers stand for."""

MISSING: Final = object()
"""What a map does not have."""

Getters: TypeAlias = Mapping[str, Callable[[Any], Any]]

_own_getters: dict[type, Getters] = {}


def define_members(kind: type, getters: Getters) -> None:
    """Say which members objects of `kind` have, where State keeps them in another form than the API's."""
    _own_getters[kind] = getters


def find(value: Any, path: tuple[str, ...], names: Names) -> Any:  # noqa: ANN401 - any part of an object
    """Follow `path` from an object or a bound name; MISSING where a map lacks the key.

    Raises FilterFailed for a member that objects of the kind do not have.
    """
    start = 0
    if path[0] in names:
        value, start = names[path[0]], 1
    for at in range(start, len(path)):
        part = path[at]
        if isinstance(value, msgspec.Struct):
            getter = _getters(type(value)).get(part)
            if getter is None:
                raise _lost(path, at, f"couldn't find key: struct field with name {_quoted(part)}")
            value = getter(value)
        elif isinstance(value, dict):
            value = value.get(part, MISSING)
        elif isinstance(value, (list, tuple)):
            value = _item(value, path, at)
        elif value is not None:
            raise _lost(path, at, f"couldn't find key: {_quoted(part)} in a plain value")
        if value is MISSING or value is None:
            return value if at == len(path) - 1 else MISSING
    return value


def finder(path: tuple[str, ...]) -> Callable[[Any, Names], Any]:
    """Give `find` for one path. Most paths are one member of one kind of object: those are looked up once."""
    if len(path) > 1:
        return lambda value, names: find(value, path, names)
    member = path[0]
    known: dict[type, Callable[[Any], Any]] = {}

    def find_member(value: Any, names: Names) -> Any:  # noqa: ANN401 - any part of an object
        getter = known.get(type(value))
        if getter is not None and member not in names:
            return getter(value)
        if isinstance(value, msgspec.Struct) and member in _getters(type(value)):
            known[type(value)] = _getters(type(value))[member]
        return find(value, path, names)

    return find_member


def equals(found: Any, text: str) -> bool:  # noqa: ANN401 - any part of an object
    """Whether a value equals a text read as the value's type. Raises FilterFailed if it cannot be."""
    if isinstance(found, str):
        return found == text
    if isinstance(found, bool):
        return found is _boolean(text)
    if isinstance(found, int):
        return found == _number(text, int, "ParseInt")
    if isinstance(found, float):
        return found == _number(text, float, "ParseFloat")
    if found is None:
        return False
    if isinstance(found, bytes):
        return found == text.encode()
    # The words that clients know; what it means is that a list, map or object has no one value.
    raise FilterFailed("unable to find suitable primitive comparison function for matching")


def contains(found: Any, text: str) -> bool:  # noqa: ANN401 - any part of an object
    """Whether a list holds a value, a map a key or a text a part."""
    if isinstance(found, (str, dict)):
        return text in found
    if isinstance(found, (list, tuple)):
        return any(equals(item, text) for item in found)
    if found is None:
        return False
    raise FilterFailed("only lists, maps and texts can contain something")


def is_empty(found: Any) -> bool:  # noqa: ANN401 - any part of an object
    """Whether a list, map or text has nothing in it."""
    if found is None:
        return True
    if isinstance(found, (str, bytes, dict, list, tuple)):
        return not found
    raise FilterFailed("only lists, maps and texts can be empty")


@cache
def _getters(kind: type) -> Getters:
    own = _own_getters.get(kind)
    if own is not None:
        return own
    return {field.encode_name: attrgetter(field.name) for field in msgspec.structs.fields(kind)}


def _item(value: Any, path: tuple[str, ...], at: int) -> Any:  # noqa: ANN401 - any item
    part = path[at]
    if not part.isdigit():
        raise _lost(path, at, f"couldn't convert: {_quoted(part)} is not the number of an item")
    if int(part) >= len(value):
        raise _lost(path, at, f"index {part} is out of range (length = {len(value)})")
    return value[int(part)]


def _lost(path: tuple[str, ...], at: int, why: str) -> FilterFailed:
    return FilterFailed(f"error finding value in datum: /{'/'.join(path)} at part {at}: {why}")


_TRUE = frozenset(("1", "t", "T", "TRUE", "true", "True"))
_FALSE = frozenset(("0", "f", "F", "FALSE", "false", "False"))


def _boolean(text: str) -> bool:
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise _not_a(text, "ParseBool")


def _number(text: str, kind: Callable[[str], Any], parser: str) -> int | float:
    try:
        number: int | float = kind(text)
    except ValueError:
        raise _not_a(text, parser) from None
    return number


def _not_a(text: str, parser: str) -> FilterFailed:
    return FilterFailed(
        f"error getting match value in expression: strconv.{parser}: parsing {_quoted(text)}: invalid syntax"
    )


def _quoted(text: str) -> str:
    return f'"{text}"'

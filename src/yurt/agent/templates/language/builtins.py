"""The functions that every template has: comparison, logic, access, text."""

from __future__ import annotations

import html as html_text
import urllib.parse
from collections.abc import Callable, Mapping, Sequence

from yurt.agent.templates.language.function import Function, FunctionFailed, function
from yurt.agent.templates.language.printf import sprintf
from yurt.agent.templates.language.text import text_of
from yurt.agent.templates.language.values import Value, is_true, type_name

# Evaluated by the evaluator itself: arguments after the deciding one are not looked at.
SHORT_CIRCUIT = ("and", "or")


def _kind(value: Value) -> type | None:
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind
    return None


def _equal(first: Value, second: Value) -> bool:
    if first is None or second is None:
        return first is second
    if _kind(first) != _kind(second):
        raise FunctionFailed("incompatible types for comparison")
    if _kind(first) is None:
        raise FunctionFailed(f"non-comparable type {text_of(first)}: {type_name(first)}")
    return bool(first == second)


def _less(first: Value, second: Value) -> bool:
    if _kind(first) is None or _kind(first) is bool or _kind(second) is None:
        raise FunctionFailed("invalid type for comparison")
    if _kind(first) != _kind(second):
        raise FunctionFailed("incompatible types for comparison")
    return bool(first < second)


def eq(first: Value, *others: Value) -> bool:
    if not others:
        raise FunctionFailed("missing argument for comparison")
    return any([_equal(first, other) for other in others])


def ne(first: Value, second: Value) -> bool:
    return not _equal(first, second)


def lt(first: Value, second: Value) -> bool:
    return _less(first, second)


def le(first: Value, second: Value) -> bool:
    return _less(first, second) or _equal(first, second)


def gt(first: Value, second: Value) -> bool:
    return not le(first, second)


def ge(first: Value, second: Value) -> bool:
    return not _less(first, second)


def not_(value: Value) -> bool:
    return not is_true(value)


def length(value: Value) -> int:
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, bytes | list | range | dict):
        return len(value)
    if value is None:
        raise FunctionFailed("len of nil pointer")
    raise FunctionFailed(f"len of type {type_name(value)}")


def index(of: Value, *keys: Value) -> Value:
    for key in keys:
        of = _item(of, key)
    return of


def _item(of: Value, key: Value) -> Value:
    if of is None:
        raise FunctionFailed("index of untyped nil")
    if isinstance(of, dict):
        if key is None:
            raise FunctionFailed("value is nil; should be of type string")
        if not isinstance(key, str | int):
            raise FunctionFailed(f"value has type {type_name(key)}; should be string")
        return of.get(key)
    if isinstance(of, str):
        of = of.encode()
    if not isinstance(of, bytes | list | range):
        raise FunctionFailed(f"can't index item of type {type_name(of)}")
    return of[_place(key, len(of) - 1)]


def _place(key: Value, most: int) -> int:
    if key is None:
        raise FunctionFailed("cannot index slice/array with nil")
    if type(key) is not int:
        raise FunctionFailed(f"cannot index slice/array with type {type_name(key)}")
    if not 0 <= key <= most:
        raise FunctionFailed(f"index out of range: {key}")
    return key


def slice_(of: Value, *bounds: Value) -> Value:
    if of is None:
        raise FunctionFailed("slice of untyped nil")
    if len(bounds) > 3:
        raise FunctionFailed(f"too many slice indexes: {len(bounds)}")
    if not isinstance(of, str | bytes | list | range):
        raise FunctionFailed(f"can't slice item of type {type_name(of)}")
    whole: Sequence[Value] = of.encode() if isinstance(of, str) else of
    places = [_place(bound, len(whole)) for bound in bounds[:2]]
    if len(places) == 2 and places[0] > places[1]:
        raise FunctionFailed(f"invalid slice index: {places[0]} > {places[1]}")
    part = whole[slice(places[0] if places else 0, places[1] if len(places) == 2 else None)]
    return part.decode(errors="replace") if isinstance(of, str) and isinstance(part, bytes) else part


def print_(*values: Value) -> str:
    """Join values; blanks come only between two that are not text."""
    parts: list[str] = []
    for number, value in enumerate(values):
        if number and not isinstance(value, str) and not isinstance(values[number - 1], str):
            parts.append(" ")
        parts.append(text_of(value))
    return "".join(parts)


def println(*values: Value) -> str:
    return " ".join(map(text_of, values)) + "\n"


def printf(form: str, *values: Value) -> str:
    return sprintf(form, values)


def html(*values: Value) -> str:
    text = html_text.escape(_joined(values), quote=False)
    return text.replace('"', "&#34;").replace("'", "&#39;").replace("\0", "\ufffd")


_JS = {
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
    "<": "\\u003C",
    ">": "\\u003E",
    "&": "\\u0026",
    "=": "\\u003D",
}


def js(*values: Value) -> str:
    return "".join(
        _JS.get(each) or (f"\\u{ord(each):04X}" if ord(each) < 0x20 else each) for each in _joined(values)
    )


def urlquery(*values: Value) -> str:
    return urllib.parse.quote_plus(_joined(values), safe="-_.~")


def call(value: Value, *_args: Value) -> Value:
    if value is None:
        raise FunctionFailed("call of nil")
    raise FunctionFailed(f"non-function {text_of(value)} of type {type_name(value)}")


def _joined(values: Sequence[Value]) -> str:
    return values[0] if len(values) == 1 and isinstance(values[0], str) else print_(*values)


_ALL: Mapping[str, Callable[..., Value]] = {
    "eq": eq,
    "ne": ne,
    "lt": lt,
    "le": le,
    "gt": gt,
    "ge": ge,
    "not": not_,
    "len": length,
    "index": index,
    "slice": slice_,
    "print": print_,
    "printf": printf,
    "println": println,
    "html": html,
    "js": js,
    "urlquery": urlquery,
    "call": call,
}
BUILTINS: Mapping[str, Function] = {name: function(made) for name, made in _ALL.items()}

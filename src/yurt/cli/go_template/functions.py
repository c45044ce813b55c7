"""The functions of templates: Go's own, and the common ones of the Sprig set under `sprig_`."""

import base64
import json
import re
from collections.abc import Callable
from functools import cmp_to_key
from typing import Any, Final

from yurt.cli.floats import show_float
from yurt.cli.go_template.nodes import TemplateError

MISSING: Final = object()


def show(value: object) -> str:
    """Write a value the way Go's `%v` does."""
    if value is MISSING:
        return "<no value>"
    if value is None:
        return "<nil>"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return show_float(value)
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{show(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list | tuple):
        return "[" + " ".join(show(item) for item in value) + "]"
    return str(value)


def truth(value: object) -> bool:
    """Whether Go takes a value for true: not empty, not zero, not missing."""
    return value is not MISSING and bool(value)


def _length(value: object) -> int:
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, list | dict | tuple):
        return len(value)
    if value is None:
        return 0
    raise TemplateError(f"error calling len: len of type {type(value).__name__}")


def _index(value: Any, *keys: Any) -> object:  # noqa: ANN401 # JSON of any shape
    for key in keys:
        if isinstance(value, dict):
            value = value.get(key, "")
        elif isinstance(value, list) and isinstance(key, int):
            if not 0 <= key < len(value):
                raise TemplateError(f"error calling index: index out of range: {key}")
            value = value[key]
        else:
            raise TemplateError(f"error calling index: can't index item of type {type(value).__name__}")
    result: object = value
    return result


def _slice(value: Any, *bounds: int) -> object:  # noqa: ANN401 # a text or a list
    result: object = value[slice(*bounds)] if bounds else value
    return result


def _and(*values: object) -> object:
    return next((value for value in values if not truth(value)), values[-1])


def _or(*values: object) -> object:
    return next((value for value in values if truth(value)), values[-1])


def _compare(left: Any, right: Any) -> int:  # noqa: ANN401 # numbers or texts
    numeric = isinstance(left, int | float) and isinstance(right, int | float)
    if not numeric and not (isinstance(left, str) and isinstance(right, str)):
        raise TemplateError("incompatible types for comparison")
    return int(left > right) - int(left < right)


def _printf(form: str, *values: object) -> str:
    remaining = list(values)

    def fill(match: re.Match[str]) -> str:
        flags, verb = match[1], match[2]
        if verb == "%":
            return "%"
        if not remaining:
            return f"%!{verb}(MISSING)"
        value = remaining.pop(0)
        if verb == "q":
            return json.dumps(show(value), ensure_ascii=False)
        if verb in "dxXocb" and isinstance(value, int):
            return f"{value:b}" if verb == "b" else f"%{flags}{verb}" % value
        if verb in "feEgG" and isinstance(value, int | float):
            return f"%{flags}{verb}" % value
        return f"%{flags}s" % show(value) if verb in "vst" else f"%!{verb}({show(value)})"

    return re.sub(r"%([-+ #0]*\d*(?:\.\d+)?)([a-zA-Z%])", fill, form)


def _print(*values: object) -> str:
    text = ""
    for position, value in enumerate(values):
        # Go puts a blank between two operands when neither is a text.
        if position and not isinstance(value, str) and not isinstance(values[position - 1], str):
            text += " "
        text += show(value)
    return text


def _sprig_default(fallback: object, value: object = MISSING) -> object:
    return value if truth(value) else fallback


def _sorted(values: list[Any]) -> list[Any]:
    return sorted(values, key=cmp_to_key(lambda left, right: _compare(show(left), show(right))))


FUNCTIONS: dict[str, Callable[..., object]] = {
    "and": _and,
    "or": _or,
    "not": lambda value: not truth(value),
    "len": _length,
    "index": _index,
    "slice": _slice,
    "print": _print,
    "println": lambda *values: " ".join(show(value) for value in values) + "\n",
    "printf": _printf,
    "eq": lambda left, *others: any(left == other for other in others),
    "ne": lambda left, right: left != right,
    "lt": lambda left, right: _compare(left, right) < 0,
    "le": lambda left, right: _compare(left, right) <= 0,
    "gt": lambda left, right: _compare(left, right) > 0,
    "ge": lambda left, right: _compare(left, right) >= 0,
    "sprig_upper": lambda text: show(text).upper(),
    "sprig_lower": lambda text: show(text).lower(),
    "sprig_title": lambda text: show(text).title(),
    "sprig_trim": lambda text: show(text).strip(),
    "sprig_trimPrefix": lambda prefix, text: text.removeprefix(prefix),
    "sprig_trimSuffix": lambda suffix, text: text.removesuffix(suffix),
    "sprig_replace": lambda old, new, text: text.replace(old, new),
    "sprig_contains": lambda part, text: part in text,
    "sprig_hasPrefix": lambda prefix, text: text.startswith(prefix),
    "sprig_hasSuffix": lambda suffix, text: text.endswith(suffix),
    "sprig_quote": lambda *values: " ".join(json.dumps(show(value), ensure_ascii=False) for value in values),
    "sprig_squote": lambda *values: " ".join(f"'{show(value)}'" for value in values),
    "sprig_trunc": lambda count, text: text[:count] if count >= 0 else text[count:],
    "sprig_join": lambda separator, values: separator.join(show(value) for value in values),
    "sprig_splitList": lambda separator, text: text.split(separator),
    "sprig_default": _sprig_default,
    "sprig_empty": lambda value: not truth(value),
    "sprig_ternary": lambda yes, no, test: yes if truth(test) else no,
    "sprig_first": lambda values: values[0] if values else None,
    "sprig_last": lambda values: values[-1] if values else None,
    "sprig_keys": lambda *values: [key for value in values for key in value],
    "sprig_values": lambda value: list(value.values()),
    "sprig_hasKey": lambda value, key: key in value,
    "sprig_list": lambda *values: list(values),
    "sprig_sortAlpha": _sorted,
    "sprig_toJson": lambda value: json.dumps(value, ensure_ascii=False, separators=(",", ":")),
    "sprig_toPrettyJson": lambda value: json.dumps(value, ensure_ascii=False, indent=2),
    "sprig_b64enc": lambda text: base64.b64encode(text.encode()).decode(),
    "sprig_b64dec": lambda text: base64.b64decode(text).decode(errors="replace"),
    "sprig_add": lambda *values: sum(int(value) for value in values),
    "sprig_sub": lambda left, right: int(left) - int(right),
    "sprig_mul": lambda left, right: int(left) * int(right),
    "sprig_div": lambda left, right: int(int(left) / int(right)),
    "sprig_int": int,
    "sprig_toString": show,
}

"""JSON as the language's functions write and read it."""

import json
import re
from fractions import Fraction

from yurt.jobspec.hcl.function import CallError
from yurt.jobspec.hcl.limits import VALUE_DEPTH_MAX
from yurt.jobspec.hcl.numbers import Number, NumberTooLarge, format_number, parse_number
from yurt.jobspec.hcl.values import Value, elements, members

_ESCAPED = re.compile(r'["\\\x00-\x1f<>&\u2028\u2029]')
_TOO_DEEP = "the value is nested too deeply"
_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def json_text(value: Value) -> str:
    """`value` as compact JSON with sorted keys, safe to stand inside HTML."""
    if isinstance(value, str):
        return json_string(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Fraction | float):
        return _number_text(value)
    items = elements(value)
    if items is not None:
        return "[" + ",".join(json_text(item) for item in items) + "]"
    named = members(value)
    assert named is not None, "unknown values never reach functions"
    return "{" + ",".join(f"{json_string(key)}:{json_text(named[key])}" for key in sorted(named)) + "}"


def json_string(text: str) -> str:
    return '"' + _ESCAPED.sub(lambda m: _SHORT_ESCAPES.get(m[0]) or f"\\u{ord(m[0]):04x}", text) + '"'


def json_value(text: str) -> Value:
    """The value that a JSON text stands for. Raises CallError."""
    try:
        decoded = json.loads(text, parse_int=parse_number, parse_float=parse_number, parse_constant=_refused)
    except json.JSONDecodeError as error:
        if error.pos >= len(text.rstrip()):
            raise CallError("EOF") from None
        raise CallError(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except NumberTooLarge as error:
        raise CallError(str(error)) from None
    except RecursionError:
        raise CallError(_TOO_DEEP) from None
    return _tuples(decoded)


def _refused(word: str) -> Value:
    raise CallError(f"invalid value {word}")


def _tuples(decoded: object, depth: int = 0) -> Value:
    """Python's decoded JSON with tuples for its lists."""
    if depth > VALUE_DEPTH_MAX:
        raise CallError(_TOO_DEEP)
    if isinstance(decoded, list):
        return tuple([_tuples(item, depth + 1) for item in decoded])
    if isinstance(decoded, dict):
        return {key: _tuples(item, depth + 1) for key, item in decoded.items()}
    assert decoded is None or isinstance(decoded, str | bool | int | Fraction | float)
    return decoded


def _number_text(number: Number) -> str:
    text = format_number(number)
    if text.endswith("Inf"):
        raise CallError("cannot serialize infinity as JSON")
    return text

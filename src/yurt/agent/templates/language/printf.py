"""Go's `printf`: texts made of values, as verbs say."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from yurt.agent.templates.language.function import FunctionFailed
from yurt.agent.templates.language.text import float_text, sorted_keys, text_of
from yurt.agent.templates.language.values import Value, type_name
from yurt.model.go_text import quoted

WIDTH_MAX = 10_000

_AT = r"(?:\[(\d+)\])?"
_VERB = re.compile(rf"%([+\-# 0]*){_AT}(\*|\d+)?(?:(\.){_AT}(\*|\d+)?)?{_AT}(.)?", re.DOTALL)


class _Arguments:
    """What is to be written: taken one after the other, unless a number says which."""

    def __init__(self, values: Sequence[Value]) -> None:
        self._values = values
        self._next = 0
        self._is_reordered = False

    def go_to(self, number: str | None) -> bool:
        """Make the argument of this number the next, if one is given; False when there is none."""
        if number is not None:
            self._is_reordered = True
            self._next = int(number) - 1
        return number is None or 0 <= self._next < len(self._values)

    @property
    def are_left(self) -> bool:
        return 0 <= self._next < len(self._values)

    def take(self) -> Value:
        self._next += 1
        return self._values[self._next - 1]

    @property
    def extra(self) -> Sequence[Value]:
        """What nobody asked for; numbers may leave out what they like."""
        return () if self._is_reordered else self._values[self._next :]


class _Form(msgspec.Struct, frozen=True):
    """What a verb asks for besides itself."""

    flags: str = ""
    width: int = 0
    precision: int | None = None


def sprintf(form: str, args: Sequence[Value]) -> str:
    """Write `args` as `form` says; what does not fit together is told in the text. Raises FunctionFailed."""
    left = _Arguments(args)
    parts: list[str] = []
    at = 0
    while (start := form.find("%", at)) >= 0:
        found = _VERB.match(form, start)
        assert found is not None
        parts.append(form[at:start])
        parts.append(_one(found, left))
        at = found.end()
    parts.append(form[at:])
    if extra := left.extra:
        written = ", ".join(
            "<nil>" if value is None else f"{type_name(value)}={text_of(value)}" for value in extra
        )
        parts.append(f"%!(EXTRA {written})")
    return "".join(parts)


def _one(found: re.Match[str], left: _Arguments) -> str:
    flags, width_at, width, dot, precision_at, precision, value_at, verb = found.groups()
    if verb is None:
        return "%!(NOVERB)"
    is_there = left.go_to(width_at)
    wide = _amount(width, left)
    is_there = left.go_to(precision_at) and is_there
    exact = _amount(precision, left) if dot else None
    is_there = left.go_to(value_at) and is_there
    if verb == "%":
        return "%"
    if not is_there:
        return f"%!{verb}(BADINDEX)"
    if not left.are_left:
        return f"%!{verb}(MISSING)"
    if wide < 0:
        flags, wide = flags + "-", -wide
    if max(wide, exact or 0) > WIDTH_MAX:
        raise FunctionFailed(f"widths and precisions may not exceed {WIDTH_MAX}")
    return _padded(left.take(), verb, _Form(flags, wide, exact))


def _amount(text: str | None, left: _Arguments) -> int:
    if text == "*":
        value = left.take() if left.are_left else 0
        return value if isinstance(value, int) else 0
    return min(int(text), WIDTH_MAX + 1) if text else 0


def _padded(value: Value, verb: str, form: _Form) -> str:
    if isinstance(value, list | range | dict) and verb not in "vTp":
        return _each(value, verb, form)
    writer = _WRITERS.get(verb)
    text = writer(value, form) if writer else None
    if text is None:
        nothing = "<nil>" if value is None else f"{type_name(value)}={text_of(value)}"
        return f"%!{verb}({nothing})"
    room = form.width - len(text)
    if room <= 0:
        return text
    if "-" in form.flags:
        return text + " " * room
    if "0" in form.flags and not (verb in "dxXob" and form.precision is not None):
        sign = text[:1] if text[:1] in ("+", "-") else ""
        return sign + "0" * room + text[len(sign) :]
    return " " * room + text


def _each(value: list[Value] | range | dict[Value, Value], verb: str, form: _Form) -> str:
    """Apply a verb to all that a list or map holds."""
    if isinstance(value, dict):
        inner = (
            f"{_padded(key, verb, form)}:{_padded(value[key], verb, form)}" for key in sorted_keys(value)
        )
        return f"map[{' '.join(inner)}]"
    return f"[{' '.join(_padded(item, verb, form) for item in value)}]"


def _as_text(value: Value, form: _Form) -> str | None:
    if isinstance(value, bytes):
        text = value.decode(errors="replace")
    elif isinstance(value, str) or (not isinstance(value, bool | int | float) and value is not None):
        text = text_of(value)
    else:
        return None
    return text[: form.precision] if form.precision is not None else text


def _as_value(value: Value, form: _Form) -> str:
    if "#" in form.flags:
        return _as_source(value)
    if isinstance(value, float) and form.precision is not None:
        return _as_fraction(value, form, "g") or ""
    if isinstance(value, str | bytes):
        return _as_text(value, form) if isinstance(value, str) else text_of(value)  # type: ignore[return-value]
    text = text_of(value)
    return f"+{text}" if "+" in form.flags and type(value) in (int, float) and value >= 0 else text


def _as_source(value: Value) -> str:
    """A value as Go's own source would have it."""
    match value:
        case str():
            return quoted(value)
        case list() | range():
            return f"{type_name(value)}{{{', '.join(map(_item_as_source, value))}}}"
        case dict():
            pairs = (f"{_as_source(key)}:{_item_as_source(value[key])}" for key in sorted_keys(value))
            return f"{type_name(value)}{{{', '.join(pairs)}}}"
    return text_of(value)


def _item_as_source(value: Value) -> str:
    return "interface {}(nil)" if value is None else _as_source(value)


def _as_quoted(value: Value, _form: _Form) -> str | None:
    if type(value) is int:
        return f"'{chr(value)}'" if 0 <= value <= 0x10FFFF else "'\\ufffd'"
    text = _as_text(value, _Form())
    return quoted(text) if text is not None else None


def _integer(base: str) -> Callable[[Value, _Form], str | None]:
    def write(value: Value, form: _Form) -> str | None:
        if base in "xX" and isinstance(value, str | bytes):
            data = value.encode() if isinstance(value, str) else value
            return data.hex() if base == "x" else data.hex().upper()
        if type(value) is not int:
            return None
        digits = f"{abs(value):{base}}".rjust(form.precision or 0, "0")
        prefix = {"x": "0x", "X": "0X", "o": "0", "b": "0b"}.get(base, "") if "#" in form.flags else ""
        sign = "-" if value < 0 else "+" if "+" in form.flags else " " if " " in form.flags else ""
        return f"{sign}{prefix}{digits}"

    return write


def _as_fraction(value: Value, form: _Form, verb: str) -> str | None:
    if not isinstance(value, float):
        return None
    if verb in "gG" and form.precision is None:
        text = float_text(value)
    else:
        text = f"{value:.{6 if form.precision is None else form.precision}{verb}}"
    return f"+{text}" if "+" in form.flags and value >= 0 else text


def _fraction(verb: str) -> Callable[[Value, _Form], str | None]:
    return lambda value, form: _as_fraction(value, form, verb)


def _as_character(value: Value, _form: _Form) -> str | None:
    return chr(value) if type(value) is int and 0 <= value <= 0x10FFFF else None


def _as_code_point(value: Value, _form: _Form) -> str | None:
    return f"U+{value:04X}" if type(value) is int else None


def _as_truth(value: Value, _form: _Form) -> str | None:
    return text_of(value) if isinstance(value, bool) else None


_WRITERS: dict[str, Callable[[Value, _Form], str | None]] = {
    "v": _as_value,
    "s": _as_text,
    "q": _as_quoted,
    "t": _as_truth,
    "T": lambda value, _form: type_name(value),
    "c": _as_character,
    "U": _as_code_point,
    "d": _integer("d"),
    "x": _integer("x"),
    "X": _integer("X"),
    "o": _integer("o"),
    "b": _integer("b"),
    "e": _fraction("e"),
    "E": _fraction("E"),
    "f": _fraction("f"),
    "F": _fraction("f"),
    "g": _fraction("g"),
    "G": _fraction("G"),
}

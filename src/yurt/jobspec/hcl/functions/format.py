"""Formatted text: `format` and `formatlist`."""

import re
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from yurt.jobspec.hcl import numbers
from yurt.jobspec.hcl.conversion import ConversionError, to_bool, to_number, to_text
from yurt.jobspec.hcl.function import ArgumentError, CallError, Parameter, Registry
from yurt.jobspec.hcl.functions.json_text import json_text
from yurt.jobspec.hcl.functions.text import check_length
from yurt.jobspec.hcl.graphemes import grapheme_count, graphemes
from yurt.jobspec.hcl.numbers import Number
from yurt.jobspec.hcl.values import ANY, STRING, ListValue, Value, elements

FUNCTIONS = Registry()

_FORMAT = Parameter("format", STRING)
_ARGS = Parameter("args", ANY, may_be_null=True)
_VERB = re.compile(
    r"%(?P<flags>[-+# 0]*)(?P<width>\d*)(?:\.(?P<precision>\d*))?(?:\[(?P<index>\d+)\])?(?P<verb>.?)",
    re.DOTALL,
)
_WIDTH_MAX = 4096
_INTEGER_VERBS = {"b": "b", "o": "o", "x": "x", "X": "X", "d": "d"}
_FLOAT_VERBS = "eEfgG"


@FUNCTIONS.add("format", _FORMAT, rest=_ARGS)
def _format(template: str, *arguments: Value) -> str:
    return _Formatter(template, arguments).text()


@FUNCTIONS.add("formatlist", _FORMAT, rest=_ARGS)
def _formatlist(template: str, *arguments: Value) -> ListValue:
    length, first = None, 0
    for index, argument in enumerate(arguments):
        items = elements(argument)
        if items is None:
            continue
        if length is None:
            length, first = len(items), index
        elif len(items) != length:
            raise ArgumentError(
                index + 1,
                f"argument {index + 1} has length {len(items)}, which is inconsistent with "
                f"argument {first + 1} of length {length}",
            )
    columns = [elements(argument) for argument in arguments]
    texts = []
    for row in range(1 if length is None else length):
        cells = [a if column is None else column[row] for a, column in zip(arguments, columns, strict=True)]
        texts.append(_Formatter(template, cells).text())
        check_length(sum(map(len, texts)))
    return ListValue(tuple(texts), STRING)


class _Formatter:
    def __init__(self, template: str, arguments: Sequence[Value]) -> None:
        self.template = template
        self.arguments = arguments
        self.next = 0  # the argument that a verb without index takes
        self.used = 0

    def text(self) -> str:
        result: list[str] = []
        pos, length = 0, 0
        for match in _VERB.finditer(self.template):
            result.append(self.template[pos : match.start()])
            result.append(self._verb(match))
            length += len(result[-1]) + len(result[-2])
            check_length(length)
            pos = match.end()
        result.append(self.template[pos:])
        if self.used < len(self.arguments):
            raise ArgumentError(self.used + 1, f"too many arguments; only {self.used} used by format string")
        return "".join(result)

    def _verb(self, match: re.Match[str]) -> str:
        verb = match["verb"]
        if match[0] == "%%":
            return "%"
        if not verb:
            raise CallError(f"the format string ends in the middle of a verb at {match.start()}")
        if verb not in "vqst" + "".join(_INTEGER_VERBS) + _FLOAT_VERBS:
            raise CallError(f'unrecognized format character "{verb}" at offset {match.end() - 1}')
        index = int(match["index"]) if match["index"] else self.next + 1
        if not 1 <= index <= len(self.arguments):
            raise CallError(
                f'not enough arguments for "{match[0]}" at {match.start()}: need index {index} but have '
                f"{len(self.arguments)} total"
            )
        self.next = index
        self.used = max(self.used, index)
        try:
            return _formatted(match, self.arguments[index - 1])
        except ConversionError as error:
            raise CallError(f'unsupported value for "{match[0]}" at {match.start()}: {error}') from None


def _formatted(match: re.Match[str], value: Value) -> str:
    verb, flags = match["verb"], match["flags"]
    width = int(match["width"] or 0)
    precision = None if match["precision"] is None else int(match["precision"] or 0)
    if max(width, precision or 0) > _WIDTH_MAX:
        raise ConversionError(f"width and precision must be at most {_WIDTH_MAX}")
    if verb == "v":
        if "#" in flags or value is None or not isinstance(value, str | bool | int | Fraction | float):
            return _padded(json_text(value), flags, width)
        verb = "s" if isinstance(value, str) else "t" if isinstance(value, bool) else "plain"
    if value is None:
        raise ConversionError("null value cannot be formatted")
    if verb in "sqt":
        return _padded(_text(verb, value, precision), flags, width)
    number = to_number(value)
    assert isinstance(number, int | Fraction | float)
    return _number(verb, number, flags, width, precision)


def _text(verb: str, value: Value, precision: int | None) -> str:
    if verb == "t":
        return "true" if to_bool(value) else "false"
    text = to_text(value)
    assert isinstance(text, str)
    if precision is not None:
        text = "".join(graphemes(text)[:precision])
    return json_text(text) if verb == "q" else text


def _number(verb: str, number: Number, flags: str, width: int, precision: int | None) -> str:
    if verb == "plain":
        digits = numbers.format_number(numbers.magnitude(number)).removeprefix("+")
    elif verb in _INTEGER_VERBS:
        if not numbers.is_whole(number):
            raise ConversionError("an integer is required")
        digits = format(abs(int(number)), _INTEGER_VERBS[verb])
    else:
        digits = _float_digits(verb, numbers.magnitude(number), precision)
    sign = "-" if number < 0 else "+" if "+" in flags else " " if " " in flags else ""
    if "0" in flags and "-" not in flags:
        return sign + digits.rjust(width - len(sign), "0")
    return _padded(sign + digits, flags, width)


def _float_digits(verb: str, number: Number, precision: int | None) -> str:
    if verb in "gG" and precision is None:
        text = repr(float(number)).removesuffix(".0")
        return text.upper() if verb == "G" else text
    if verb == "f" and isinstance(number, Fraction | int):
        exact = Decimal(number.numerator) / Decimal(number.denominator)
        return format(exact, f".{6 if precision is None else precision}f")
    return format(float(number), f".{6 if precision is None else precision}{verb}")


def _padded(text: str, flags: str, width: int) -> str:
    missing = width - grapheme_count(text)
    if missing <= 0:
        return text
    return text + " " * missing if "-" in flags else " " * missing + text

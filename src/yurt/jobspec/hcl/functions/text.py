"""Functions on strings."""

import re

from yurt.jobspec.hcl.function import ArgumentError, CallError, Parameter, Registry
from yurt.jobspec.hcl.graphemes import grapheme_count, graphemes
from yurt.jobspec.hcl.limits import STRING_CHARACTERS_MAX
from yurt.jobspec.hcl.meter import Meter
from yurt.jobspec.hcl.numbers import Number
from yurt.jobspec.hcl.values import NUMBER, STRING, ListType, ListValue
from yurt.model.regexp_replace import replace_all
from yurt.model.regexp_syntax import BadRegexp

FUNCTIONS = Registry()

_STR = Parameter("str", STRING)
_CHARACTERS_PER_STEP = 4  # finding the characters people see takes a look at each
_TRAILING_NEWLINES = re.compile(r"(?:\r\n?|\n)+\Z")


@FUNCTIONS.add("upper", _STR)
def _upper(text: str) -> str:
    return "".join(c.upper() if len(c.upper()) == 1 else c for c in text)


@FUNCTIONS.add("lower", _STR)
def _lower(text: str) -> str:
    return "".join(c.lower() if len(c.lower()) == 1 else c for c in text)


@FUNCTIONS.add("title", _STR)
def _title(text: str) -> str:
    """Upper-case each letter that follows a separator; digits and `_` are none."""
    result = []
    after_separator = True
    for char in text:
        title = char.title()
        result.append(title if after_separator and len(title) == 1 else char)
        after_separator = not (char.isalnum() or char == "_") if char.isascii() else char.isspace()
    return "".join(result)


@FUNCTIONS.add("trim", _STR, Parameter("cutset", STRING))
def _trim(text: str, characters: str) -> str:
    return text.strip(characters) if characters else text


@FUNCTIONS.add("trimprefix", _STR, Parameter("prefix", STRING))
def _trimprefix(text: str, prefix: str) -> str:
    return text.removeprefix(prefix)


@FUNCTIONS.add("trimsuffix", _STR, Parameter("suffix", STRING))
def _trimsuffix(text: str, suffix: str) -> str:
    return text.removesuffix(suffix)


@FUNCTIONS.add("trimspace", _STR)
def _trimspace(text: str) -> str:
    return text.strip()


@FUNCTIONS.add("chomp", _STR)
def _chomp(text: str) -> str:
    return _TRAILING_NEWLINES.sub("", text)


@FUNCTIONS.add("strlen", _STR, takes_meter=True)
def _strlen(meter: Meter, text: str) -> int:
    meter.charge(len(text) // _CHARACTERS_PER_STEP)
    return grapheme_count(text)


@FUNCTIONS.add("substr", _STR, Parameter("offset", NUMBER), Parameter("length", NUMBER), takes_meter=True)
def _substr(meter: Meter, text: str, offset: Number, length: Number) -> str:
    if not isinstance(offset, int):
        raise ArgumentError(1, "a whole number is required")
    if not isinstance(length, int):
        raise ArgumentError(2, "a whole number is required")
    meter.charge(len(text) // _CHARACTERS_PER_STEP)
    characters = graphemes(text)
    start = max(0, offset + len(characters)) if offset < 0 else offset
    return "".join(characters[start:] if length < 0 else characters[start : start + length])


@FUNCTIONS.add("reverse", _STR, takes_meter=True)
@FUNCTIONS.add("strrev", _STR, takes_meter=True)
def _reverse(meter: Meter, text: str) -> str:
    meter.charge(len(text) // _CHARACTERS_PER_STEP)
    return "".join(reversed(graphemes(text)))


@FUNCTIONS.add("replace", _STR, Parameter("substr", STRING), Parameter("replace", STRING))
def _replace(text: str, old: str, new: str) -> str:
    check_length(len(text) + text.count(old) * (len(new) - len(old)))
    return text.replace(old, new)


@FUNCTIONS.add(
    "regex_replace",
    _STR,
    Parameter("pattern", STRING),
    Parameter("replace", STRING),
    takes_meter=True,
)
def _regex_replace(meter: Meter, text: str, pattern: str, replacement: str) -> str:
    try:
        result = replace_all(pattern, replacement, text, chars_max=STRING_CHARACTERS_MAX, charge=meter.charge)
    except BadRegexp as error:
        raise CallError(str(error)) from None
    if result is None:
        raise _too_long()
    return result


@FUNCTIONS.add("split", Parameter("separator", STRING), _STR)
def _split(separator: str, text: str) -> ListValue:
    return ListValue(tuple(text.split(separator) if separator else text), STRING)


@FUNCTIONS.add("join", Parameter("separator", STRING), rest=Parameter("lists", ListType(STRING)))
def _join(separator: str, *lists: ListValue) -> str:
    texts = []
    for position, items in enumerate(lists, 1):
        for index, item in enumerate(items.items):
            if not isinstance(item, str):
                raise ArgumentError(position, f"element {index} is null; cannot concatenate null values")
            texts.append(item)
    check_length(sum(map(len, texts)) + len(separator) * len(texts))
    return separator.join(texts)


@FUNCTIONS.add("indent", Parameter("spaces", NUMBER), _STR)
def _indent(spaces: Number, text: str) -> str:
    if not isinstance(spaces, int) or spaces < 0:
        raise ArgumentError(0, "a whole number of spaces is required")
    check_length(len(text) + spaces * text.count("\n"))
    return text.replace("\n", "\n" + " " * spaces)


def check_length(characters: int) -> None:
    """Refuse to build a string of so many characters."""
    if characters > STRING_CHARACTERS_MAX:
        raise _too_long()


def _too_long() -> CallError:
    return CallError(f"the result would be longer than {STRING_CHARACTERS_MAX} characters")

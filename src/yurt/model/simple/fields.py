"""Reading the members of a JSON document, with errors that name the member."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from yurt.errors import YurtError
from yurt.model.go_json import Json

TEXT_CHARS_MAX = 10_000
# Above anything a machine has; sums over many of them still fit into 64 bits.
AMOUNT_MAX = 1 << 40
# The end of the year 2261, the last whole one that nanoseconds in 64 bits reach.
TIME_S_MAX = 9_214_646_400


class BadField(YurtError):
    """A member of a document is missing or is not what it should be."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(f"{name}: {problem}" if name else problem)
        self.name = name
        self.problem = problem


def read_document(body: bytes) -> Fields:
    """Decode a request body, which must be one JSON object. Raises BadField."""
    if not body.strip():
        raise BadField("", "the request has no body; send a JSON object")
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadField("", f"the request body is not valid JSON: {error}") from None
    return Fields(value)


class Fields:
    """A JSON object and where it stands. Every reader raises BadField; null counts as absent."""

    def __init__(self, value: Json, at: str = "") -> None:
        if type(value) is not dict:
            raise BadField(at, f"must be an object, not {kind_of(value)}")
        self.value: Mapping[str, Any] = value
        self.at = at

    def path(self, name: str) -> str:
        """The whole name of a member."""
        return f"{self.at}.{name}" if self.at else name

    def bad(self, name: str, problem: str) -> BadField:
        """The error for a member."""
        return BadField(self.path(name), problem)

    def has(self, name: str) -> bool:
        """Whether a member is there."""
        return self.value.get(name) is not None

    def text(self, name: str, default: str | None = None) -> str:
        """A text; one without a default must be there, and not empty."""
        value = self.value.get(name)
        if value is None and default is not None:
            return default
        self._check_there(name)
        if type(value) is not str:
            raise self.bad(name, f"must be a text, not {kind_of(value)}")
        if not value and default is None:
            raise self.bad(name, "must not be empty")
        if len(value) > TEXT_CHARS_MAX:
            raise self.bad(name, f"must not be longer than {TEXT_CHARS_MAX} characters")
        if "\0" in value:
            raise self.bad(name, "must not contain a null character")
        return value

    def flag(self, name: str) -> bool:
        """A boolean that must be there."""
        value = self._check_there(name)
        if type(value) is not bool:
            raise self.bad(name, f"must be true or false, not {kind_of(value)}")
        return value

    def amount(self, name: str, default: float | None = None) -> float:
        """A number from 0 to AMOUNT_MAX; one without a default must be there."""
        if default is not None and not self.has(name):
            return default
        return self._number(name, AMOUNT_MAX)

    def number(self, name: str) -> float:
        """Any number that must be there."""
        value = self._check_there(name)
        if type(value) not in (int, float):
            raise self.bad(name, f"must be a number, not {kind_of(value)}")
        number: float = value
        return number

    def time(self, name: str) -> float | None:
        """A time in Unix seconds; None where there is none."""
        return self._number(name, TIME_S_MAX) if self.has(name) else None

    def whole(self, name: str, default: int, *, least: int, most: int) -> int:
        """A whole number in a range."""
        value = self.value.get(name)
        if value is None:
            return default
        if type(value) is not int or not least <= value <= most:
            raise self.bad(name, f"must be a whole number from {least} to {most}, not {shown(value)}")
        return value

    def fields(self, name: str) -> Fields:
        """An object that must be there."""
        return Fields(self._check_there(name), self.path(name))

    def fields_if_any(self, name: str) -> Fields:
        """An object; an empty one where there is none."""
        value = self.value.get(name)
        return Fields({} if value is None else value, self.path(name))

    def each(self, name: str) -> Iterator[Fields]:
        """The objects of a list that must be there and hold at least one."""
        value = self._check_there(name)
        if type(value) is not list:
            raise self.bad(name, f"must be a list, not {kind_of(value)}")
        if not value:
            raise self.bad(name, "must hold at least one object")
        for number, item in enumerate(value):
            yield Fields(item, f"{self.path(name)}[{number}]")

    def each_if_any(self, name: str) -> Iterator[Fields]:
        """The objects of a list; none where there is no list."""
        if self.value.get(name) not in (None, []):
            yield from self.each(name)

    def members(self) -> Iterator[tuple[str, Fields]]:
        """All members, which must be objects."""
        for name, value in self.value.items():
            yield name, Fields(value, self.path(name))

    def _check_there(self, name: str) -> Json:
        value = self.value.get(name)
        if value is None:
            raise self.bad(name, "is missing")
        return value

    def _number(self, name: str, most: float) -> float:
        value = self.number(name)
        if not (math.isfinite(value) and 0 <= value <= most):
            raise self.bad(name, f"must be a number from 0 to {most}, not {shown(value)}")
        return value


def kind_of(value: Json) -> str:
    """What kind of JSON value something is, in words."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case str():
            return "a text"
        case int() | float():
            return "a number"
        case dict():
            return "an object"
        case _:
            return "a list"


def shown(value: Json) -> str:
    """A value for an error text: scalars as they are, all else by its kind."""
    return str(value)[:40] if type(value) in (int, float, str) else kind_of(value)


def scalar_text(value: Json) -> str | None:
    """A scalar as the text that attributes are compared with; None for objects and lists."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int() | float():
            return str(value)
        case _:
            return None

"""Request bodies: decoded JSON checked against a Struct and brought into its spelling.

Go's decoder matches member names without regard to case, ignores unknown members and takes `null`
for unset. `fold` does the same, so that everything behind it sees one spelling and no nulls.
"""

from __future__ import annotations

import binascii
import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, TypeAlias, TypeVar, Union, get_args, get_origin

import msgspec

from yurt.model.go_json import (
    NESTING_MAX,
    BadRequestBody,
    Json,
    NumberText,
    read_json,
    read_json_with_number_texts,
)
from yurt.model.go_types import INT, FoldedAs, GoInteger

__all__ = ["BadRequestBody", "Plan", "decode_body", "fold", "plan_of", "with_zeros"]

Request = TypeVar("Request", bound=msgspec.Struct)

TypeForm: TypeAlias = Any
"""A type as it stands in an annotation."""

Fold: TypeAlias = Callable[[Json], Json]
"""Turns a JSON value that is not null into its folded form, or raises `_KindMismatch`."""


def decode_body(body: bytes, request: type[Request]) -> Request:
    """Read a request body into `request`, whose members must all have defaults.

    A body of `null` is an empty request. Raises BadRequestBody with the text for the client.
    """
    value = read_json(body)
    plan = plan_of(request)
    try:
        folded = fold(value, plan)
    except BadRequestBody:
        # The text may quote a number as it was written, which the fast decoder does not keep.
        fold(read_json_with_number_texts(body), plan)
        raise
    return msgspec.convert(folded, request)


def fold(value: Json, plan: Plan) -> dict[str, Any]:
    """Check decoded JSON against `plan`: canonical names, unknown members and nulls dropped.

    Bytes are decoded from base64. Values under `Any` stay as they are, nulls included.
    Raises BadRequestBody with Go's text for a value of the wrong kind or too deep a nesting.
    """
    if value is None:
        return {}
    try:
        return plan.fold(value)
    except _KindMismatch as mismatch:
        raise BadRequestBody(mismatch.text()) from None


@cache
def plan_of(struct: type[msgspec.Struct]) -> Plan:
    """Prepare the folding of `struct`."""
    return Plan(struct)


def with_zeros(value: Mapping[str, Any], plan: Plan) -> dict[str, Any]:
    """Give a folded value back with every member of its Struct, absent ones at their default."""
    out: dict[str, Any] = {}
    for member in plan.members.values():
        item = value.get(member.name)
        if item is None:
            if member.default is not msgspec.UNSET:
                out[member.name] = member.default
        elif member.nested is None:
            out[member.name] = item
        elif isinstance(item, list):
            out[member.name] = [with_zeros(each, member.nested) for each in item]
        elif member.keyed:
            out[member.name] = {key: with_zeros(each, member.nested) for key, each in item.items()}
        else:
            out[member.name] = with_zeros(item, member.nested)
    return out


class Member(msgspec.Struct, frozen=True):
    """One member of a Struct: its name, and how its values are folded."""

    name: str
    fold: Fold
    plain: type | None
    """Values of exactly this type need no folding."""
    default: Any
    nested: Plan | None
    """The plan of the Struct that the member, its items or its values are."""
    keyed: bool
    """Whether the nested Structs are the values of a map."""
    is_duration: bool


class Plan:
    """How JSON objects become the members of one Struct."""

    def __init__(self, struct: type[msgspec.Struct]) -> None:
        self.go_name = go_name(struct)
        self.members: dict[str, Member] = {}
        for field in msgspec.structs.fields(struct):
            nested, keyed = _nested(field.type)
            default = None if field.default in (msgspec.NODEFAULT, ()) else field.default
            self.members[field.encode_name] = Member(
                field.encode_name,
                _fold_for(field.type),
                _plain(field.type),
                default,
                nested,
                keyed,
                _is_duration(field.type),
            )
        self._by_folded_name = {name.casefold(): member for name, member in self.members.items()}

    def fold(self, value: Json) -> dict[str, Any]:
        """Fold one object; see `fold`."""
        if type(value) is not dict:
            raise _KindMismatch(_json_kind(value), f"api.{self.go_name}")
        out: dict[str, Any] = {}
        members = self.members
        for key, item in value.items():
            if item is None:
                continue
            member = members.get(key)
            if member is None:
                member = self._by_folded_name.get(key.casefold())
                if member is None:
                    continue
            if type(item) is member.plain:
                out[member.name] = item
                continue
            try:
                out[member.name] = member.fold(item)
            except _KindMismatch as mismatch:
                mismatch.passed(self.go_name, member.name)
                raise
        return out


def go_name(struct: type[msgspec.Struct]) -> str:
    """Say what Go calls a request Struct: our forms carry a suffix that Go's do not."""
    return struct.__name__.removesuffix("Form")


class _KindMismatch(Exception):
    """A JSON value of the wrong kind, on its way up to the top of the request."""

    def __init__(self, found: str, wanted: str) -> None:
        super().__init__()
        self.found = found
        self.wanted = wanted
        self.struct = ""
        self.path: list[str] = []

    def passed(self, struct: str, member: str) -> None:
        """Note the member in which the value lies; called from the inside out."""
        self.struct = self.struct or struct
        self.path.insert(0, member)

    def text(self) -> str:
        """Say it as Go's decoder does."""
        place = f"struct field {self.struct}.{'.'.join(self.path)}" if self.path else "value"
        return f"json: cannot unmarshal {self.found} into Go {place} of type {self.wanted}"


def _json_kind(value: Json) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case int() | float():
            return "number"
        case dict():
            return "object"
        case _:
            return "array"


def _unwrapped(wanted: TypeForm) -> tuple[Any, tuple[Any, ...]]:
    """Strip `None` and annotations off a type; give the type (or union) and its annotations."""
    notes: tuple[Any, ...] = ()
    while True:
        origin: Any = get_origin(wanted)
        if origin is Annotated:
            wanted, *found = get_args(wanted)
            notes += tuple(found)
        elif origin in (Union, types.UnionType):
            arms = [arm for arm in get_args(wanted) if arm not in (type(None), msgspec.UnsetType)]
            if len(arms) > 1:
                return tuple(arms), notes
            wanted = arms[0]
        elif hasattr(wanted, "__supertype__"):  # a NewType
            wanted = wanted.__supertype__
        else:
            return wanted, notes


def _plain(wanted: TypeForm) -> type | None:
    kind, _ = _unwrapped(wanted)
    return kind if kind in (str, bool) else None


def _is_duration(wanted: TypeForm) -> bool:
    return any(isinstance(note, GoInteger) and note.name == "time.Duration" for note in _unwrapped(wanted)[1])


def _nested(wanted: TypeForm) -> tuple[Plan | None, bool]:
    kind, notes = _unwrapped(wanted)
    for note in notes:
        if isinstance(note, FoldedAs):
            return plan_of(note.struct), False
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return plan_of(kind), False
    if get_origin(kind) in (tuple, list):
        return _nested(get_args(kind)[0])
    if get_origin(kind) is dict:
        return _nested(get_args(kind)[1])[0], True
    return None, False


def _go_type(wanted: TypeForm) -> str:
    kind, notes = _unwrapped(wanted)
    for note in notes:
        if isinstance(note, GoInteger):
            return note.name
    if isinstance(kind, tuple):
        return _go_type(kind[0])
    origin: Any = get_origin(kind)
    if origin in (tuple, list):
        item = get_args(kind)[0]
        return ("[]*" if _nested(item)[0] is not None else "[]") + _go_type(item)
    if origin is dict:
        item = get_args(kind)[1]
        return ("map[string]*" if _nested(item)[0] is not None else "map[string]") + _go_type(item)
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return f"api.{go_name(kind)}"
    return {str: "string", bytes: "[]uint8", float: "float64", Any: "interface {}"}.get(kind) or kind.__name__


def _fold_for(wanted: TypeForm) -> Fold:  # noqa: PLR0911 - one return per kind reads best
    kind, notes = _unwrapped(wanted)
    for note in notes:
        if isinstance(note, FoldedAs):
            return plan_of(note.struct).fold
        if isinstance(note, GoInteger):
            return _integer(note)
    if isinstance(kind, tuple):
        return _any_arm([_fold_for(arm) for arm in kind])
    origin: Any = get_origin(kind)
    if origin in (tuple, list):
        return _list(get_args(kind)[0], _go_type(kind))
    if origin is dict:
        return _map(get_args(kind)[1], _go_type(kind))
    if kind is int:
        return _integer(INT)
    if kind is float:
        return _float
    if kind is bytes:
        return _bytes
    if kind is Any:
        return _free
    if issubclass(kind, msgspec.Struct):
        return plan_of(kind).fold
    return _scalar(kind, _go_type(kind))


def _scalar(kind: type, wanted: str) -> Fold:
    def fold_scalar(value: Json) -> Json:
        if type(value) is not kind:
            raise _KindMismatch(_json_kind(value), wanted)
        return value

    return fold_scalar


def _integer(kind: GoInteger) -> Fold:
    wanted, minimum, maximum = kind

    def fold_integer(value: Json) -> int:
        if type(value) is int and minimum <= value <= maximum:
            return value
        found = _json_kind(value)
        if found == "number":
            found = f"number {value.text if isinstance(value, NumberText) else value}"
        raise _KindMismatch(found, wanted)

    return fold_integer


def _float(value: Json) -> float:
    if type(value) is bool or not isinstance(value, int | float):
        raise _KindMismatch(_json_kind(value), "float64")
    return float(value)


def _bytes(value: Json) -> bytes:
    if type(value) is not str:
        raise _KindMismatch(_json_kind(value), "[]uint8")
    try:
        return binascii.a2b_base64(value.replace("\r", "").replace("\n", ""), strict_mode=True)
    except ValueError:
        raise BadRequestBody(f"illegal base64 data at input byte {_base64_fault(value)}") from None


def _base64_fault(text: str) -> int:
    """Find the place that Go blames in bad base64: a foreign character, else the last quantum."""
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for index, character in enumerate(text):
        if character not in alphabet:
            return index
    return len(text) // 4 * 4


def _free(value: Json) -> Json:
    """Let anything through that is not nested too deeply."""
    if type(value) is dict or type(value) is list:
        _check_depth(value, NESTING_MAX)
    return value


def _check_depth(value: Json, left: int) -> None:
    if left == 0:
        raise BadRequestBody("exceeded max depth")
    for item in value.values() if type(value) is dict else value:
        if type(item) is dict or type(item) is list:
            _check_depth(item, left - 1)


def _any_arm(arms: list[Fold]) -> Fold:
    def fold_union(value: Json) -> Json:
        mismatches = []
        for arm in arms:
            try:
                return arm(value)
            except _KindMismatch as mismatch:
                mismatches.append(mismatch)
        raise mismatches[0]

    return fold_union


def _list(item_type: TypeForm, wanted: str) -> Fold:
    item_fold = _fold_for(item_type)
    plain = _plain(item_type)

    def fold_list(value: Json) -> list[Any]:
        if type(value) is not list:
            raise _KindMismatch(_json_kind(value), wanted)
        if plain is not None:
            # A null among plain items is the zero value in Go.
            return [
                item if type(item) is plain else plain() if item is None else item_fold(item)
                for item in value
            ]
        return [item_fold(item) for item in value if item is not None]

    return fold_list


def _map(item_type: TypeForm, wanted: str) -> Fold:
    if _unwrapped(item_type)[0] is Any:
        return _free_map(wanted)
    item_fold = _fold_for(item_type)
    plain = _plain(item_type)
    # A null entry is the zero value in Go, unless entries are pointers there.
    unset = None if plain is None or type(None) in get_args(item_type) else plain()

    def fold_map(value: Json) -> dict[str, Any]:
        if type(value) is not dict:
            raise _KindMismatch(_json_kind(value), wanted)
        if plain is not None:
            return {
                key: item if type(item) is plain else unset if item is None else item_fold(item)
                for key, item in value.items()
            }
        return {key: item_fold(item) for key, item in value.items() if item is not None}

    return fold_map


def _free_map(wanted: str) -> Fold:
    def fold_free_map(value: Json) -> dict[str, Any]:
        if type(value) is not dict:
            raise _KindMismatch(_json_kind(value), wanted)
        _check_depth(value, NESTING_MAX)
        return value

    return fold_free_map

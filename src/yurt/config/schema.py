"""What keys a block has and what each may hold, read off the block's own fields."""

from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, cast, get_args, get_origin, get_type_hints

import msgspec

from yurt.config.blocks.base import Block, Form


class Kind(Enum):
    """The forms that a value can take; the text says what a file should hold."""

    BOOL = "true or false"
    INT = "a whole number"
    FLOAT = "a number"
    TEXT = "a string"
    DURATION = 'a duration such as "30s" or "1h30m"'
    SIZE = 'a size such as "100MB"'
    TEXTS = "a list of strings"
    TEXT_MAP = "a block of keys with strings"
    FREE_MAP = "a block"
    BLOCK = "one block"
    NAMED_BLOCKS = 'blocks with a name: key "name" { ... }'


class KeySpec(msgspec.Struct, frozen=True, kw_only=True):
    """One key of a block.

    `block` is set for the block kinds; `choices` are the only texts allowed, or empty; `is_optional` tells
    that None stands for a key or a block that was not given.
    """

    key: str
    field: str
    kind: Kind
    block: type[Block] | None = None
    choices: tuple[str, ...] = ()
    limits: msgspec.Meta | None = None
    is_optional: bool = False
    is_required: bool = False


_SCALARS = {bool: Kind.BOOL, int: Kind.INT, float: Kind.FLOAT, str: Kind.TEXT}
_FORMS = {Form.DURATION: Kind.DURATION, Form.SIZE: Kind.SIZE}


@cache
def keys_of(block: type[Block]) -> dict[str, KeySpec]:
    """The keys of `block` in the order of its fields."""
    hints = get_type_hints(block, include_extras=True)
    return {
        field.encode_name: msgspec.structs.replace(
            _spec_of(hints[field.name]), key=field.encode_name, field=field.name, is_required=field.required
        )
        for field in msgspec.structs.fields(block)
    }


def spec_at(block: type[Block], path: tuple[str, ...]) -> KeySpec:
    """The key that a dotted path leads to; every step but the last must be a plain block."""
    spec = keys_of(block)[path[0]]
    for step in path[1:]:
        assert spec.kind is Kind.BLOCK
        assert spec.block is not None
        spec = keys_of(spec.block)[step]
    return spec


def _spec_of(hint: object) -> KeySpec:
    """The spec that a type hint asks for, without its names."""
    origin, args = get_origin(hint), get_args(hint)
    if origin is Annotated:
        spec = _spec_of(args[0])
        for mark in args[1:]:
            if isinstance(mark, Form):
                spec = msgspec.structs.replace(spec, kind=_FORMS[mark])
            elif isinstance(mark, msgspec.Meta):
                spec = msgspec.structs.replace(spec, limits=mark)
        return spec
    if origin in (Union, UnionType):
        (inner,) = (arg for arg in args if arg is not NoneType)
        return msgspec.structs.replace(_spec_of(inner), is_optional=True)
    if origin is Literal:
        return KeySpec(key="", field="", kind=Kind.TEXT, choices=args)
    if origin is tuple:
        return KeySpec(key="", field="", kind=Kind.TEXTS, choices=_spec_of(args[0]).choices)
    if origin is dict:
        return _map_spec(args[1])
    if hint in _SCALARS:
        return KeySpec(key="", field="", kind=_SCALARS[hint])
    assert isinstance(hint, type), f"no kind for {hint}"
    assert issubclass(hint, Block), f"no kind for {hint}"
    return KeySpec(key="", field="", kind=Kind.BLOCK, block=hint)


def _map_spec(value_hint: object) -> KeySpec:
    if value_hint is str:
        return KeySpec(key="", field="", kind=Kind.TEXT_MAP)
    if value_hint is Any:
        return KeySpec(key="", field="", kind=Kind.FREE_MAP)
    return KeySpec(key="", field="", kind=Kind.NAMED_BLOCKS, block=cast("type[Block]", value_hint))

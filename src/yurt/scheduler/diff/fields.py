"""Plain members of blocks, as texts that can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from yurt.model.wire import Wire
from yurt.scheduler.diff.types import ADDED, DELETED, EDITED, NONE, FieldDiff

UNSET = "nil"

# Members that are told even where they are not set.
_TOLD_WHEN_UNSET = frozenset(("stop_on_client_after", "min", "max"))


def texts_of(block: Wire | None, *, skip: Iterable[str] = ()) -> dict[str, str]:
    """The plain members of a block by their names; entries of maps are members, too."""
    if block is None:
        return {}
    skipped = set(skip)
    names = zip(block.__struct_fields__, block.__struct_encode_fields__, strict=True)
    texts: dict[str, str] = {}
    for field, name in names:
        if field in skipped:
            continue
        value = getattr(block, field)
        if value is None:
            if field in _TOLD_WHEN_UNSET and not isinstance(value, msgspec.Struct):
                texts[name] = UNSET
        elif isinstance(value, Mapping):
            texts.update((f"{name}[{key}]", text) for key, text in flat_texts(value).items())
        elif not isinstance(value, msgspec.Struct | tuple | list):
            texts[name] = text_of(value)
    return texts


def flat_texts(values: Mapping[str, Any]) -> dict[str, str]:
    """A free-form map, with everything nested in it, as texts; structured values are left out."""
    texts: dict[str, str] = {}
    for key, value in values.items():
        _flatten(key, value, texts)
    return texts


def field_diffs(
    old: Mapping[str, str], new: Mapping[str, str], *, with_unchanged: bool
) -> tuple[FieldDiff, ...]:
    """Compare members by name; unchanged ones are only told where they help to see the change."""
    diffs: list[FieldDiff] = []
    for name in sorted({**old, **new}):
        before, after = old.get(name, ""), new.get(name, "")
        if before == after:
            if with_unchanged:
                diffs.append(FieldDiff(type=NONE, name=name, old=before, new=after))
        else:
            kind = ADDED if not before else DELETED if not after else EDITED
            diffs.append(FieldDiff(type=kind, name=name, old=before, new=after))
    return tuple(diffs)


def element_diffs(name: str, old: Iterable[str], new: Iterable[str]) -> tuple[FieldDiff, ...]:
    """Compare lists of texts as sets, each element a member of the same name."""
    before, after = set(old), set(new)
    diffs = [
        *(FieldDiff(type=ADDED, name=name, new=text) for text in after - before),
        *(FieldDiff(type=DELETED, name=name, old=text) for text in before - after),
        *(FieldDiff(type=NONE, name=name, old=text, new=text) for text in before & after),
    ]
    return tuple(sorted(diffs, key=lambda diff: (diff.old, diff.new)))


def text_of(value: Any) -> str:  # noqa: ANN401 - any plain value
    """A plain value as text, as Go writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _flatten(name: str, value: Any, into: dict[str, str]) -> None:  # noqa: ANN401 - any configuration
    if isinstance(value, Mapping):
        for key, inner in value.items():
            _flatten(f"{name}[{key}]", inner, into)
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            _flatten(f"{name}[{number}]", inner, into)
    elif value is not None and not isinstance(value, msgspec.Struct):
        into[name] = text_of(value)

"""Blocks inside jobs, groups and tasks, compared with everything nested in them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from yurt.model.wire import Wire
from yurt.scheduler.diff.fields import element_diffs, field_diffs, flat_texts, texts_of
from yurt.scheduler.diff.types import ADDED, DELETED, EDITED, ObjectDiff, type_of

# Names that are not those of their members.
_NAMES = {
    "actions": "Action",
    "affinities": "Affinity",
    "artifacts": "Artifact",
    "checks": "Check",
    "cni": "CNIConfig",
    "connect": "ConsulConnect",
    "constraints": "Constraint",
    "devices": "Device",
    "dns": "DNS",
    "dynamic_ports": "Dynamic Port",
    "identities": "Identity",
    "networks": "Network",
    "numa": "NUMA",
    "proxy": "ConsulProxy",
    "reserved_ports": "Static Port",
    "secrets": "Secret",
    "services": "Service",
    "templates": "Template",
    "ui": "UI",
    "upstreams": "ConsulUpstreams",
    "volume_mounts": "VolumeMount",
    "volumes": "Volume",
}

# Lists whose elements have a name: the same name means the same element, changed.
_KEYS = {
    "actions": "name",
    "checks": "name",
    "identities": "name",
    "secrets": "name",
    "services": "name",
    "templates": "dest_path",
    "upstreams": "destination_name",
}

# Members of a block that never show in a diff.
_HIDDEN = {"UpdateStrategy": ("stagger",)}


def nested_diffs(
    old: Wire | None, new: Wire | None, *, order: Sequence[str] = (), skip: Iterable[str] = ()
) -> tuple[ObjectDiff, ...]:
    """Compare the blocks inside two versions of something; those in `order` are told first."""
    some = new if new is not None else old
    if some is None:
        return ()
    skipped = {*skip, *order}
    fields = [*order, *(field for field in some.__struct_fields__ if field not in skipped)]
    diffs: list[ObjectDiff] = []
    for field in fields:
        name = _NAMES.get(field) or _wire_name(some, field)
        before = getattr(old, field) if old is not None else None
        after = getattr(new, field) if new is not None else None
        diffs += _member_diffs(field, name, before, after)
    return tuple(diffs)


def block_diff(name: str, old: Wire | None, new: Wire | None) -> ObjectDiff | None:
    """Compare two versions of one block; None if it did not change."""
    kind = type_of(old, new)
    if kind not in (ADDED, DELETED, EDITED):
        return None
    some = new if new is not None else old
    hidden = _HIDDEN.get(type(some).__name__, ())
    fields = field_diffs(texts_of(old, skip=hidden), texts_of(new, skip=hidden), with_unchanged=True)
    objects = nested_diffs(old, new, skip=hidden)
    if not objects and not any(field.old != field.new for field in fields):
        return None
    return ObjectDiff(type=kind, name=name, fields=fields or None, objects=objects or None)


def map_diff(name: str, old: Mapping[str, Any] | None, new: Mapping[str, Any] | None) -> ObjectDiff | None:
    """Compare free-form maps, such as a driver's configuration; None if nothing changed."""
    before, after = flat_texts(old or {}), flat_texts(new or {})
    if before == after:
        return None
    kind = ADDED if not before else DELETED if not after else EDITED
    return ObjectDiff(type=kind, name=name, fields=field_diffs(before, after, with_unchanged=True))


def _member_diffs(field: str, name: str, old: Any, new: Any) -> list[ObjectDiff]:  # noqa: ANN401 - any member
    some = new if new is not None else old
    if isinstance(some, msgspec.Struct):
        diffs = [block_diff(name, old, new)]
    elif isinstance(some, Mapping):
        diffs = _blocks_by_name(name, old or {}, new or {})
    elif isinstance(some, tuple | list):
        diffs = _list_diffs(field, name, old or (), new or ())
    else:
        diffs = []
    return [diff for diff in diffs if diff is not None]


def _list_diffs(field: str, name: str, old: Sequence[Any], new: Sequence[Any]) -> list[ObjectDiff | None]:
    if not any(isinstance(element, msgspec.Struct) for element in (*old, *new)):
        return [_elements_diff(name, old, new)]
    key = _KEYS.get(field)
    if key is not None:
        return _blocks_by_name(
            name, {getattr(one, key): one for one in old}, {getattr(one, key): one for one in new}
        )
    return [
        *(block_diff(name, None, one) for one in new if one not in old),
        *(block_diff(name, one, None) for one in old if one not in new),
    ]


def _blocks_by_name(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[ObjectDiff | None]:
    if not any(isinstance(one, msgspec.Struct) for one in (*old.values(), *new.values())):
        return []  # plain entries are members of the block they stand in
    return [block_diff(name, old.get(key), new.get(key)) for key in {**old, **new}]


def _elements_diff(name: str, old: Sequence[Any], new: Sequence[Any]) -> ObjectDiff | None:
    before, after = [str(one) for one in old], [str(one) for one in new]
    if set(before) == set(after):
        return None
    kind = ADDED if not before else DELETED if not after else EDITED
    return ObjectDiff(type=kind, name=name, fields=element_diffs(name, before, after))


def _wire_name(block: Wire, field: str) -> str:
    return block.__struct_encode_fields__[block.__struct_fields__.index(field)]

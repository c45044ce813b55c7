"""Scaling down: which instances of a group are too many."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from yurt.model.alloc import CLIENT_UNKNOWN, Allocation
from yurt.model.wire import AllocID
from yurt.scheduler.reconcile.name_index import NameIndex


def surplus(
    count: int,
    names: NameIndex,
    *,
    untainted: Collection[Allocation],
    migrate: Collection[Allocation],
    canaries: Collection[Allocation],
    is_canarying: bool,
) -> list[Allocation]:
    """Choose what to stop so that `count` instances remain; their names are released in `names`.

    Unknown allocations make nothing surplus, but may be chosen.
    """
    canary_ids = {alloc.id for alloc in canaries}
    candidates = [a for a in untainted if not (is_canarying and a.id in canary_ids)]
    excess = sum(a.client_status != CLIENT_UNKNOWN for a in candidates) + len(migrate) - count
    if excess <= 0:
        return []
    candidates = [alloc for alloc in candidates if not alloc.is_server_terminal]
    chosen: dict[AllocID, Allocation] = {}

    def take(allocs: Iterable[Allocation]) -> None:
        for alloc in allocs:
            if len(chosen) == excess:
                return
            chosen.setdefault(alloc.id, alloc)

    if not is_canarying and canaries:
        # A promoted canary and the instance it was tried out against have the same name.
        replaced = {alloc.name_index for alloc in canaries}
        take(a for a in candidates if a.name_index in replaced and a.id not in canary_ids)
    before = len(chosen)
    take(_highest_first(migrate))
    for alloc in list(chosen.values())[before:]:
        names.release(alloc.name_index)
    highest = names.highest(excess - len(chosen))
    take(a for a in candidates if a.name_index in highest)
    take(_highest_first(candidates))
    return list(chosen.values())


def _highest_first(allocs: Iterable[Allocation]) -> list[Allocation]:
    return sorted(allocs, key=lambda alloc: -alloc.name_index)

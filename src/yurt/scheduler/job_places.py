"""Where the allocations of one job are, counted by group and node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping

from yurt.model.alloc import CLIENT_TERMINAL, DESIRED_RUN, Allocation
from yurt.model.wire import AllocID, NodeID


class JobPlaces:
    """Allocations of a job by group and slot.

    `held` are those whose tasks may still run: they keep others of their kind away from a node.
    `live` are those that are meant to run, of the present job and not of a purged namesake: they
    count when a job is spread.
    """

    def __init__(self, create_index: int) -> None:
        self._create_index = create_index
        self._held: dict[str, dict[int, int]] = {}
        self._live: dict[str, dict[int, int]] = {}

    def held(self, group: str) -> Mapping[int, int]:
        """How many allocations of a group may still run, by slot."""
        return self._held.get(group, {})

    def live(self, group: str) -> Mapping[int, int]:
        """How many allocations of a group are meant to run, by slot."""
        return self._live.get(group, {})

    def held_any(self) -> Mapping[int, int]:
        """How many allocations of any group may still run, by slot."""
        return _summed(self._held)

    def live_any(self) -> Mapping[int, int]:
        """How many allocations of any group are meant to run, by slot."""
        return _summed(self._live)

    def count_alloc(self, alloc: Allocation, slot: int, times: int) -> None:
        """Count a stored allocation `times` times more."""
        if alloc.is_client_terminal:
            return
        _add(self._held, alloc.task_group, slot, times)
        if not alloc.is_server_terminal and alloc.job.create_index == self._create_index:
            _add(self._live, alloc.task_group, slot, times)

    def count_stored(
        self, allocs: Iterable[Allocation], slots: Mapping[NodeID, int], left_out: Container[AllocID]
    ) -> None:
        """Count many stored allocations, as `count_alloc` would count each, in a fraction of the time."""
        held: dict[str, list[int]] = {}
        live: dict[str, list[int]] = {}
        for alloc in allocs:
            slot = slots.get(alloc.node_id)
            if slot is None or alloc.client_status in CLIENT_TERMINAL or alloc.id in left_out:
                continue
            held.setdefault(alloc.task_group, []).append(slot)
            if alloc.desired_status == DESIRED_RUN and alloc.job.create_index == self._create_index:
                live.setdefault(alloc.task_group, []).append(slot)
        self._held = {group: dict(Counter(at)) for group, at in held.items()}
        self._live = {group: dict(Counter(at)) for group, at in live.items()}

    def count_new(self, group: str, counts: Mapping[int, int]) -> None:
        """Count new allocations, by slot."""
        for slot, times in counts.items():
            _add(self._held, group, slot, times)
            _add(self._live, group, slot, times)


def _add(counts: dict[str, dict[int, int]], group: str, slot: int, times: int) -> None:
    slots = counts.setdefault(group, {})
    count = slots.get(slot, 0) + times
    if count:
        slots[slot] = count
    else:
        slots.pop(slot, None)


def _summed(counts: Mapping[str, Mapping[int, int]]) -> Mapping[int, int]:
    if len(counts) == 1:
        return next(iter(counts.values()))
    summed: dict[int, int] = {}
    for slots in counts.values():
        for slot, count in slots.items():
            summed[slot] = summed.get(slot, 0) + count
    return summed

"""Candidates: the nodes that could take the next instance of a group, as columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.scheduler.ask import Ask
from yurt.scheduler.view import View
from yurt.state.use import ALLOCS, CORES, CPU, DISK, MBITS, MEMORY

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Positions: TypeAlias = slice | NDArray[np.intp]

EVERYWHERE = slice(None)

# Above this, marking slots in a column is faster than searching for each.
SLOTS_SEARCHED_MAX = 16

_Value = TypeVar("_Value")


class _lazy(Generic[_Value]):  # used as a decorator, and named as one
    """A property worked out when first asked for: functools.cached_property without its lock."""

    def __init__(self, work_out: Callable[[Any], _Value]) -> None:
        self._work_out = work_out
        self._name = work_out.__name__
        self.__doc__ = work_out.__doc__

    def __get__(self, owner: Any, kind: type | None = None) -> _Value:  # noqa: ANN401  # of any class
        value = owner.__dict__[self._name] = self._work_out(owner)
        return value


class Field:
    """The nodes that a group may run on, with what is in use on them, as of when it was made.

    Positions count along `slots`. What is placed later is not seen here: whoever places says how many
    instances each candidate has `extra`, or calls `refresh`.
    """

    def __init__(self, view: View, job: Job, group: TaskGroup, ask: Ask, slots: NDArray[np.intp]) -> None:
        self.view = view
        self.job = job
        self.group = group
        self.ask = ask
        self.slots = slots
        self.dimensions = [
            dimension for dimension in (CPU, MEMORY, DISK, ALLOCS, MBITS, CORES) if ask.amounts[dimension]
        ]
        if ask.cores and CPU not in self.dimensions:
            self.dimensions.insert(0, CPU)
        capacity, used = view.columns.capacity, view.used
        self.room: dict[int, Ints] = {d: (capacity[d, : view.size] - used[d])[slots] for d in self.dimensions}
        self.wanted: dict[int, int | Ints] = {d: ask.amounts[d] for d in self.dimensions}
        self.collisions: Ints = self.column_of(view.places(job).held(group.name))

    @_lazy
    def neighbours(self) -> Mapping[int, int]:
        """The live allocations of the job by slot, as of when this is first asked for."""
        return dict(self.view.places(self.job).live_any())

    def position(self, slot: int) -> int:
        """Where a slot is along `slots`; -1 if it is not there."""
        found = int(self.slots.searchsorted(slot))
        return found if found < len(self.slots) and self.slots[found] == slot else -1

    def positions(self, slots: list[int]) -> list[int]:
        """Where some slots are along `slots`, without those that are not there."""
        if len(slots) <= SLOTS_SEARCHED_MAX:
            return [position for position in map(self.position, slots) if position >= 0]
        wanted = np.zeros(self.view.size, dtype=np.bool_)
        wanted[slots] = True
        found: list[int] = np.flatnonzero(wanted[self.slots]).tolist()
        return found

    def refresh(self, positions: NDArray[np.intp]) -> None:
        """Look again at what is in use on some nodes."""
        slots = self.slots[positions]
        capacity, used = self.view.columns.capacity, self.view.used
        held = self.view.places(self.job).held(self.group.name)
        for dimension in self.dimensions:
            self.room[dimension][positions] = capacity[dimension][slots] - used[dimension][slots]
        self.collisions[positions] = [held.get(slot, 0) for slot in slots.tolist()]

    def refresh_one(self, position: int) -> None:
        """`refresh` of one node; numbers by themselves are faster than arrays of one."""
        slot = self.slots.item(position)
        capacity, used = self.view.columns.capacity, self.view.used
        for dimension in self.dimensions:
            self.room[dimension][position] = capacity.item(dimension, slot) - used.item(dimension, slot)
        self.collisions[position] = self.view.places(self.job).held(self.group.name).get(slot, 0)

    def fits(self, positions: Positions, extra: int | Ints) -> NDArray[np.bool_]:
        """Whether one more instance fits besides `extra` ones."""
        fits: NDArray[np.bool_] | None = None
        for dimension in self.dimensions:
            one = self.room[dimension][positions] >= self.wanted_at(dimension, positions) * (extra + 1)
            fits = one if fits is None else fits & one
        assert fits is not None, "every instance is one allocation more"
        return fits

    def fits_one(self, position: int) -> bool:
        """Whether one more instance fits on one node."""
        return all(
            self.room[dimension].item(position) >= self.wanted_on(dimension, position)
            for dimension in self.dimensions
        )

    def full_share(self, dimension: int, position: int) -> float:
        """How much of a node is in use once the next instance is placed there."""
        slot = self.slots.item(position)
        used = self.view.used.item(dimension, slot) + self.wanted_on(dimension, position)
        return float(used / max(self.view.columns.capacity.item(dimension, slot), 1))

    def set_wanted(self, dimension: int, position: int, amount: int) -> None:
        """Change what one instance asks for on one node."""
        wanted = self.wanted[dimension]
        assert not isinstance(wanted, int), "amounts differ between nodes only where cores are asked for"
        wanted[position] = amount

    def wanted_at(self, dimension: int, positions: Positions) -> int | Ints:
        """What one instance asks for; with cores of its own, its CPU differs between nodes."""
        wanted = self.wanted.get(dimension, 0)
        return wanted if isinstance(wanted, int) else wanted[positions]

    def wanted_on(self, dimension: int, position: int) -> int:
        """What one instance asks for on one node."""
        wanted = self.wanted.get(dimension, 0)
        return wanted if isinstance(wanted, int) else int(wanted[position])

    def column_of(self, counts: Mapping[int, int]) -> Ints:
        """Counts by slot, as a column of the field."""
        if not counts:
            return np.zeros(len(self.slots), dtype=np.int64)
        column = np.zeros(self.view.size, dtype=np.int64)
        column[list(counts.keys())] = list(counts.values())
        return np.asarray(column[self.slots])


class Candidates:
    """Some nodes of a field, each with `extra` more instances on it, as the columns that scores are made of.

    All columns run side by side. Plug-ins read them and must not change them. They show the view as it
    is when they are first asked for.
    """

    def __init__(self, field: Field, positions: Positions = EVERYWHERE, extra: int | Ints = 0) -> None:
        self.field = field
        self.positions = positions
        self.extra = extra
        self.job = field.job
        self.group = field.group
        self.nodes = field.view.columns

    @_lazy
    def slots(self) -> NDArray[np.intp]:
        """Where the candidates are in the columns of `nodes`."""
        return self.field.slots[self.positions]

    @_lazy
    def cpu_mhz(self) -> Ints:
        """CPU that tasks may use."""
        return np.asarray(self.nodes.capacity[CPU][self.slots])

    @_lazy
    def memory_mb(self) -> Ints:
        """Memory that tasks may use."""
        return np.asarray(self.nodes.capacity[MEMORY][self.slots])

    @_lazy
    def cpu_after_mhz(self) -> Ints:
        """CPU in use once the next instance is placed."""
        return self._after(CPU)

    @_lazy
    def memory_after_mb(self) -> Ints:
        """Memory in use once the next instance is placed."""
        return self._after(MEMORY)

    @_lazy
    def allocs(self) -> Ints:
        """Allocations on the node before the next instance is placed."""
        return np.asarray(self.field.view.used[ALLOCS][self.slots] + self.extra)

    @_lazy
    def collisions(self) -> Ints:
        """Allocations of the same group on the node."""
        return self.field.collisions[self.positions] + self.extra

    def _after(self, dimension: int) -> Ints:
        wanted = self.field.wanted_at(dimension, self.positions)
        return np.asarray(self.field.view.used[dimension][self.slots] + wanted * (self.extra + 1))

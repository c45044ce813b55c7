"""Nodes for many alike instances that are spread over values of attributes."""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from random import Random

import numpy as np
from numpy.typing import NDArray

from yurt.scheduler.feasible.distinct import DistinctProperty
from yurt.scheduler.rank.candidates import Floats
from yurt.scheduler.rank.levels import Levels
from yurt.scheduler.rank.ranking import Ranking
from yurt.scheduler.rank.spread import EvenSpread, TargetSpread

_EMPTY = float("-inf")


def pick_spread(
    ranking: Ranking,
    instances: int,
    *,
    spreads: Sequence[EvenSpread | TargetSpread],
    properties: Sequence[DistinctProperty],
    per_node_max: int | None,
    rng: Random,
) -> list[int]:
    """Positions for up to `instances` instances, in the order in which they are placed.

    Nodes with the same values of all attributes gain and lose together, so it is enough to compare the
    best node of each such cell. Nodes of a cell whose scores have different weights in the mean change
    places among each other; they queue apart.
    """
    cells = _Cells(ranking, spreads, properties, rng)
    picks: list[int] = []
    placed: dict[int, int] = {}
    levels = Levels(ranking)
    while len(picks) < instances:
        queue = cells.best()
        if queue is None:
            break
        position = cells.take(queue)
        picks.append(position)
        level = placed[position] = placed.get(position, 0) + 1
        score = levels.at(position, level) if level != per_node_max else None
        if score is not None:
            cells.put_back(queue, position, *score)
        cells.place(queue)
    return picks


class _Cells:
    """Queues of nodes by cell and weight, with the final score of the first node of each."""

    def __init__(
        self,
        ranking: Ranking,
        spreads: Sequence[EvenSpread | TargetSpread],
        properties: Sequence[DistinctProperty],
        rng: Random,
    ) -> None:
        self._sums: list[float] = ranking.sums.tolist()
        self._ties: list[float] = ranking.ties.tolist()
        self._spreads = spreads
        self._properties = properties
        slots = ranking.field.slots
        alive = ranking.fits.copy()
        for one in properties:
            alive &= ~(one.missing() | one.full())[slots]
        at = np.flatnonzero(alive)
        indexes = [spread.index[at] for spread in spreads]
        indexes += [one.column.codes[slots[at]].astype(np.intp) for one in properties]
        cell_of, first = _number_cells(indexes, len(at), rng)
        # The values of each cell: of spreads first, then of properties.
        self._of_cell: list[NDArray[np.intp]] = [index[first] for index in indexes]
        self._values: list[list[int]] = [values.tolist() for values in self._of_cell]
        self._closed = [False] * len(first)
        self._numbers: dict[tuple[int, float], int] = {}
        # By queue: its cell, its nodes not used yet (best last), and those used already (a heap).
        self._cell: list[int] = []
        self._fresh: list[list[int]] = []
        self._again: list[list[tuple[float, float, int]]] = []
        # By queue: the sum, the weight and the mean of the scores of its first node. Arrays are longer
        # than there are queues.
        self._weights: list[float] = []
        self._tops: Floats = np.full(2 * len(first) + 1, _EMPTY)
        self._finals: Floats = self._tops.copy()
        # Weights and values once more, for scoring all queues at once.
        self._columns: tuple[Floats, list[NDArray[np.intp]]] | None = None
        self._by_value: dict[int, list[int]] = {}
        self._fill(ranking, at, cell_of)

    def best(self) -> int | None:
        """The queue whose first node is the best of all; None if no node is left."""
        queue = int(self._finals.argmax())
        return queue if self._finals[queue] != _EMPTY else None

    def take(self, queue: int) -> int:
        """Take the first node of a queue; `place` must follow."""
        fresh, again = self._fresh[queue], self._again[queue]
        if fresh and (not again or self._sums[fresh[-1]] >= -again[0][0]):
            position = fresh.pop()
        else:
            position = heappop(again)[2]
        self._set_top(queue)
        return position

    def place(self, queue: int) -> None:
        """Count an instance on a node that was taken from a queue, and score anew what that changes."""
        cell = self._cell[queue]
        changes_all = len(self._spreads) > 1
        for spread, values in zip(self._spreads, self._values, strict=False):
            changes_all |= spread.place(values[cell])
        for number, one in enumerate(self._properties, start=len(self._spreads)):
            value = self._values[number][cell]
            one.used[value] += 1
            if one.used[value] >= one.allowed:
                self._close(number, value)
                changes_all = True
        if changes_all:
            self._score_all()
        else:
            # One spread, or none: only the nodes with the same value score differently now.
            for other in self._by_value[self._values[0][cell]]:
                self._score(other)

    def put_back(self, queue: int, position: int, total: float, weight: float) -> None:
        """Queue a node again that was taken from a queue, with one instance more on it."""
        cell = self._cell[queue]
        number = self._numbers.get((cell, weight))
        if number is None:
            number = self._add_queue(cell, weight)
        heappush(self._again[number], (-total, self._ties[position], position))
        self._set_top(number)

    def _fill(self, ranking: Ranking, at: NDArray[np.intp], cell_of: NDArray[np.intp]) -> None:
        sums, weights, ties = ranking.sums[at], ranking.weights[at], ranking.ties[at]
        order = np.lexsort((ties, sums, weights, cell_of))
        cells, heavy = cell_of[order], weights[order]
        is_first = np.ones(len(order), dtype=np.bool_)
        is_first[1:] = (cells[1:] != cells[:-1]) | (heavy[1:] != heavy[:-1])
        starts = np.flatnonzero(is_first)
        positions: list[int] = at[order].tolist()
        ends = [*starts[1:].tolist(), len(positions)]
        self._fresh = [positions[start:end] for start, end in zip(starts.tolist(), ends, strict=False)]
        self._again = [[] for _ in self._fresh]
        self._cell = cells[starts].tolist()
        queues = len(self._fresh)
        self._numbers = dict(
            zip(zip(self._cell, heavy[starts].tolist(), strict=True), range(queues), strict=True)
        )
        self._weights = heavy[starts].tolist()
        while len(self._tops) < queues:
            self._grow()
        self._tops[:queues] = [self._sums[fresh[-1]] for fresh in self._fresh]
        for queue, cell in enumerate(self._cell):
            self._by_value.setdefault(self._values[0][cell], []).append(queue)
        self._score_all()

    def _add_queue(self, cell: int, weight: float) -> int:
        number = self._numbers[cell, weight] = len(self._fresh)
        self._cell.append(cell)
        self._fresh.append([])
        self._again.append([])
        self._weights.append(weight)
        self._columns = None
        self._by_value[self._values[0][cell]].append(number)
        if number == len(self._tops):
            self._grow()
        return number

    def _grow(self) -> None:
        more = np.full(len(self._tops), _EMPTY)
        self._tops = np.concatenate([self._tops, more])
        self._finals = np.concatenate([self._finals, more])

    def _set_top(self, queue: int) -> None:
        fresh, again = self._fresh[queue], self._again[queue]
        if self._closed[self._cell[queue]] or not (fresh or again):
            self._tops[queue] = _EMPTY
            return
        top = self._sums[fresh[-1]] if fresh else _EMPTY
        self._tops[queue] = max(top, -again[0][0]) if again else top

    def _score(self, queue: int) -> None:
        """Work out the final score of a queue's first node, with no spread or one."""
        boost = 0.0
        if self._spreads:
            boost = float(self._spreads[0].boosts[self._values[0][self._cell[queue]]])
        weight = self._weights[queue]
        self._finals[queue] = (float(self._tops[queue]) + boost) / (weight + 1.0 if boost else weight)

    def _score_all(self) -> None:
        queues = len(self._cell)
        if self._columns is None:
            cells = np.asarray(self._cell, dtype=np.intp)
            self._columns = np.asarray(self._weights), [values[cells] for values in self._of_cell]
        weights, values_of = self._columns
        if not self._spreads:
            self._finals[:queues] = self._tops[:queues] / weights
            return
        boost = self._spreads[0].boosts[values_of[0]]
        for spread, values in zip(self._spreads[1:], values_of[1:], strict=False):
            boost += spread.boosts[values]
        self._finals[:queues] = (self._tops[:queues] + boost) / (weights + (boost != 0.0))

    def _close(self, number: int, value: int) -> None:
        """Take the nodes with a value of a property out of the race: it is used often enough."""
        for cell in np.flatnonzero(self._of_cell[number] == value).tolist():
            self._closed[cell] = True
        for queue, cell in enumerate(self._cell):
            if self._closed[cell]:
                self._tops[queue] = _EMPTY


def _number_cells(
    indexes: Sequence[NDArray[np.intp]], nodes: int, rng: Random
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Number the cells that nodes with the same indexes make; give each node's, and a node of each.

    A cell's number breaks ties between cells, so it is drawn anew for each evaluation.
    """
    combined = np.zeros(nodes, dtype=np.int64)
    for index in indexes:
        combined = combined * (int(index.max(initial=0)) + 1) + index
    _, first, cell_of = np.unique(combined, return_index=True, return_inverse=True)
    shuffled = np.random.default_rng(rng.getrandbits(64)).permutation(len(first))
    first_of = np.empty_like(first)
    first_of[shuffled] = first
    return shuffled[cell_of], first_of

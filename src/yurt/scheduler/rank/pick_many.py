"""Nodes for many alike instances whose scores only depend on their own node."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np
from numpy.typing import NDArray

from yurt.scheduler.rank.ranking import NOWHERE, Ranking, keys, means

# A level is scored for all candidates at once when more than this many of them reach it; before that
# each climbs a ladder of its own. Scoring 10,000 candidates costs about as much as this many ladders.
CLIMBERS_MAX = 24
LADDER_FIRST = 8
LADDER_MAX = 4096


def pick_many(ranking: Ranking, instances: int, *, per_node_max: int | None = None) -> list[int]:
    """Positions for up to `instances` instances, in the order in which they are placed.

    The same nodes as choosing the best one, placing and scoring it again, instance by instance. A pick
    changes the score of its own node only, so the best node is always among the `instances` that were
    best at the start. A heap merges the scores they will have with one instance more, with two, ...
    """
    first = ranking.keys()
    at = np.flatnonzero(first != NOWHERE)
    if len(at) > instances:
        at = at[np.argpartition(first[at], len(at) - instances)[-instances:]]
    scores = _Levels(ranking, at, first[at].tolist())
    heap = [(-key, candidate) for candidate, key in enumerate(scores.first)]
    heapify(heap)
    placed = [0] * len(at)
    positions: list[int] = at.tolist()
    picks: list[int] = []
    while heap and len(picks) < instances:
        _, candidate = heappop(heap)
        picks.append(positions[candidate])
        level = placed[candidate] = placed[candidate] + 1
        if level == per_node_max:
            continue
        key = scores.key(candidate, level)
        if key != NOWHERE:
            heappush(heap, (-key, candidate))
    return picks


class _Levels:
    """The keys of candidates with so many instances more, scored as they are asked for.

    Where many candidates reach a level it is scored for all of them; where few go on climbing, as when
    a job packs large nodes one by one, each has its own ladder of levels, longer each time.
    """

    def __init__(self, ranking: Ranking, at: NDArray[np.intp], first: list[float]) -> None:
        self._ranking = ranking
        self._at = at
        self._ties = ranking.ties[at]
        self.first = first
        self._wide: list[list[float]] = [first]
        self._climbers = 0
        # Candidate → the level its ladder begins at, and the keys from there on.
        self._ladders: dict[int, tuple[int, list[float]]] = {}

    def key(self, candidate: int, level: int) -> float:
        """The key of a candidate with `level` instances more."""
        if level < len(self._wide):
            return self._wide[level][candidate]
        begin, ladder = self._ladders.get(candidate, (0, []))
        if begin <= level < begin + len(ladder):
            return ladder[level - begin]
        if level == len(self._wide):
            self._climbers += 1
            if self._climbers > CLIMBERS_MAX:
                self._climbers = 0
                self._wide.append(self._scored(self._at, level, self._ties))
                return self._wide[level][candidate]
        size = min(LADDER_MAX, max(LADDER_FIRST, 2 * len(ladder)))
        rungs = np.full(size, self._at[candidate], dtype=np.intp)
        extra = np.arange(level, level + size)
        ladder = self._scored(rungs, extra, np.full(size, self._ties[candidate]))
        self._ladders[candidate] = (level, ladder)
        return ladder[0]

    def _scored(
        self, positions: NDArray[np.intp], extra: int | NDArray[np.int64], ties: NDArray[np.float64]
    ) -> list[float]:
        sums, weights, fits, _ = self._ranking.level(positions, extra)
        scored: list[float] = keys(means(sums, weights), fits, ties).tolist()
        return scored

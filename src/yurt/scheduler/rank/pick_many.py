"""Nodes for many alike instances whose scores only depend on their own node."""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from yurt.scheduler.rank.ranking import NOWHERE, Ranking, keys, means


def pick_many(ranking: Ranking, instances: int, *, per_node_max: int | None = None) -> list[int]:
    """Positions for up to `instances` instances, in the order in which they are placed.

    The same nodes as choosing the best one, placing and scoring it again, instance by instance. A pick
    changes the score of its own node only, so the best node is always among the `instances` that were
    best at the start. These are scored by whole levels (with one instance more, with two, ...), and a
    heap merges the levels.
    """
    first = keys(ranking.finals([]), ranking.fits, ranking.ties)
    at = np.flatnonzero(first != NOWHERE)
    if len(at) > instances:
        at = at[np.argpartition(first[at], len(at) - instances)[-instances:]]
    ties = ranking.ties[at]
    levels: list[list[float]] = [first[at].tolist()]
    heap = [(-key, candidate) for candidate, key in enumerate(levels[0])]
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
        if level == len(levels):
            sums, weights, fits = ranking.level(at, level)
            levels.append(keys(means(sums, weights), fits, ties).tolist())
        key = levels[level][candidate]
        if key != NOWHERE:
            heappush(heap, (-key, candidate))
    return picks

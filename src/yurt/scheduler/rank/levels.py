"""Scores of nodes with more and more instances of a group on them, worked out in blocks."""

from __future__ import annotations

import numpy as np

from yurt.scheduler.rank.candidates import EVERYWHERE
from yurt.scheduler.rank.ranking import Level, Ranking

# So many levels of a node are scored at once: most of the cost is in the call, not in the numbers.
LEVELS_PER_BLOCK = 8


class Levels:
    """Sum and weight of a node's scores by how many instances it has more; None where no other fits.

    The first level is scored for all nodes: most that are asked about are asked for the first time.
    From then on it is a few nodes that get many instances.
    """

    def __init__(self, ranking: Ranking) -> None:
        self._ranking = ranking
        self._first = ranking.level(EVERYWHERE, 1)
        self._touched: dict[int, None] = {}
        # By block and position: the scores worked out together with it, and where it is in them.
        self._blocks: dict[tuple[int, int], tuple[Level, int]] = {}

    def at(self, position: int, level: int) -> tuple[float, float] | None:
        """Sum and weight of the scores of a node with `level` (1 or more) instances more."""
        if level == 1:
            self._touched[position] = None
            scores, at = self._first, position
        else:
            block, offset = divmod(level - 2, LEVELS_PER_BLOCK)
            found = self._blocks.get((block, position))
            if found is None:
                self._work_out(block)
                found = self._blocks[block, position]
            scores, at = found[0], found[1] + offset
        return (float(scores.sums[at]), float(scores.weights[at])) if scores.fits[at] else None

    def _work_out(self, block: int) -> None:
        """Score a block of levels for all nodes that have instances and lack it."""
        lacking = [position for position in self._touched if (block, position) not in self._blocks]
        positions = np.repeat(np.asarray(lacking, dtype=np.intp), LEVELS_PER_BLOCK)
        levels = np.arange(LEVELS_PER_BLOCK, dtype=np.int64) + 2 + block * LEVELS_PER_BLOCK
        scores = self._ranking.level(positions, np.tile(levels, len(lacking)))
        for number, position in enumerate(lacking):
            self._blocks[block, position] = scores, number * LEVELS_PER_BLOCK

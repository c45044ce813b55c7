"""Picking nodes for a few instances of a group, with the scores of the runners-up of each."""

from __future__ import annotations

from bisect import insort
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from yurt.scheduler.rank.candidates import Floats, Ints
from yurt.scheduler.rank.ranking import NOWHERE, Ranking, keys, means

# Up to so many, looking for the best again and again is faster than partitioning.
SEARCHES_MAX = 24


class Scored(NamedTuple):
    """A node's scores by name, and their mean."""

    position: int
    parts: dict[str, float]
    final: float


class Pick(NamedTuple):
    """A node for one instance, and the best nodes as they were before it was placed, best first."""

    position: int
    best: tuple[Scored, ...]


def pick_few(ranking: Ranking, instances: int, *, compared: int) -> list[Pick]:
    """Nodes for up to `instances` instances, each with the `compared` best at that moment.

    The same as choosing the best one, placing and scoring it again, instance by instance. Ends early
    when a node is full: whoever reports on nodes without room must look at them anew.
    """
    order = ranking.keys()
    best = best_first(order, instances + compared - 1)
    if instances == 1 and best:
        # What most small jobs ask for: nothing is placed that could change a score.
        return [Pick(best[0], tuple([Scored(at, *ranking.scored(at)) for at in best]))]
    scores = _Scores(ranking, best, order)
    # Sorted all the time: there are only a few.
    heads = [(-float(order[position]), position) for position in best]
    placed = dict.fromkeys(best, 0)
    picks: list[Pick] = []
    while heads:
        position = heads[0][1]
        top = tuple(scores.at(other, placed[other]) for _, other in heads[:compared])
        picks.append(Pick(position, top))
        if len(picks) == instances:
            break
        placed[position] += 1
        key = scores.key(position, placed[position], instances - len(picks))
        if key == NOWHERE:
            break
        del heads[0]
        insort(heads, (-key, position))
    return picks


def best_first(order: Floats, count: int) -> list[int]:
    """The positions with the highest keys, best first; of equal ones the lower position."""
    if count > SEARCHES_MAX:
        some = np.arange(len(order))
        if count < len(order):
            some = np.flatnonzero(order >= np.partition(order, len(order) - count)[-count])
        some = some[order[some] != NOWHERE]
        ranked: list[int] = some[np.argsort(-order[some], kind="stable")][:count].tolist()
        return ranked
    order = order.copy()
    best: list[int] = []
    while len(best) < min(count, len(order)):
        position = int(order.argmax())
        if order[position] == NOWHERE:
            break
        best.append(position)
        order[position] = NOWHERE
    return best


class _Scores:
    """The scores of some nodes with more and more instances, worked out together as far as is likely."""

    def __init__(self, ranking: Ranking, positions: list[int], order: Floats) -> None:
        self._ranking = ranking
        self._positions = np.asarray(positions, dtype=np.intp)
        # By position and level: scores, their mean, and the key.
        self._known: dict[tuple[int, int], tuple[tuple[float, ...], float, float]] = {}
        self._shown: dict[tuple[int, int], Scored] = {}
        for position in positions:
            self._known[position, 0] = (*ranking.scores_of(position), order.item(position))

    def at(self, position: int, level: int) -> Scored:
        """The scores of a node with `level` instances more, for which `key` has been asked."""
        shown = self._shown.get((position, level))
        if shown is None:
            row, final, _ = self._known[position, level]
            shown = self._shown[position, level] = Scored(position, self._ranking.named(row), final)
        return shown

    def key(self, position: int, level: int, left: int) -> float:
        """The key of a node with `level` instances more; up to `left` may come to it."""
        known = self._known.get((position, level))
        if known is None:
            if level == 1:
                # Instances that keep apart go to one node after the other.
                self._work_out(self._positions, np.ones(len(self._positions), dtype=np.int64))
            else:
                # Those that are packed come to this one, again and again.
                ladder = np.full(left, position, dtype=np.intp)
                self._work_out(ladder, np.arange(level, level + left, dtype=np.int64))
            known = self._known[position, level]
        return known[-1]

    def _work_out(self, positions: NDArray[np.intp], extra: Ints) -> None:
        level = self._ranking.level(positions, extra)
        finals = means(level.sums, level.weights)
        order = keys(finals, level.fits, self._ranking.ties[positions])
        rows = zip(*(one.tolist() for one in level.values), strict=True)
        known = zip(rows, finals.tolist(), order.tolist(), strict=True)
        at = zip(positions.tolist(), extra.tolist(), strict=True)
        self._known.update(zip(at, known, strict=True))

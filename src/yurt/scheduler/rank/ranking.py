"""How well every candidate suits the next instance of a group."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.scheduler.rank.algorithms import AlgorithmError
from yurt.scheduler.rank.candidates import EVERYWHERE, Candidates, Field, Floats, Ints, Positions
from yurt.scheduler.rank.score import Algorithm, Score, ScoreColumn

# Scores that differ by less than this are equal, so that workers side by side choose different nodes.
NEAR_TIE = 1e-6
# No node: below the key of every score.
NOWHERE = float("-inf")

_TIES = 1 << 20
_TINY = float(np.finfo(np.float64).tiny)
_MIX_1, _MIX_2 = np.uint32(0x9E3779B1), np.uint32(0x85EBCA6B)


class Wish(NamedTuple):
    """A score that the job itself asks for; where it counts, as much as one column of weight 1."""

    name: str
    values: Floats
    counted: NDArray[np.bool_]


class Level(NamedTuple):
    """Some candidates with so many instances more: their scores, and whether another instance fits.

    `sums` and `weights` are those of the scores whose `values` come one for each column of the algorithm.
    """

    sums: Floats
    weights: Floats
    fits: NDArray[np.bool_]
    values: tuple[Floats, ...]


class Ranking:
    """Scores of all candidates of a field, kept current while instances are placed."""

    def __init__(
        self, field: Field, algorithm: Algorithm, columns: tuple[ScoreColumn, ...], seed: int
    ) -> None:
        self.field = field
        self._algorithm = algorithm
        self._columns = columns
        self._names = tuple(column.name for column in columns)
        self._scores_one_by_one = all(column.score_one is not None for column in columns)
        self.sums, self.weights, self.fits, values = self.level(EVERYWHERE, 0)
        # The arrays belong to whoever made the scores; these are changed.
        self._values = tuple(one.copy() for one in values)
        self._shuffle = _shuffle(field.slots)
        self.ties: Floats = _ties(self._shuffle, seed)
        # The keys without ties, once they were asked for.
        self._steps: Floats | None = None
        # Positions taken out of the race since this was last handed on.
        self._closed: set[int] = set()

    def level(self, positions: Positions, extra: int | Ints) -> Level:
        """Score candidates as if each had `extra` instances more."""
        candidates = Candidates(self.field, positions, extra)
        fits = self.field.fits(positions, extra)
        sums, weights = np.zeros(len(fits)), np.zeros(len(fits))
        scores = tuple(self._score(column, candidates) for column in self._columns)
        for column, score in zip(self._columns, scores, strict=True):
            if score.counted is True:
                sums += score.values if column.weight == 1.0 else column.weight * score.values
                weights += column.weight
            elif score.counted is not False:
                sums += column.weight * score.values
                weights += column.weight * score.counted
        if not isfinite(np.add.reduce(sums)):
            raise AlgorithmError(self._algorithm.name, "it did not give each node a finite score")
        return Level(sums, weights, fits, tuple(score.values for score in scores))

    def look_again(self, positions: NDArray[np.intp]) -> None:
        """Score some candidates again, after something was placed or stopped there."""
        if len(positions) == 1 and self._scores_one_by_one:
            self._look_again_at_one(positions.item(0))
            return
        self.field.refresh(positions)
        sums, weights, fits, values = self.level(positions, 0)
        self.sums[positions], self.weights[positions], self.fits[positions] = sums, weights, fits
        for kept, fresh in zip(self._values, values, strict=True):
            kept[positions] = fresh
        if self._steps is not None:
            self._steps[positions] = _steps(means(sums, weights), fits)

    def _look_again_at_one(self, position: int) -> None:
        """The same for what most small jobs change; numbers by themselves are faster than arrays of one."""
        field = self.field
        field.refresh_one(position)
        total = weights = 0.0
        for kept, column in zip(self._values, self._columns, strict=True):
            assert column.score_one is not None
            value = column.score_one(field, position)
            kept[position] = value or 0.0
            if value is not None:
                total += column.weight * value
                weights += column.weight
        fits = field.fits_one(position)
        self.sums[position], self.weights[position], self.fits[position] = total, weights, fits
        if self._steps is not None:
            step = float(round(total / max(weights, _TINY) * (1.0 / NEAR_TIE))) * _TIES
            self._steps[position] = step if fits else NOWHERE

    def close(self, positions: list[int]) -> None:
        """Take candidates out of the race, whatever room they have."""
        self._closed.update(positions)
        self.fits[positions] = False
        if self._steps is not None:
            self._steps[positions] = NOWHERE

    def hand_on(self, job: Job, group: TaskGroup, changed: list[int], seed: int) -> None:
        """Serve another group that scores nodes alike and has no allocations yet.

        `changed` are the positions at which something was placed or stopped since the last look.
        """
        self.field.job, self.field.group = job, group
        stale = self._closed.union(changed)
        self._closed.clear()
        if len(stale) == 1 and self._scores_one_by_one:
            self._look_again_at_one(next(iter(stale)))
        elif stale:
            self.look_again(np.fromiter(sorted(stale), dtype=np.intp))
        self.ties = _ties(self._shuffle, seed)

    def keys(self) -> Floats:
        """The keys of all candidates, as they are without wishes."""
        if self._steps is None:
            self._steps = _steps(means(self.sums, self.weights), self.fits)
        return self._steps + self.ties

    def finals(self, wishes: list[Wish]) -> Floats:
        """The weighted mean of all scores, for every candidate; 0 where nothing counts."""
        sums, weights = self.sums, self.weights
        for wish in wishes:
            sums = sums + wish.values
            weights = weights + wish.counted
        return means(sums, weights)

    def parts(self, positions: NDArray[np.intp], wishes: list[Wish]) -> list[dict[str, float]]:
        """The scores of some candidates, by name, as placement metrics report them."""
        rows = zip(*(one[positions].tolist() for one in self._values), strict=True)
        parts = [self.named(row) for row in rows]
        for wish in wishes:
            for part, position in zip(parts, positions.tolist(), strict=True):
                if wish.counted[position]:
                    part[wish.name] = float(wish.values[position])
        return parts

    def scores_of(self, position: int) -> tuple[tuple[float, ...], float]:
        """The scores of one candidate, one for each column, and their weighted mean."""
        mean = self.sums.item(position) / max(self.weights.item(position), _TINY)
        return tuple([one.item(position) for one in self._values]), mean

    def scored(self, position: int) -> tuple[dict[str, float], float]:
        """The scores of one candidate by name, and their weighted mean."""
        row, mean = self.scores_of(position)
        return self.named(row), mean

    def named(self, row: tuple[float, ...]) -> dict[str, float]:
        """The scores of one candidate, by name."""
        return dict(zip(self._names, row, strict=True))

    def _score(self, column: ScoreColumn, candidates: Candidates) -> Score:
        """One column's score. Raises AlgorithmError with the algorithm's name if its plug-in misbehaves."""
        try:
            score = column.score(candidates)
            is_whole = score.values.shape == candidates.slots.shape
        except Exception as error:
            problem = f"its column {column.name!r} failed: {error}"
            raise AlgorithmError(self._algorithm.name, problem) from error
        if not is_whole:
            problem = f"its column {column.name!r} did not give one score for each node"
            raise AlgorithmError(self._algorithm.name, problem)
        return score


def means(sums: Floats, weights: Floats) -> Floats:
    """Weighted means; 0 where nothing counts."""
    return np.asarray(sums / np.maximum(weights, _TINY))


def keys(finals: Floats, fits: NDArray[np.bool_], ties: Floats) -> Floats:
    """Whole numbers that order candidates: by score, equal scores by the evaluation's own shuffle."""
    order = _steps(finals, fits)
    order += ties
    return order


def _steps(finals: Floats, fits: NDArray[np.bool_]) -> Floats:
    """Scores as whole numbers, so far apart that ties fit between; NOWHERE where there is no room."""
    steps = finals * (1.0 / NEAR_TIE)
    np.rint(steps, out=steps)
    steps *= _TIES
    steps[~fits] = NOWHERE
    return steps


def _shuffle(slots: NDArray[np.intp]) -> NDArray[np.uint32]:
    """A number below _TIES for each slot, without order."""
    mixed = slots.astype(np.uint32)
    mixed *= _MIX_1
    mixed ^= mixed >> np.uint32(15)
    mixed *= _MIX_2
    mixed ^= mixed >> np.uint32(13)
    mixed &= np.uint32(_TIES - 1)
    return mixed


def _ties(shuffle: NDArray[np.uint32], seed: int) -> Floats:
    """A shuffle of the candidates by a seed: cheaper than a permutation, and as good for breaking ties."""
    return (shuffle ^ np.uint32(seed & (_TIES - 1))).astype(np.float64)

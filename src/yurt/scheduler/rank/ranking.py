"""How well every candidate suits the next instance of a group."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from yurt.scheduler.rank.algorithms import AlgorithmError
from yurt.scheduler.rank.candidates import EVERYWHERE, Candidates, Field, Floats, Ints, Positions
from yurt.scheduler.rank.score import Algorithm, Score, ScoreColumn

# Scores that differ by less than this are equal, so that workers side by side choose different nodes.
NEAR_TIE = 1e-6
# No node: below the key of every score.
NOWHERE = np.iinfo(np.int64).min

_TIE_BITS = 20
_MIX_1, _MIX_2 = np.uint32(0x9E3779B1), np.uint32(0x85EBCA6B)


class Wish(NamedTuple):
    """A score that the job itself asks for; where it counts, as much as one column of weight 1."""

    name: str
    values: Floats
    counted: NDArray[np.bool_]


class Level(NamedTuple):
    """Some candidates with so many instances more: sums and weights of their scores, and whether one fits."""

    sums: Floats
    weights: Floats
    fits: NDArray[np.bool_]


class Ranking:
    """Scores of all candidates of a field, kept current while instances are placed."""

    def __init__(
        self, field: Field, algorithm: Algorithm, columns: tuple[ScoreColumn, ...], seed: int
    ) -> None:
        self.field = field
        self._algorithm = algorithm
        self._columns = columns
        self.sums, self.weights, self.fits = self.level(EVERYWHERE, 0)
        self.ties = _ties(field.slots, seed)

    def level(self, positions: Positions, extra: int | Ints) -> Level:
        """Score candidates as if each had `extra` instances more."""
        candidates = Candidates(self.field, positions, extra)
        sums = np.zeros(len(candidates.slots))
        weights = np.zeros(len(candidates.slots))
        for column in self._columns:
            score = self._checked(column, candidates)
            sums += column.weight * score.values
            if score.counted is not False:
                weights += column.weight * score.counted
        return Level(sums, weights, self.field.fits(positions, extra))

    def look_again(self, positions: NDArray[np.intp]) -> None:
        """Score some candidates again, after something was placed or stopped there."""
        self.field.refresh(positions)
        self.sums[positions], self.weights[positions], self.fits[positions] = self.level(positions, 0)

    def finals(self, wishes: list[Wish]) -> Floats:
        """The mean of all scores, for every candidate."""
        return means(self.sums, self.weights, wishes)

    def parts(self, positions: NDArray[np.intp], wishes: list[Wish]) -> list[dict[str, float]]:
        """The scores of some candidates, by name, as placement metrics report them."""
        candidates = Candidates(self.field, positions, 0)
        parts: list[dict[str, float]] = [{} for _ in range(len(positions))]
        for column in self._columns:
            score = self._checked(column, candidates)
            counted = np.broadcast_to(score.counted, score.values.shape).tolist()
            for part, value, is_counted in zip(parts, score.values.tolist(), counted, strict=True):
                if is_counted or not score.is_quiet:
                    part[column.name] = value
        for wish in wishes:
            for part, position in zip(parts, positions.tolist(), strict=True):
                if wish.counted[position]:
                    part[wish.name] = float(wish.values[position])
        return parts

    def _checked(self, column: ScoreColumn, candidates: Candidates) -> Score:
        """One column's score. Raises AlgorithmError with the algorithm's name if its plug-in misbehaves."""
        try:
            score = column.score(candidates)
            is_whole = score.values.shape == candidates.slots.shape
        except Exception as error:
            raise AlgorithmError(
                self._algorithm.name, f"its column {column.name!r} failed: {error}"
            ) from error
        if not is_whole or not np.isfinite(score.values).all():
            problem = f"its column {column.name!r} did not give each node a finite score"
            raise AlgorithmError(self._algorithm.name, problem)
        return score


def means(sums: Floats, weights: Floats, wishes: list[Wish]) -> Floats:
    """The weighted means of scores and wishes; 0 where nothing counts."""
    for wish in wishes:
        sums = sums + wish.values
        weights = weights + wish.counted
    return np.asarray(sums / np.where(weights > 0, weights, 1.0))


def keys(finals: Floats, fits: NDArray[np.bool_], ties: Ints) -> Ints:
    """Whole numbers that order candidates: by score, equal scores by the evaluation's own shuffle."""
    graded = np.rint(finals / NEAR_TIE).astype(np.int64)
    return np.where(fits, (graded << _TIE_BITS) | ties, NOWHERE)


def _ties(slots: NDArray[np.intp], seed: int) -> Ints:
    """A shuffle of the candidates: cheaper than a permutation, and as good for breaking ties."""
    mixed = slots.astype(np.uint32)
    mixed ^= np.uint32(seed & 0xFFFFFFFF)
    mixed *= _MIX_1
    mixed ^= mixed >> np.uint32(15)
    mixed *= _MIX_2
    mixed ^= mixed >> np.uint32(13)
    return (mixed >> np.uint32(32 - _TIE_BITS)).astype(np.int64)

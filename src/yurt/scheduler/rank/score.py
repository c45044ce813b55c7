"""Scores, and what a placement algorithm is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from yurt.scheduler.rank.candidates import Candidates, Field, Floats


class Score(NamedTuple):
    """One score of every candidate.

    `counted` says where it enters the mean: everywhere, nowhere, or by a mask. Where it does not, it
    must be 0; it is reported all the same.
    """

    values: Floats
    counted: bool | NDArray[np.bool_] = True


class ScoreColumn(msgspec.Struct, frozen=True):
    """A score with its name in placement metrics and its weight in the mean.

    `score_one` may give the same for one position of a field, as it is, without arrays: faster after a
    placement that changed one node. None is a score that does not count.
    """

    name: str
    score: Callable[[Candidates], Score]
    weight: float = 1.0
    score_one: Callable[[Field, int], float | None] | None = None


class Algorithm(msgspec.Struct, frozen=True, kw_only=True):
    """A way to choose nodes: the one with the highest weighted mean of `columns` is taken.

    The first column says how well a node is used; it alone scores jobs that run on every node.
    `job_types` are the types of job it is meant for; others are placed by the default algorithm.
    """

    name: str
    job_types: frozenset[str]
    columns: tuple[ScoreColumn, ...]

"""The fit score: how full a node gets, for packing tightly or for spreading out."""

from __future__ import annotations

import numpy as np

from yurt.scheduler.rank.candidates import Candidates, Field, Floats
from yurt.scheduler.rank.score import Score, ScoreColumn
from yurt.state.use import CPU, MEMORY

# Both algorithms report under this name, as in Nomad.
NAME = "binpack"
SCORE_MAX = 18.0

_LN_10 = float(np.log(10.0))


def packed(candidates: Candidates) -> Score:
    """1 for a full node, 0 for an empty one."""
    return _within_bounds(20.0 - emptiness(candidates))


def spread_out(candidates: Candidates) -> Score:
    """1 for an empty node, 0 for a full one."""
    return _within_bounds(emptiness(candidates) - 2.0)


def emptiness(candidates: Candidates) -> Floats:
    """10 to the power of the free share of CPU, plus the same of memory: 2 when full, 20 when empty."""
    # Much faster than powers of ten, and the same to the last digits.
    cpu = np.exp(candidates.cpu_after_mhz / np.maximum(candidates.cpu_mhz, 1) * -_LN_10 + _LN_10)
    memory = np.exp(candidates.memory_after_mb / np.maximum(candidates.memory_mb, 1) * -_LN_10 + _LN_10)
    return np.asarray(cpu + memory)


def packed_one(field: Field, position: int) -> float:
    """`packed` of one node."""
    return _within_bounds_one(20.0 - _emptiness_one(field, position))


def spread_out_one(field: Field, position: int) -> float:
    """`spread_out` of one node."""
    return _within_bounds_one(_emptiness_one(field, position) - 2.0)


def _emptiness_one(field: Field, position: int) -> float:
    # With numpy's own exponential: Python's may differ in the last digit.
    cpu = np.exp(field.full_share(CPU, position) * -_LN_10 + _LN_10)
    return float(cpu + np.exp(field.full_share(MEMORY, position) * -_LN_10 + _LN_10))


def _within_bounds_one(value: float) -> float:
    return min(max(value, 0.0), SCORE_MAX) / SCORE_MAX


def _within_bounds(values: Floats) -> Score:
    # What np.clip does, at a fraction of its fixed cost.
    return Score(np.minimum(np.maximum(values, 0.0), SCORE_MAX) / SCORE_MAX)


BINPACK = ScoreColumn(NAME, packed, score_one=packed_one)
SPREAD = ScoreColumn(NAME, spread_out, score_one=spread_out_one)

"""The scores of the balanced algorithm: even load, few neighbours, short ways."""

from __future__ import annotations

import numpy as np

from yurt.scheduler.rank.affinity import NAME as AFFINITY_NAME
from yurt.scheduler.rank.affinity import preferred
from yurt.scheduler.rank.candidates import Candidates
from yurt.scheduler.rank.nearness import nearness
from yurt.scheduler.rank.score import Score, ScoreColumn


def free_resources(candidates: Candidates) -> Score:
    """The free share of CPU and of memory after placing, on average."""
    cpu = 1.0 - candidates.cpu_after_mhz / np.maximum(candidates.cpu_mhz, 1)
    memory = 1.0 - candidates.memory_after_mb / np.maximum(candidates.memory_mb, 1)
    return Score(np.clip((cpu + memory) / 2.0, 0.0, 1.0))


def few_allocs(candidates: Candidates) -> Score:
    """1 for a node without allocations, falling with each."""
    return Score(np.asarray(1.0 / (1.0 + candidates.allocs), dtype=np.float64))


def affinity(candidates: Candidates) -> Score:
    """Node affinity that counts as 0 for jobs without, so that the weights of the others stay as they are."""
    return Score(preferred(candidates).values)


FREE_RESOURCES = ScoreColumn("free-resources", free_resources, 0.4)
AFFINITY = ScoreColumn(AFFINITY_NAME, affinity, 0.3)
FEW_ALLOCS = ScoreColumn("few-allocations", few_allocs, 0.2)
NEARNESS = ScoreColumn("network-nearness", nearness, 0.1)

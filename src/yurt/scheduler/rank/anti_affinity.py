"""Job anti-affinity: instances of one group keep apart."""

from __future__ import annotations

import numpy as np

from yurt.scheduler.rank.candidates import Candidates
from yurt.scheduler.rank.score import Score, ScoreColumn


def keep_apart(candidates: Candidates) -> Score:
    """The more instances of the group a node has, the lower; nothing where it has none."""
    collisions = candidates.collisions
    counted = collisions > 0
    if not counted.any():
        return Score(np.zeros(len(collisions)), counted=False)
    return Score(np.where(counted, -(collisions + 1.0) / max(candidates.group.count, 1), 0.0), counted)


ANTI_AFFINITY = ScoreColumn("job-anti-affinity", keep_apart)

"""Job anti-affinity: instances of one group keep apart."""

from __future__ import annotations

import numpy as np

from yurt.scheduler.rank.candidates import Candidates, Field
from yurt.scheduler.rank.score import Score, ScoreColumn


def keep_apart(candidates: Candidates) -> Score:
    """The more instances of the group a node has, the lower; nothing where it has none."""
    collisions = candidates.collisions
    counted = collisions > 0
    if not counted.any():
        return Score(np.zeros(len(collisions)), counted=False)
    return Score(np.where(counted, -(collisions + 1.0) / max(candidates.group.count, 1), 0.0), counted)


def keep_apart_one(field: Field, position: int) -> float | None:
    """`keep_apart` of one node."""
    collisions = field.collisions.item(position)
    return -(collisions + 1.0) / max(field.group.count, 1) if collisions > 0 else None


ANTI_AFFINITY = ScoreColumn("job-anti-affinity", keep_apart, score_one=keep_apart_one)

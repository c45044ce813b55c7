"""Node affinity: what a job prefers or avoids."""

from __future__ import annotations

import numpy as np

from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.model.placement_rules import Affinity
from yurt.scheduler.feasible.constraints import holds_on
from yurt.scheduler.rank.candidates import Candidates, Field, Floats
from yurt.scheduler.rank.score import Score, ScoreColumn
from yurt.state.columns import NodeColumns

NAME = "node-affinity"


def preferred(candidates: Candidates) -> Score:
    """From -1 to 1: the weights of the affinities a node meets, over all weights."""
    affinities = all_affinities(candidates.job, candidates.group)
    if not affinities:
        return Score(np.zeros(len(candidates.slots)), counted=False)
    return Score(np.asarray(affinity_of_nodes(candidates.nodes, affinities)[candidates.slots]))


def all_affinities(job: Job, group: TaskGroup) -> tuple[Affinity, ...]:
    """The affinities of a job, a group and its tasks."""
    return (
        *(job.affinities or ()),
        *(group.affinities or ()),
        *(affinity for task in group.tasks for affinity in task.affinities or ()),
    )


def affinity_of_nodes(columns: NodeColumns, affinities: tuple[Affinity, ...]) -> Floats:
    """The affinity score of every node; kept until nodes change."""
    key = ("affinity", affinities)
    known: Floats | None = columns.memo.get(key)
    if known is not None:
        return known
    total = sum(abs(affinity.weight) for affinity in affinities)
    scores = np.zeros(columns.size)
    for affinity in affinities:
        scores += affinity.weight * holds_on(columns, affinity)
    scores /= max(total, 1)
    columns.keep(key, scores)
    return scores


def preferred_one(field: Field, position: int) -> float | None:
    """`preferred` of one node."""
    affinities = all_affinities(field.job, field.group)
    if not affinities:
        return None
    scores = affinity_of_nodes(field.view.columns, affinities)
    return float(scores.item(field.slots.item(position)))


NODE_AFFINITY = ScoreColumn(NAME, preferred, score_one=preferred_one)

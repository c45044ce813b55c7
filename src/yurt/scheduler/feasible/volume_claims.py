"""Claimed volumes: a group with sticky volumes goes back to those that it has used before."""

from __future__ import annotations

from collections import Counter

import numpy as np
from numpy.typing import NDArray

from yurt.model.group import TaskGroup
from yurt.model.job import Job
from yurt.scheduler.feasible.volumes import host_volumes
from yurt.scheduler.view import View


def has_sticky_volumes(group: TaskGroup) -> bool:
    """Whether a group wants to find its volumes again."""
    return any(request.sticky for request in host_volumes(group))


def nodes_with_claims(view: View, job: Job, group: TaskGroup) -> NDArray[np.bool_] | None:
    """Mask of the nodes with volumes that the group has claimed and does not use now.

    None when there are none, so that it may go wherever such a volume is, and claim it.
    """
    if not len(view.state.volume_claims):
        return None
    mask: NDArray[np.bool_] | None = None
    for request in host_volumes(group):
        if request.sticky:
            left = _unmet(view, job, group, request.source)
            if left is not None:
                mask = left if mask is None else mask & left
    return mask


def _unmet(view: View, job: Job, group: TaskGroup, name: str) -> NDArray[np.bool_] | None:
    claimed = Counter(
        claim.volume_id
        for claim in view.state.volume_claims
        if (claim.namespace, claim.job_id, claim.task_group_name, claim.volume_name)
        == (job.namespace, job.id, group.name, name)
    )
    live = view.places(job).live(group.name)
    mask = np.zeros(view.size, dtype=np.bool_)
    is_left = False
    for volume_id, claims in claimed.items():
        volume = view.state.host_volumes.get(volume_id)
        slot = view.columns.slots.get(volume.node_id) if volume is not None else None
        # A volume whose node is away is claimed all the same: the group waits for it.
        if volume is not None and (slot is None or live.get(slot, 0) < claims):
            is_left = True
            if slot is not None:
                mask[slot] = True
    return mask if is_left else None

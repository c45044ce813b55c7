"""Applying what becomes of claims on volumes: allocations make them, people and purges end them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec.structs import replace

from yurt.model.alloc import Allocation
from yurt.model.job import Job, JobKey
from yurt.model.node import Node
from yurt.model.volume_claim import VolumeClaim
from yurt.state.state import State

HOST_VOLUME = "host"


def claim_volumes(state: State, index: int, job: Job, task_group: str, fresh: Iterable[Allocation]) -> None:
    """Give new allocations of a group its claims on the sticky volumes of their nodes, or new ones."""
    group = job.group(task_group)
    names = [
        request.source
        for request in ((group.volumes if group is not None else None) or {}).values()
        if request.sticky and request.type == HOST_VOLUME
    ]
    if not names:
        return
    for alloc in fresh:
        node = state.nodes.get(alloc.node_id)
        for name in names:
            volume_id = _volume_id(node, name)
            if volume_id:
                _claim(state, index, alloc, volume_id, name)


def drop_claims(state: State, index: int, *, job: JobKey | None = None, volume_id: str = "") -> None:
    """End all claims of a job, or on a volume."""
    for claim in state.volume_claims.rows():
        if JobKey(claim.namespace, claim.job_id) == job or claim.volume_id == volume_id:
            state.volume_claims.delete(claim.id, index)


def _volume_id(node: Node | None, name: str) -> str:
    volume = (node.host_volumes or {}).get(name) if node is not None else None
    return volume.id if volume is not None else ""


def _claim(state: State, index: int, alloc: Allocation, volume_id: str, name: str) -> None:
    for claim in state.volume_claims:
        is_the_groups = (claim.namespace, claim.job_id, claim.task_group_name) == (
            alloc.namespace,
            alloc.job.id,
            alloc.task_group,
        )
        if is_the_groups and claim.volume_id == volume_id and _is_free(state, claim):
            taken = replace(claim, alloc_id=alloc.id, modify_index=index)
            state.volume_claims.put(claim.id, taken, index)
            return
    claim_id = _claim_id(alloc, volume_id)
    made = VolumeClaim(
        id=claim_id,
        namespace=alloc.namespace,
        job_id=alloc.job.id,
        task_group_name=alloc.task_group,
        alloc_id=alloc.id,
        volume_id=volume_id,
        volume_name=name,
        create_index=index,
        modify_index=index,
    )
    state.volume_claims.put(claim_id, made, index)


def _is_free(state: State, claim: VolumeClaim) -> bool:
    user = state.allocs.get(claim.alloc_id)
    return user is None or user.is_terminal


def _claim_id(alloc: Allocation, volume_id: str) -> str:
    """An id that looks like any other, made of the allocation's, so that every server makes the same."""
    digits = hashlib.sha256(f"{alloc.id}/{volume_id}".encode()).hexdigest()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:32]}"

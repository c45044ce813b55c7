"""Scheduling service and batch jobs: so many instances, wherever they fit best."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import msgspec
import numpy as np
from msgspec.structs import replace

from yurt.model.alloc import Allocation
from yurt.model.alloc_metric import AllocMetric
from yurt.model.allocated import (
    AllocatedCpu,
    AllocatedMemory,
    AllocatedResources,
    AllocatedShared,
    AllocatedTaskResources,
)
from yurt.model.evaluation import (
    EVAL_BLOCKED,
    EVAL_COMPLETE,
    TRIGGER_QUEUED_ALLOCS,
    Evaluation,
)
from yurt.model.group import TaskGroup
from yurt.model.job import Job, JobKey
from yurt.model.node import NODE_DOWN
from yurt.model.plan import JobRef, Placements, Plan, PlanChanges, StopAllocs
from yurt.model.wire import AllocID, EvalID, Nanoseconds, NodeID
from yurt.scheduler.attempt import Attempt
from yurt.scheduler.ids import new_id
from yurt.scheduler.view import View

NOT_NEEDED = "alloc not needed due to job update"
LOST = "alloc is lost since its node is down"


def attempt(view: View, evaluation: Evaluation, *, now: Nanoseconds, rng: Random) -> Attempt:
    """Bring a service or batch job to its count."""
    state = view.state
    key = JobKey(evaluation.namespace, evaluation.job_id)
    job = state.jobs.get(key)
    live = [alloc for alloc in state.allocs.of_job(key) if not alloc.is_terminal]
    if job is None or job.stop:
        surplus = [alloc.id for alloc in live]
        return _finish(view, evaluation, _stops(surplus, []), {}, {}, now=now, rng=rng)
    lost = [alloc.id for alloc in live if _is_lost(view, alloc)]
    surplus = []
    placements: list[Placements] = []
    failed: dict[str, AllocMetric] = {}
    queued: dict[str, int] = {}
    for group in job.task_groups:
        kept = [alloc for alloc in live if alloc.task_group == group.name and alloc.id not in lost]
        surplus += [alloc.id for alloc in kept[group.count :]]
        done = [a for a in state.allocs.of_job(key) if a.task_group == group.name and _is_done(job, a)]
        taken = {alloc.name_index for alloc in (*kept[: group.count], *done)}
        wanted = [index for index in range(group.count) if index not in taken]
        placed = _place(view, evaluation, job, group, wanted, rng)
        if placed is not None:
            placements.append(placed)
        missing = len(wanted) - (len(placed.ids) if placed is not None else 0)
        queued[group.name] = missing
        if missing:
            failed[group.name] = AllocMetric(
                nodes_evaluated=view.size, nodes_exhausted=view.size, coalesced_failures=missing - 1
            )
    surplus += [alloc.id for alloc in live if job.group(alloc.task_group) is None]
    changes = replace(_stops(surplus, lost), placements=tuple(placements))
    return _finish(view, evaluation, changes, failed, queued, now=now, rng=rng)


def _is_lost(view: View, alloc: Allocation) -> bool:
    node = view.state.nodes.get(alloc.node_id)
    return node is None or node.status == NODE_DOWN


def _is_done(job: Job, alloc: Allocation) -> bool:
    """Whether a batch instance has run to its end, and needs no other; a failed service stays failed."""
    return (
        alloc.is_client_terminal
        and not alloc.is_server_terminal
        and alloc.job.create_index == job.create_index
    )


def _stops(surplus: Sequence[AllocID], lost: Sequence[AllocID]) -> PlanChanges:
    stops = []
    if surplus:
        stops.append(StopAllocs(ids=list(surplus), description=NOT_NEEDED))
    if lost:
        stops.append(StopAllocs(ids=list(lost), description=LOST, client_status="lost"))
    return PlanChanges(stops=tuple(stops))


def _place(
    view: View, evaluation: Evaluation, job: Job, group: TaskGroup, wanted: list[int], rng: Random
) -> Placements | None:
    """Put each instance on the node that it fills best."""
    columns, size = view.state.columns, view.size
    ask = _ask(group)
    ids: list[AllocID] = []
    node_ids: list[NodeID] = []
    for _ in wanted:
        cpu = columns.cpu_mhz[:size] - view.cpu_used_mhz - ask.cpu_mhz
        memory = columns.memory_mb[:size] - view.memory_used_mb - ask.memory_mb
        disk = columns.disk_mb[:size] - view.disk_used_mb - ask.shared.disk_mb
        fits = columns.ready[:size] & (cpu >= 0) & (memory >= 0) & (disk >= 0)
        if not fits.any():
            break
        free_cpu = cpu / np.maximum(columns.cpu_mhz[:size], 1)
        free_memory = memory / np.maximum(columns.memory_mb[:size], 1)
        score = np.where(fits, 20.0 - (10.0**free_cpu + 10.0**free_memory), -np.inf)
        slot = int(np.argmax(score))
        node_id = columns.node_ids[slot]
        assert node_id is not None, "a ready slot has a node"
        view.cpu_used_mhz[slot] += ask.cpu_mhz
        view.memory_used_mb[slot] += ask.memory_mb
        view.disk_used_mb[slot] += ask.shared.disk_mb
        ids.append(AllocID(new_id(rng)))
        node_ids.append(node_id)
    if not ids:
        return None
    return Placements(
        job=JobRef(job.namespace, job.id, job.create_index, job.version),
        task_group=group.name,
        eval_id=evaluation.id,
        resources=ask,
        ids=ids,
        name_indexes=wanted[: len(ids)],
        node_ids=node_ids,
        metrics=msgspec.msgpack.encode(AllocMetric(nodes_evaluated=size)),
    )


def _ask(group: TaskGroup) -> AllocatedResources:
    return AllocatedResources(
        tasks={
            task.name: AllocatedTaskResources(
                cpu=AllocatedCpu(cpu_shares=task.resources.cpu),
                memory=AllocatedMemory(
                    memory_mb=task.resources.memory_mb, memory_max_mb=task.resources.memory_max_mb
                ),
            )
            for task in group.tasks
        },
        task_lifecycles={task.name: task.lifecycle for task in group.tasks},
        shared=AllocatedShared(disk_mb=group.ephemeral_disk.size_mb),
    )


def _finish(
    view: View,
    evaluation: Evaluation,
    changes: PlanChanges,
    failed: dict[str, AllocMetric],
    queued: dict[str, int],
    *,
    now: Nanoseconds,
    rng: Random,
) -> Attempt:
    plan = None
    if not changes.is_empty:
        plan = Plan(
            eval_id=evaluation.id,
            priority=evaluation.priority,
            snapshot_index=view.state.index,
            changes=changes,
        )
    blocked: tuple[Evaluation, ...] = ()
    if failed and evaluation.status == EVAL_BLOCKED:
        again = replace(
            evaluation, failed_tg_allocs=failed, escaped_computed_class=True, snapshot_index=view.state.index
        )
        return Attempt(evaluation=again, plan=plan, reblock=True)
    if failed:
        blocked = (
            replace(
                evaluation,
                id=EvalID(new_id(rng)),
                status=EVAL_BLOCKED,
                status_description="created to place remaining allocations",
                triggered_by=TRIGGER_QUEUED_ALLOCS,
                previous_eval=evaluation.id,
                failed_tg_allocs=failed,
                escaped_computed_class=True,
                snapshot_index=view.state.index,
                create_time=now,
                modify_time=now,
            ),
        )
    done = replace(
        evaluation,
        status=EVAL_COMPLETE,
        status_description="",
        failed_tg_allocs=failed or None,
        queued_allocations=queued,
        blocked_eval=blocked[0].id if blocked else "",
        snapshot_index=view.state.index,
        modify_time=now,
    )
    return Attempt(evaluation=done, plan=plan, new_evals=blocked)

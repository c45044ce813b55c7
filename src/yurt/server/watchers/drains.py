"""Watching drains: allocations leave draining nodes, a few at a time, until nothing is left or time is up."""

from __future__ import annotations

from collections.abc import Callable, Collection

from yurt.model.alloc import Allocation, DesiredTransition
from yurt.model.evaluation import EVAL_PENDING, TRIGGER_NODE_DRAIN, Evaluation
from yurt.model.job import BATCH, SERVICE, SYSTEM, Job, JobKey
from yurt.model.node import Node
from yurt.model.times import SECOND_NS, time_ns
from yurt.model.wire import AllocID, EvalID, Nanoseconds
from yurt.scheduler.reconcile.alloc_facts import group_of, health, transition
from yurt.server.context import ServerContext
from yurt.server.watchers.pacing import Pacer
from yurt.state.entries import Entry, SetDesiredTransitions, SetNodeDrain
from yurt.state.state import State

# What drains call for is collected for so long, as in Nomad.
BATCH_S = 1.0
RESCAN_INTERVAL_S = 5.0
ALLOCS_PER_ENTRY_MAX = 7281

COMPLETE = "Node drain complete"
DEADLINE_REACHED = {"deadline_reached": "true"}

_MIGRATE = DesiredTransition(migrate=True)
# Drained batch work is not moved: it would start from the beginning elsewhere.
_STOP = DesiredTransition(migrate=True, migrate_disable_placement=True)


async def watch_drains(context: ServerContext) -> None:
    """Move draining nodes along, on the leader, until cancelled."""
    async with Pacer(context, ("nodes", "allocs"), batch_s=BATCH_S) as pacer:
        while True:
            now = context.clock.now_ns()
            await pacer.propose_each(next_drain_steps(context.state, now=now, new_id=context.new_id))
            due = next_drain_deadline(context.state)
            wait_s = RESCAN_INTERVAL_S
            if due is not None:
                wait_s = min(wait_s, max(BATCH_S, (due - now) / SECOND_NS))
            await pacer.wait(wait_s)


def next_drain_steps(state: State, *, now: Nanoseconds, new_id: Callable[[], str]) -> list[Entry]:
    """Say which allocations leave draining nodes next, and which drains are over."""
    draining = state.nodes.draining()
    if not draining:
        return []
    leaving: dict[AllocID, Allocation] = {}
    over: list[SetNodeDrain] = []
    jobs: dict[JobKey, None] = {}
    for node in draining:
        allocs = [alloc for alloc in state.allocs.of_node(node.id) if not alloc.is_client_terminal]
        is_late = _is_late(node, now)
        if is_late or not any(map(_holds_drain, allocs)):
            leaving.update((a.id, a) for a in allocs if _goes_at_the_end(a, node))
            over.append(_drain_over(node, now, is_late=is_late and any(map(_holds_drain, allocs))))
        else:
            jobs.update((alloc.job_key, None) for alloc in allocs)
    nodes = {node.id for node in draining}
    for key in jobs:
        leaving.update((alloc.id, alloc) for alloc in _next_of_job(state, key, nodes))
    return [*_marks(state, leaving, now, new_id), *over]


def next_drain_deadline(state: State) -> Nanoseconds | None:
    """When the next drain runs out of time, if any does."""
    deadlines = [
        time_ns(node.drain_strategy.force_deadline)
        for node in state.nodes.draining()
        if node.drain_strategy is not None and node.drain_strategy.force_deadline is not None
    ]
    return min(deadlines, default=None)


def _is_late(node: Node, now: Nanoseconds) -> bool:
    drain = node.drain_strategy
    if drain is None:
        return False
    return drain.deadline < 0 or (drain.force_deadline is not None and time_ns(drain.force_deadline) <= now)


def _holds_drain(alloc: Allocation) -> bool:
    """Whether a drain is not over while this allocation lives. System jobs and plugins go last."""
    return alloc.job.type != SYSTEM and not _is_plugin(alloc)


def _is_plugin(alloc: Allocation) -> bool:
    group = group_of(alloc)
    return group is not None and any(task.csi_plugin_config is not None for task in group.tasks)


def _goes_at_the_end(alloc: Allocation, node: Node) -> bool:
    if alloc.is_terminal or transition(alloc).migrate:
        return False
    drain = node.drain_strategy
    return alloc.job.type != SYSTEM or drain is None or not drain.ignore_system_jobs


def _drain_over(node: Node, now: Nanoseconds, *, is_late: bool) -> SetNodeDrain:
    return SetNodeDrain(
        at=now,
        node_id=node.id,
        drain=None,
        event=COMPLETE,
        details=DEADLINE_REACHED if is_late else None,
        is_complete=True,
    )


def _next_of_job(state: State, key: JobKey, draining: Collection[str]) -> list[Allocation]:
    """The allocations of a service job that may leave now, so that enough others stay healthy."""
    job = state.jobs.get(key)
    if job is None or job.type != SERVICE:
        return []
    chosen: list[Allocation] = []
    allocs = state.allocs.of_job(key)
    for group in job.task_groups:
        if group.migrate is None:
            continue
        own = [alloc for alloc in allocs if alloc.task_group == group.name]
        healthy = sum(
            not alloc.is_terminal and health(alloc) is not None and not transition(alloc).migrate
            for alloc in own
        )
        leaving = [
            alloc
            for alloc in own
            if alloc.node_id in draining and not alloc.is_terminal and not transition(alloc).migrate
        ]
        room = healthy - (group.count - group.migrate.max_parallel)
        chosen += leaving[: max(0, room)]
    return chosen


def _marks(
    state: State, leaving: dict[AllocID, Allocation], now: Nanoseconds, new_id: Callable[[], str]
) -> list[SetDesiredTransitions]:
    marks: list[SetDesiredTransitions] = []
    allocs = list(leaving.values())
    for start in range(0, len(allocs), ALLOCS_PER_ENTRY_MAX):
        part = allocs[start : start + ALLOCS_PER_ENTRY_MAX]
        jobs = {alloc.job_key: state.jobs.get(alloc.job_key) or alloc.job for alloc in part}
        marks.append(
            SetDesiredTransitions(
                at=now,
                transitions={alloc.id: _STOP if alloc.job.type == BATCH else _MIGRATE for alloc in part},
                evals=tuple(_drain_eval(job, now, new_id) for job in jobs.values()),
            )
        )
    return marks


def _drain_eval(job: Job, now: Nanoseconds, new_id: Callable[[], str]) -> Evaluation:
    return Evaluation(
        id=EvalID(new_id()),
        namespace=job.namespace,
        priority=job.priority,
        type=job.type,
        triggered_by=TRIGGER_NODE_DRAIN,
        job_id=job.id,
        status=EVAL_PENDING,
        create_time=now,
        modify_time=now,
    )

"""Which jobs must be looked at when a node changes."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import translate
from functools import lru_cache
from re import Pattern
from re import compile as compile_pattern

from yurt.model.coordinates import ATTRIBUTE
from yurt.model.evaluation import EVAL_PENDING, TRIGGER_NODE_UPDATE, Evaluation
from yurt.model.job import BATCH, SERVICE, Job, JobKey
from yurt.model.node import NODE_DISCONNECTED, NODE_DOWN, NODE_INITIALIZING, NODE_READY, Node
from yurt.model.wire import ALL_NODE_POOL, EvalID, Nanoseconds
from yurt.state.state import State


def evals_for_node(
    state: State,
    node: Node,
    *,
    now: Nanoseconds,
    new_id: Callable[[], str],
    trigger: str = TRIGGER_NODE_UPDATE,
) -> tuple[Evaluation, ...]:
    """One evaluation for each job with work on the node, and for each system job that may run there."""
    jobs: dict[JobKey, Job] = {}
    for alloc in state.allocs.of_node(node.id):
        kind = alloc.job.type
        if kind == SERVICE:
            concerned = not (alloc.is_server_terminal and alloc.is_client_terminal)
        else:
            concerned = kind == BATCH and not alloc.is_client_terminal
        if concerned:
            jobs[alloc.job_key] = state.jobs.get(alloc.job_key) or alloc.job
    for job in state.jobs.system():
        if not job.stop and _may_run_on(job, node):
            jobs[job.key] = job
    return tuple(
        Evaluation(
            id=EvalID(new_id()),
            namespace=job.namespace,
            priority=job.priority,
            type=job.type,
            triggered_by=trigger,
            job_id=job.id,
            job_modify_index=job.job_modify_index,
            node_id=node.id,
            node_modify_index=node.modify_index,
            status=EVAL_PENDING,
            create_time=now,
            modify_time=now,
        )
        for job in jobs.values()
    )


def status_change_matters(old: str, new: str) -> bool:
    """Whether a node's change of status concerns its jobs."""
    if new == NODE_DOWN:
        return True
    if old == new:
        return False
    came_up = new == NODE_READY and old in (NODE_INITIALIZING, NODE_DOWN)
    return came_up or NODE_DISCONNECTED in (old, new)


def registration_change_matters(old: Node, new: Node) -> bool:
    """Whether a new registration of a known node concerns its jobs. Capacity alone does not."""
    return (
        status_change_matters(old.status, new.status)
        or (old.datacenter, old.name, old.node_class, _facts(old), old.meta, old.host_volumes)
        != (new.datacenter, new.name, new.node_class, _facts(new), new.meta, new.host_volumes)
        or old.node_resources.devices != new.node_resources.devices
        or _driver_health(old) != _driver_health(new)
    )


def _facts(node: Node) -> dict[str, str]:
    """The attributes but for the node's place in the network, which changes and forbids no placement."""
    return {name: value for name, value in node.attributes.items() if name != ATTRIBUTE}


def _driver_health(node: Node) -> dict[str, tuple[bool, bool]]:
    return {name: (info.detected, info.healthy) for name, info in (node.drivers or {}).items()}


def _may_run_on(job: Job, node: Node) -> bool:
    in_pool = job.node_pool in (ALL_NODE_POOL, node.node_pool)
    return in_pool and any(_glob(dc).fullmatch(node.datacenter) for dc in job.datacenters or ("*",))


@lru_cache(maxsize=1024)
def _glob(text: str) -> Pattern[str]:
    """Only `*` is special in a datacenter."""
    return compile_pattern(translate(text.replace("[", "[[]").replace("?", "[?]")))

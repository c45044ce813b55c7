"""Reconciling a system or sysbatch job: one instance of each group on every node that suits it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from yurt.model.alloc import CLIENT_RUNNING, CLIENT_UNKNOWN, DESIRED_RUN, Allocation
from yurt.model.job import SYSBATCH, Job
from yurt.model.node import NODE_DISCONNECTED, Node
from yurt.model.wire import Nanoseconds, NodeID
from yurt.scheduler.reconcile.alloc_facts import awaits_reconnect, is_expired, ran_successfully, transition
from yurt.scheduler.reconcile.tainted import TaintedNodes, is_dead


class NodePlace(msgspec.Struct, frozen=True, kw_only=True):
    """An instance that a node lacks; `previous` ran there before."""

    node_id: NodeID
    name_index: int
    previous: Allocation | None = None


class SystemGroup(msgspec.Struct, frozen=True, kw_only=True):
    """What must change about one group. Each list is in node order."""

    place: list[NodePlace]
    update: list[Allocation]
    reconnecting: list[Allocation]
    disconnecting: list[Allocation]
    migrate: list[Allocation]
    stop: list[Allocation]
    lost: list[Allocation]
    ignore: list[Allocation]


class SystemSituation(msgspec.Struct, frozen=True, kw_only=True):
    """What a system or sysbatch job is reconciled by.

    `job` is None if it was purged. `targets` are the ready nodes of its pool and datacenters.
    """

    job: Job | None
    allocs: Sequence[Allocation]
    tainted: TaintedNodes
    targets: Iterable[NodeID]
    find_node: Callable[[NodeID], Node | None]
    now: Nanoseconds


def reconcile_system(situation: SystemSituation) -> dict[str, SystemGroup]:
    """Say what must change so that a job runs on every node that suits it, by group."""
    job = situation.job
    required = _required(job)
    targets = dict.fromkeys(situation.targets)
    groups = {name: _new_group() for name, _ in required}
    live: dict[tuple[NodeID, str, int], Allocation] = {}
    ended: dict[tuple[NodeID, str, int], Allocation] = {}
    for alloc in situation.allocs:
        place = (alloc.node_id, alloc.task_group, alloc.name_index)
        if not alloc.is_terminal:
            live[place] = alloc
        elif place not in ended or ended[place].create_index < alloc.create_index:
            ended[place] = alloc
    names = set(required)
    for alloc in live.values():
        group = groups.get(alloc.task_group)
        if group is None:
            group = groups[alloc.task_group] = _new_group()
        if job is None or (alloc.task_group, alloc.name_index) not in names:
            group.stop.append(alloc)
        else:
            _sort_live(alloc, job, group, situation, is_target=alloc.node_id in targets)
    if job is not None:
        # Nodes of ended sysbatch instances matter even when they are no longer ready for work.
        considered = {**targets, **dict.fromkeys(node_id for node_id, _, _ in live)}
        for node_id in considered:
            for name, index in required:
                place = (node_id, name, index)
                if place not in live:
                    _sort_missing(place, ended.get(place), job, groups[name], situation, node_id in targets)
    return groups


def is_changed(alloc: Allocation, job: Job) -> bool:
    """Whether an allocation runs another specification than the job's present one."""
    return alloc.job.job_modify_index != job.job_modify_index


def _required(job: Job | None) -> list[tuple[str, int]]:
    if job is None or job.stop:
        return []
    return [(group.name, index) for group in job.task_groups for index in range(group.count)]


def _new_group() -> SystemGroup:
    return SystemGroup(
        place=[], update=[], reconnecting=[], disconnecting=[], migrate=[], stop=[], lost=[], ignore=[]
    )


def _sort_live(
    alloc: Allocation, job: Job, group: SystemGroup, situation: SystemSituation, *, is_target: bool
) -> None:
    """Sort one live allocation with a name that is wanted, first match first."""
    reconnects = awaits_reconnect(alloc)
    is_tainted = alloc.node_id in situation.tainted
    if transition(alloc).migrate:
        group.migrate.append(alloc)
    elif reconnects and is_expired(alloc, situation.now):
        group.lost.append(alloc)
    elif alloc.client_status == CLIENT_UNKNOWN and alloc.desired_status == DESIRED_RUN:
        group.ignore.append(alloc)
    elif reconnects and not is_tainted:
        group.reconnecting.append(alloc)
    elif is_tainted:
        _sort_on_tainted(alloc, job, group, situation.tainted[alloc.node_id])
    elif not is_target:
        node = situation.find_node(alloc.node_id)
        stays = node is not None and not node.is_ready and not is_changed(alloc, job)
        (group.ignore if stays else group.stop).append(alloc)
    else:
        (group.update if is_changed(alloc, job) else group.ignore).append(alloc)


def _sort_on_tainted(alloc: Allocation, job: Job, group: SystemGroup, node: Node | None) -> None:
    if job.type == SYSBATCH and ran_successfully(alloc):
        group.ignore.append(alloc)
    elif is_dead(node):
        group.lost.append(alloc)
    elif node is not None and node.status == NODE_DISCONNECTED and alloc.client_status == CLIENT_RUNNING:
        group.disconnecting.append(alloc)
    else:
        group.ignore.append(alloc)


def _sort_missing(
    place: tuple[NodeID, str, int],
    previous: Allocation | None,
    job: Job,
    group: SystemGroup,
    situation: SystemSituation,
    is_target: bool,
) -> None:
    """Sort a name that is wanted on a node and has no live allocation there."""
    node_id, _, index = place
    if job.type == SYSBATCH and previous is not None:
        # What ran once has run, well or not, until the job changes.
        (group.update if is_changed(previous, job) else group.ignore).append(previous)
    elif is_target and node_id not in situation.tainted:
        group.place.append(NodePlace(node_id=node_id, name_index=index, previous=previous))

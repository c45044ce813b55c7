"""Scheduling system and sysbatch jobs: one instance of each group on every node that suits it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from random import Random

import numpy as np
from msgspec.structs import replace

from yurt.model.alloc import Allocation
from yurt.model.alloc_metric import AllocMetric
from yurt.model.deployment import Deployment
from yurt.model.evaluation import Evaluation
from yurt.model.job import SYSTEM, Job, JobKey
from yurt.model.plan import Placements, Plan, PlanChanges, Preemption, UpdateAlloc
from yurt.model.plan_annotations import PlanAnnotations
from yurt.model.wire import DeploymentID, Nanoseconds, NodeID
from yurt.scheduler.attempt import Attempt
from yurt.scheduler.feasible.base import base_set
from yurt.scheduler.ids import new_id
from yurt.scheduler.kinds.endings import Findings, Unplaced, blocked_eval, completed, refused
from yurt.scheduler.kinds.placements import new_placements
from yurt.scheduler.kinds.plan_parts import lost, stops_of, updates_in_place
from yurt.scheduler.kinds.system_group import (
    SystemGroupChanges,
    SystemGroupPass,
    SystemSurroundings,
    stop_all,
)
from yurt.scheduler.kinds.triggers import TRIGGERS
from yurt.scheduler.metrics import failure_metric
from yurt.scheduler.reconcile.deployments import JobDeployments, new_deployment, succeeded, with_groups
from yurt.scheduler.reconcile.system import SystemGroup, SystemSituation, reconcile_system
from yurt.scheduler.reconcile.system_deployments import (
    group_state,
    is_group_done,
    sort_system_deployments,
)
from yurt.scheduler.reconcile.tainted import stopping_on_dead_nodes, tainted_nodes
from yurt.scheduler.view import View


def attempt(view: View, evaluation: Evaluation, *, now: Nanoseconds, rng: Random) -> Attempt:
    """Make one pass over an evaluation of a system or sysbatch job."""
    if evaluation.triggered_by not in TRIGGERS[evaluation.type]:
        return refused(evaluation, now=now)
    state = view.state
    key = JobKey(evaluation.namespace, evaluation.job_id)
    job = state.jobs.get(key)
    allocs = state.allocs.of_job(key)
    tainted = tainted_nodes(allocs, state.nodes.get)
    latest = state.deployments.latest_of_job(key) if evaluation.type == SYSTEM else None
    deployments = sort_system_deployments(job, latest)
    found = reconcile_system(
        SystemSituation(
            job=job,
            allocs=allocs,
            tainted=tainted,
            targets=_targets(view, job) if job is not None else (),
            find_node=state.nodes.get,
            now=now,
        )
    )
    for alloc in (dying := stopping_on_dead_nodes(allocs, tainted)):
        view.stop(alloc)
    by = None
    if job is not None:
        by = SystemSurroundings(
            view=view,
            job=job,
            allocs=allocs,
            deployments=deployments,
            is_dry_run=evaluation.annotate_plan,
            now=now,
            rng=rng,
        )
    groups = _pass_over_groups(found, by)
    return _Ending(view, evaluation, job, deployments, groups, now=now, new_id=partial(new_id, rng)).attempt(
        dying
    )


def _targets(view: View, job: Job) -> list[NodeID]:
    """The ready nodes of a job's pool and datacenters."""
    node_ids = view.columns.node_ids
    slots = np.flatnonzero(base_set(view.columns, job).mask).tolist()
    return [node_id for slot in slots if (node_id := node_ids[slot]) is not None]


def _pass_over_groups(
    found: Mapping[str, SystemGroup], by: SystemSurroundings | None
) -> dict[str, SystemGroupChanges]:
    """Pass over all groups; without `by` the job is gone."""
    changes: dict[str, SystemGroupChanges] = {}
    for name, one in found.items():
        group = by.job.group(name) if by is not None and not by.job.stop else None
        if by is None or group is None:
            changes[name] = stop_all(one)
        else:
            state = group_state(by.job, group, by.deployments, by.allocs, by.now)
            changes[name] = SystemGroupPass(group, one, state, by).run()
    return changes


class _Ending:
    """Puts the changes of all groups together: plan, deployment, and the end of the evaluation."""

    def __init__(
        self,
        view: View,
        evaluation: Evaluation,
        job: Job | None,
        deployments: JobDeployments,
        groups: dict[str, SystemGroupChanges],
        *,
        now: Nanoseconds,
        new_id: Callable[[], str],
    ) -> None:
        self._view = view
        self._evaluation = evaluation
        self._job = job
        self._groups = groups
        self._now = now
        self._new_id = new_id
        self._deployment_updates = list(deployments.updates)
        self._preemptions: list[Preemption] = []
        self._written: Deployment | None = None
        self._current = self._deployment(deployments.current)

    def attempt(self, dying: list[Allocation]) -> Attempt:
        """The whole pass, for the worker."""
        evaluation, index = self._evaluation, self._view.state.index
        stops = [*lost(dying), *(stop for group in self._groups.values() for stop in group.stops)]
        placements = tuple(self._place(name, group) for name, group in self._groups.items() if group.placed)
        changes = PlanChanges(
            placements=placements,
            stops=stops_of(stops),
            updates=tuple(self._updates()),
            preemptions=tuple(self._preemptions),
            deployment=self._written,
            deployment_updates=tuple(self._deployment_updates),
        )
        annotations = PlanAnnotations(
            desired_tg_updates={name: group.desired for name, group in self._groups.items()}
        )
        plan = None
        if not changes.is_empty:
            plan = Plan(
                eval_id=evaluation.id,
                priority=evaluation.priority,
                snapshot_index=index,
                changes=changes,
                all_at_once=self._job is not None and self._job.all_at_once,
                annotations=annotations,
            )
        findings = Findings(
            unplaced=Unplaced(failed=self._failed(), quota=self._quota()),
            annotations=annotations,
            queued=self._queued(),
            deployment_id=self._current.id if self._current is not None else DeploymentID(""),
        )
        finished = completed(evaluation, findings, at_index=index, now=self._now)
        return Attempt(
            evaluation=finished, resume=evaluation, plan=plan, new_evals=tuple(self._blocked_evals())
        )

    def _deployment(self, current: Deployment | None) -> Deployment | None:
        """The deployment the groups are in, noting what is to be written about it."""
        states = {name: group.state for name, group in self._groups.items() if group.state is not None}
        if self._job is None or not states:
            return current
        if current is None:
            priority = self._evaluation.priority
            current = self._written = new_deployment(
                self._job, states, eval_priority=priority, new_id=self._new_id
            )
        elif any(current.task_groups.get(name) != state for name, state in states.items()):
            current = self._written = with_groups(current, states)
        if current.is_active and all(map(is_group_done, current.task_groups.values())):
            self._deployment_updates.append(succeeded(current))
        return current

    def _updates(self) -> list[UpdateAlloc]:
        updates: list[UpdateAlloc] = []
        for group in self._groups.values():
            updates += group.updates
            if self._job is not None and group.in_place:
                updates += updates_in_place(
                    group.in_place,
                    self._job,
                    eval_id=self._evaluation.id,
                    deployment_id=self._current.id if self._current is not None else DeploymentID(""),
                )
        return updates

    def _place(self, name: str, group: SystemGroupChanges) -> Placements:
        assert self._job is not None, "only jobs that exist are placed"
        is_active = self._current is not None and self._current.is_active
        placements, preemptions = new_placements(
            self._job,
            name,
            group.placed,
            eval_id=self._evaluation.id,
            deployment_id=self._current.id if self._current is not None and is_active else DeploymentID(""),
            new_id=self._new_id,
        )
        self._preemptions += preemptions
        return placements

    def _queued(self) -> dict[str, int] | None:
        if self._job is None:
            return None
        queued = {group.name: 0 for group in self._job.task_groups}
        return {**queued, **{name: group.queued for name, group in self._groups.items() if name in queued}}

    def _failed(self) -> dict[str, AllocMetric]:
        return {
            name: metric
            for name, group in self._groups.items()
            if (metric := group.failure or group.filtered) is not None
        }

    def _quota(self) -> str:
        failed = [group for group in self._groups.values() if group.failure is not None]
        return failed[0].quota if failed and all(group.quota for group in failed) else ""

    def _blocked_evals(self) -> Iterator[Evaluation]:
        """For each group that lacks room, an evaluation that waits for the first node without."""
        for name, changes in self._groups.items():
            group = self._job.group(name) if self._job is not None else None
            node = self._view.state.nodes.get(changes.failed_node) if changes.failed_node else None
            if group is None or node is None or changes.failure is None:
                continue
            unplaced = Unplaced(
                failed={name: failure_metric(changes.failure, group, 1)},
                class_eligibility={node.computed_class: True},
                quota=changes.quota,
            )
            blocked = blocked_eval(
                self._evaluation,
                unplaced,
                new_id=self._new_id,
                at_index=self._view.state.index,
                now=self._now,
            )
            yield replace(blocked, node_id=node.id)

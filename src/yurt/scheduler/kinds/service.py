"""Scheduling service and batch jobs: so many instances, wherever they fit best."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial
from random import Random

from msgspec.structs import replace

from yurt.model.deployment import Deployment
from yurt.model.evaluation import EVAL_BLOCKED, Evaluation
from yurt.model.job import BATCH, Job, JobKey
from yurt.model.plan import Plan, PlanChanges, UpdateAlloc
from yurt.model.plan_annotations import DesiredUpdates, PlanAnnotations, PreemptedAlloc
from yurt.model.wire import DeploymentID, Nanoseconds
from yurt.scheduler.attempt import Attempt
from yurt.scheduler.ids import new_id
from yurt.scheduler.in_place import fit_in_place
from yurt.scheduler.kinds.endings import (
    Findings,
    blocked_again,
    blocked_eval,
    completed,
    differs_from_summary,
    refused,
)
from yurt.scheduler.kinds.good_version import Target, last_good_version
from yurt.scheduler.kinds.placing import GroupPlacer
from yurt.scheduler.kinds.plan_parts import lost, stops_of, updates_in_place
from yurt.scheduler.kinds.triggers import TRIGGERS
from yurt.scheduler.reconcile.changes import Changes, Place
from yurt.scheduler.reconcile.job import Situation, reconcile
from yurt.scheduler.reconcile.tainted import stopping_on_dead_nodes, tainted_nodes
from yurt.scheduler.view import View

# A plan places at most so many instances: a larger one would make the first of them wait, and could
# outlast the time in which a worker must answer.
PLACEMENTS_PER_PLAN_MAX = 5_000


def attempt(
    view: View,
    evaluation: Evaluation,
    *,
    now: Nanoseconds,
    rng: Random,
    placements_max: int = PLACEMENTS_PER_PLAN_MAX,
) -> Attempt:
    """Make one pass over an evaluation of a service or batch job, placing at most `placements_max`."""
    if evaluation.triggered_by not in TRIGGERS[evaluation.type]:
        return refused(evaluation, now=now)
    make_id = partial(new_id, rng)
    state = view.state
    key = JobKey(evaluation.namespace, evaluation.job_id)
    job = state.jobs.get(key)
    allocs = state.allocs.of_job(key)
    latest = state.deployments.latest_of_job(key) if evaluation.type != BATCH else None
    tainted = tainted_nodes(allocs, state.nodes.get)
    turned_away: dict[str, set[int]] = {}
    changes = reconcile(
        Situation(
            evaluation=evaluation,
            job=job,
            allocs=allocs,
            tainted=tainted,
            deployment=latest,
            now=now,
            find_node=state.nodes.get,
            fits_in_place=partial(fit_in_place, view, turned_away=turned_away),
            new_id=make_id,
        )
    )
    stops = [*lost(stopping_on_dead_nodes(allocs, tainted)), *changes.stop]
    for stop in stops:
        view.stop(stop.alloc)
    placer = GroupPlacer(
        view,
        evaluation,
        limit=placements_max,
        now=now,
        rng=rng,
        new_id=make_id,
        turned_away={name: frozenset(classes) for name, classes in turned_away.items()},
    )
    if job is not None:
        _place_all(view, job, changes, placer)
    plan_changes = PlanChanges(
        placements=tuple(placer.placements),
        stops=stops_of([*stops, *placer.stops]),
        updates=(*changes.updates, *placer.updates, *_in_place(evaluation, job, changes)),
        preemptions=tuple(placer.preemptions),
        deployment=changes.deployment,
        deployment_updates=changes.deployment_updates,
    )
    summary = state.job_summaries.get(key)
    waiting = [name for name, row in summary.summary.items() if row.queued] if summary is not None else ()
    annotations = _annotations(view, evaluation.namespace, changes, placer)
    done = _Pass(job, latest, changes, placer, plan_changes, waiting=waiting, annotations=annotations)
    return _end(view, evaluation, done, now=now, new_id=make_id)


class _Pass:
    """What one pass came to."""

    def __init__(
        self,
        job: Job | None,
        latest: Deployment | None,
        changes: Changes,
        placer: GroupPlacer,
        plan_changes: PlanChanges,
        *,
        waiting: Collection[str],
        annotations: PlanAnnotations,
    ) -> None:
        self.job = job
        self._waiting = waiting
        self.changes = changes
        self.placer = placer
        self.plan_changes = plan_changes
        deployment = changes.current_deployment or latest
        self.deployment_id = deployment.id if deployment is not None else DeploymentID("")
        self.annotations = annotations

    @property
    def queued(self) -> dict[str, int] | None:
        """How many instances are wanted and not placed, of each group that something was to be placed of.

        Where nothing was to be placed all groups are named, and so are groups of which some waited.
        """
        if self.job is None:
            return None
        wanted = (*self.changes.destructive, *self.changes.place)
        queued = {
            group.name: 0 for group in self.job.task_groups if not wanted or group.name in self._waiting
        }
        for place in wanted:
            queued[place.task_group] = queued.get(place.task_group, 0) + 1
        for name, placed in self.placer.placed_of.items():
            queued[name] -= placed
        return queued


def _annotations(view: View, namespace: str, changes: Changes, placer: GroupPlacer) -> PlanAnnotations:
    """What the plan changes, by group, and whom it displaces in its own namespace."""
    desired: dict[str, DesiredUpdates] = dict(changes.desired)
    for name, displaced in placer.preempted_of.items():
        if displaced:
            desired[name] = replace(desired[name], preemptions=displaced)
    victims = (view.state.allocs.get(one.id) for one in placer.preemptions)
    # Whoever may read the evaluation need not be allowed to read what runs in other namespaces.
    preempted = tuple(
        PreemptedAlloc.of(alloc) for alloc in victims if alloc is not None and alloc.namespace == namespace
    )
    return PlanAnnotations(desired_tg_updates=desired, preempted_allocs=preempted or None)


def _place_all(view: View, job: Job, changes: Changes, placer: GroupPlacer) -> None:
    """Place what replaces running instances first, then the rest, group by group."""
    current = changes.current_deployment
    is_active = current is not None and current.is_active
    usual = Target(job, current.id if current is not None and is_active else DeploymentID(""))
    for wanted in (changes.destructive, changes.place):
        targets: dict[tuple[str, int, str], Target] = {}
        places: dict[tuple[str, int, str], list[Place]] = {}
        for place in wanted:
            target = usual
            if place.keeps_version:
                target = last_good_version(view.state, job, place) or usual
            key = (place.task_group, target.job.version, str(target.deployment_id))
            targets[key] = target
            places.setdefault(key, []).append(place)
        for key, target in targets.items():
            group = target.job.group(key[0])
            assert group is not None, "only groups of the job are placed"
            placer.place(places[key], group, target)


def _in_place(evaluation: Evaluation, job: Job | None, changes: Changes) -> Sequence[UpdateAlloc]:
    if job is None or not changes.in_place:
        return ()
    current = changes.current_deployment
    deployment_id = current.id if current is not None else DeploymentID("")
    return updates_in_place(changes.in_place, job, eval_id=evaluation.id, deployment_id=deployment_id)


def _end(
    view: View, evaluation: Evaluation, done: _Pass, *, now: Nanoseconds, new_id: Callable[[], str]
) -> Attempt:
    index = view.state.index
    follow_ups = tuple(replace(one, snapshot_index=index) for one in done.changes.follow_ups)
    # Whoever goes on with this evaluation must know which follow-ups there are already.
    resume = replace(evaluation, next_eval=follow_ups[-1].id) if follow_ups else evaluation
    plan = _plan(view, evaluation, done)
    if done.placer.left_over:
        return Attempt(evaluation=resume, resume=resume, plan=plan, follow_ups=follow_ups, has_more=True)
    unplaced = done.placer.unplaced
    findings = Findings(
        unplaced=unplaced,
        annotations=done.annotations,
        queued=done.queued,
        deployment_id=done.deployment_id,
    )
    if unplaced.failed and evaluation.status == EVAL_BLOCKED:
        again = blocked_again(resume, findings, at_index=index)
        return Attempt(
            evaluation=again,
            resume=resume,
            plan=plan,
            follow_ups=follow_ups,
            reblock=True,
            writes_evaluation=differs_from_summary(view.state, again),
        )
    finished = completed(resume, findings, at_index=index, now=now)
    blocked: tuple[Evaluation, ...] = ()
    if unplaced.failed:
        blocked = (blocked_eval(evaluation, unplaced, new_id=new_id, at_index=index, now=now),)
        finished = replace(finished, blocked_eval=blocked[0].id)
    return Attempt(evaluation=finished, resume=resume, plan=plan, follow_ups=follow_ups, new_evals=blocked)


def _plan(view: View, evaluation: Evaluation, done: _Pass) -> Plan | None:
    if done.plan_changes.is_empty:
        return None
    return Plan(
        eval_id=evaluation.id,
        priority=evaluation.priority,
        snapshot_index=view.state.index,
        changes=done.plan_changes,
        all_at_once=done.job is not None and done.job.all_at_once,
        annotations=done.annotations,
    )

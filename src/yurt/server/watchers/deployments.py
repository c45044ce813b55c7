"""Watching deployments: they fail, go on, or are promoted, by the health of their allocations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from yurt.model.alloc import Allocation, DesiredTransition
from yurt.model.deployment import DEPLOYMENT_PAUSED, Deployment, DeploymentState
from yurt.model.evaluation import EVAL_CANCELED
from yurt.model.job import Job
from yurt.model.times import SECOND_NS, time_ns
from yurt.model.wire import AllocID, DeploymentID, Nanoseconds
from yurt.scheduler.reconcile.alloc_facts import (
    group_of,
    health,
    is_part_of,
    last_event_time,
    reschedule_policy,
    transition,
)
from yurt.scheduler.reconcile.deployments import needs_promotion
from yurt.scheduler.reconcile.reschedule_delay import may_reschedule
from yurt.server.context import ServerContext
from yurt.server.deployment_changes import (
    NO_PROGRESS,
    UNHEALTHY,
    canaries,
    deployment_eval,
    failed,
    job_key,
    promoted,
)
from yurt.server.watchers.pacing import Pacer
from yurt.state.entries import Entry, SetDesiredTransitions, UpsertEvals
from yurt.state.state import State

# Health of many allocations arrives within moments; one look then serves them all.
BATCH_S = 0.25
# What a deployment's allocations call for is collected, as in Nomad: one evaluation then serves a whole
# step of a rolling update. Failures and promotions do not wait.
COLLECT_NS = SECOND_NS
RESCAN_INTERVAL_S = 5.0
RESCANNED_PER_LOOK = 100


async def watch_deployments(context: ServerContext) -> None:
    """Move deployments along, on the leader, until cancelled."""
    watch = DeploymentWatch()
    async with Pacer(context, ("deployments", "allocs"), batch_s=BATCH_S) as pacer:
        while True:
            now = context.clock.now_ns()
            await pacer.propose_each(watch.steps(context.state, now=now, new_id=context.new_id))
            wait_s = RESCAN_INTERVAL_S
            if watch.deadline is not None:
                wait_s = min(wait_s, max(BATCH_S, (watch.deadline - now) / SECOND_NS))
            await pacer.wait(wait_s)


class DeploymentWatch:
    """Remembers what was looked at, so that thousands of deployments at rest cost next to nothing.

    A deployment calls for something when it changes, which every report about the health of its
    allocations does, or when its time to get on runs out. The rest is looked at again a few at a time:
    a step that could not be written is found that way.
    """

    def __init__(self) -> None:
        self._seen = 0
        self._deadlines: dict[DeploymentID, Nanoseconds] = {}
        # Until when evaluations of a deployment are collected.
        self._collecting: dict[DeploymentID, Nanoseconds] = {}
        self._rescanned = 0

    @property
    def deadline(self) -> Nanoseconds | None:
        """When to look next, though nothing changes: a deployment must have got on, or was collected for."""
        return min((*self._deadlines.values(), *self._collecting.values()), default=None)

    def steps(self, state: State, *, now: Nanoseconds, new_id: Callable[[], str]) -> list[Entry]:
        """Say what is to be done about deployments, as far as they are worth a look."""
        active = state.deployments.active()
        late = {deployment_id for deployment_id, due in self._deadlines.items() if due <= now}
        collected = {deployment_id for deployment_id, due in self._collecting.items() if due <= now}
        if self._rescanned >= len(active):
            self._rescanned = 0
        again = active[self._rescanned : self._rescanned + RESCANNED_PER_LOOK]
        self._rescanned += RESCANNED_PER_LOOK
        rescanned = {deployment.id for deployment in again}
        worth = [
            deployment
            for deployment in active
            if deployment.modify_index > self._seen
            or deployment.id in late
            or deployment.id in collected
            or deployment.id in rescanned
        ]
        self._seen = state.index
        for deployment_id in late:
            del self._deadlines[deployment_id]
        for deployment in worth:
            self._note_deadline(deployment)
        steps = [
            step
            for deployment in worth
            for step in self._due(deployment.id, _steps(state, (deployment,), now, new_id), now)
        ]
        # What was collected for is written by now, or over.
        for deployment_id in collected:
            self._collecting.pop(deployment_id, None)
        return steps

    def _due(self, deployment_id: DeploymentID, steps: list[Entry], now: Nanoseconds) -> list[Entry]:
        """The steps that are to be taken now; evaluations alone are collected first."""
        if not all(isinstance(step, UpsertEvals | SetDesiredTransitions) for step in steps):
            return steps
        if not steps:
            self._collecting.pop(deployment_id, None)
            return []
        return steps if self._collecting.setdefault(deployment_id, now + COLLECT_NS) <= now else []

    def _note_deadline(self, deployment: Deployment) -> None:
        due = progress_deadline(deployment)
        if due is None:
            self._deadlines.pop(deployment.id, None)
        else:
            self._deadlines[deployment.id] = due


def next_deployment_steps(state: State, *, now: Nanoseconds, new_id: Callable[[], str]) -> list[Entry]:
    """Say what is to be done about each deployment that may still change."""
    return _steps(state, state.deployments.active(), now, new_id)


def progress_deadline(deployment: Deployment) -> Nanoseconds | None:
    """When a deployment must have got on, if it must."""
    if not deployment.is_active or deployment.status == DEPLOYMENT_PAUSED:
        return None
    deadlines = [
        time_ns(group.require_progress_by)
        for group in deployment.task_groups.values()
        if group.require_progress_by is not None and _lacks_progress(group)
    ]
    return min(deadlines, default=None)


def _steps(
    state: State, deployments: Iterable[Deployment], now: Nanoseconds, new_id: Callable[[], str]
) -> list[Entry]:
    steps: list[Entry] = []
    for deployment in deployments:
        job = state.jobs.get(job_key(deployment))
        if job is not None:
            steps += _steps_for(state, deployment, job, now, new_id)
    return steps


def _steps_for(
    state: State, deployment: Deployment, job: Job, now: Nanoseconds, new_id: Callable[[], str]
) -> Sequence[Entry]:
    allocs = [a for a in state.allocs.of_job(job_key(deployment)) if is_part_of(a, deployment)]
    hopeless = [alloc for alloc in allocs if _is_hopeless(alloc, deployment)]
    stuck = _stuck_groups(deployment, allocs, now)
    why, groups = (UNHEALTHY, [alloc.task_group for alloc in hopeless]) if hopeless else (NO_PROGRESS, stuck)
    if groups:
        reverts = any(deployment.task_groups[name].auto_revert for name in groups)
        step = failed(state, deployment, why, reverts=reverts, now=now, new_id=new_id)
        return (step,) if step is not None else ()
    if _may_promote(state, deployment):
        return (promoted(deployment, job, deployment.task_groups, now=now, new_id=new_id),)
    return _replace_or_look(state, deployment, job, allocs, now, new_id)


def _is_hopeless(alloc: Allocation, deployment: Deployment) -> bool:
    """Whether an unhealthy allocation ends its deployment, since nothing will replace it."""
    group = deployment.task_groups.get(alloc.task_group)
    if group is None or health(alloc) is not False:
        return False
    if not group.progress_deadline:
        return True
    return not may_reschedule(alloc, reschedule_policy(alloc), last_event_time(alloc))


def _stuck_groups(deployment: Deployment, allocs: Iterable[Allocation], now: Nanoseconds) -> list[str]:
    """The groups whose time to get on has run out."""
    if deployment.status == DEPLOYMENT_PAUSED:
        return []
    late = [
        name
        for name, group in deployment.task_groups.items()
        if group.require_progress_by is not None
        and time_ns(group.require_progress_by) <= now
        and not _is_done(group, name, allocs)
    ]
    return (
        [name for name in deployment.task_groups if _lacks_progress(deployment.task_groups[name])]
        if late
        else []
    )


def _is_done(group: DeploymentState, name: str, allocs: Iterable[Allocation]) -> bool:
    if needs_promotion(group):
        return False
    healthy = sum(a.task_group == name and not a.is_terminal and health(a) is True for a in allocs)
    return healthy >= group.desired_total


def _lacks_progress(group: DeploymentState) -> bool:
    wanted = group.desired_canaries if needs_promotion(group) else group.desired_total
    return group.healthy_allocs < wanted


def _may_promote(state: State, deployment: Deployment) -> bool:
    """Whether all canaries are healthy, and promote themselves."""
    waiting = [name for name, group in deployment.task_groups.items() if group.desired_canaries > 0]
    if not any(needs_promotion(deployment.task_groups[name]) for name in waiting):
        return False
    for name in waiting:
        group = deployment.task_groups[name]
        if not group.auto_promote or len(group.placed_canaries or ()) < group.desired_canaries:
            return False
        healthy = sum(health(alloc) is True for alloc in canaries(state, deployment, name))
        if healthy != group.desired_canaries:
            return False
    return True


def _replace_or_look(
    state: State,
    deployment: Deployment,
    job: Job,
    allocs: Iterable[Allocation],
    now: Nanoseconds,
    new_id: Callable[[], str],
) -> Sequence[Entry]:
    """Let unhealthy allocations be replaced; have the job looked at when others turned healthy."""
    looked_at = _last_look(state, deployment)
    replaceable: dict[AllocID, DesiredTransition] = {}
    is_news = False
    for alloc in allocs:
        status = alloc.deployment_status
        if health(alloc) is False and not transition(alloc).reschedule and group_of(alloc) is not None:
            if not alloc.is_server_terminal:
                replaceable[alloc.id] = DesiredTransition(reschedule=True)
        elif health(alloc) is True and status is not None and status.modify_index > looked_at:
            is_news = True
    if not replaceable and not is_news:
        return ()
    evaluation = deployment_eval(deployment, job, now=now, new_id=new_id)
    if replaceable:
        return (SetDesiredTransitions(at=now, transitions=replaceable, evals=(evaluation,)),)
    return (UpsertEvals(at=now, evals=(evaluation,)),)


def _last_look(state: State, deployment: Deployment) -> int:
    """The newest index at which the job was looked at, or is about to be."""
    return max(
        (
            max(evaluation.snapshot_index, evaluation.create_index)
            for evaluation in state.evals.of_job(job_key(deployment))
            if evaluation.status != EVAL_CANCELED
        ),
        default=0,
    )

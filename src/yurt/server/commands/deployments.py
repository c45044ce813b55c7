"""What operators ask of deployments: to fail, pause, promote or judge them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from yurt.errors import YurtError
from yurt.model.deployment import DEPLOYMENT_FAILED, Deployment, DeploymentStatusUpdate
from yurt.model.job import Job
from yurt.model.multi_error import multi_error_text
from yurt.model.wire import AllocID, DeploymentID
from yurt.scheduler.reconcile.alloc_facts import health
from yurt.server import deployment_changes as changes
from yurt.server.context import ServerContext
from yurt.state.entries import PromoteDeployment, SetAllocHealth, SetDeploymentStatus

_JUDGE = "set health of allocations for a"


class DeploymentRefused(YurtError):
    """The deployment cannot be changed as asked."""


class DeploymentNotFound(YurtError):
    """There is no such deployment."""

    def __init__(self) -> None:
        super().__init__("deployment not found")


class DeploymentChanged(msgspec.Struct, frozen=True, kw_only=True):
    """A deployment is changed; without `eval_id` no job needs to be looked at."""

    index: int
    eval_id: str = ""
    reverted_version: int | None = None


class DeploymentCommands:
    """What can be asked about deployments. All raise DeploymentNotFound and DeploymentRefused."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def fail(self, deployment_id: DeploymentID) -> DeploymentChanged:
        """Give a deployment up, going back to a good version if its groups ask for that."""
        deployment, _ = self._find(deployment_id, "fail")
        reverts = any(group.auto_revert for group in deployment.task_groups.values())
        entry = changes.failed(
            self._context.state,
            deployment,
            changes.BY_USER,
            reverts=reverts,
            now=self._context.clock.now_ns(),
            new_id=self._context.new_id,
        )
        assert entry is not None, "its job was found"
        return await self._propose(entry, "fail")

    async def pause(self, deployment_id: DeploymentID) -> DeploymentChanged:
        """Hold a deployment."""
        deployment, _ = self._find(deployment_id, "pause")
        return await self._propose(changes.paused(deployment, now=self._context.clock.now_ns()), "pause")

    async def resume(self, deployment_id: DeploymentID) -> DeploymentChanged:
        """Let a paused deployment go on."""
        deployment, job = self._find(deployment_id, "resume")
        now, new_id = self._context.clock.now_ns(), self._context.new_id
        return await self._propose(changes.resumed(deployment, job, now=now, new_id=new_id), "resume")

    async def promote(self, deployment_id: DeploymentID, groups: Iterable[str] | None) -> DeploymentChanged:
        """Promote the canaries of some groups, or with None of all; enough of them must be healthy."""
        deployment, job = self._find(deployment_id, "promote")
        wanted = [
            name
            for name in (deployment.task_groups if groups is None else groups)
            if name in deployment.task_groups
        ]
        problems = list(self._unpromotable(deployment, wanted))
        if problems:
            raise DeploymentRefused(multi_error_text(problems))
        now, new_id = self._context.clock.now_ns(), self._context.new_id
        entry = changes.promoted(deployment, job, wanted, now=now, new_id=new_id)
        return await self._propose(entry, "promote")

    async def set_health(
        self, deployment_id: DeploymentID, healthy: Sequence[str], unhealthy: Sequence[str]
    ) -> DeploymentChanged:
        """Say which instances are healthy; an unhealthy one fails the deployment."""
        if not healthy and not unhealthy:
            raise DeploymentRefused("must specify at least one healthy/unhealthy allocation ID")
        deployment, job = self._find(deployment_id, _JUDGE)
        for alloc_id in (*healthy, *unhealthy):
            alloc = self._context.state.allocs.get(AllocID(alloc_id))
            if alloc is None:
                raise DeploymentRefused(f'unknown alloc "{alloc_id}"')
            if alloc.deployment_id != deployment.id:
                raise DeploymentRefused(f'alloc "{alloc_id}" is not part of deployment "{deployment.id}"')
        entry = self._judged(deployment, job, healthy, unhealthy)
        return await self._propose(entry, _JUDGE)

    async def unblock(self, deployment_id: DeploymentID) -> DeploymentChanged:
        """Let the deployment of a multi-region job go on; there is only one region, so nothing waits."""
        self._find(deployment_id, "unblock")
        return DeploymentChanged(index=0)

    def _judged(
        self, deployment: Deployment, job: Job, healthy: Sequence[str], unhealthy: Sequence[str]
    ) -> SetAllocHealth:
        state, now = self._context.state, self._context.clock.now_ns()
        update, rollback = None, changes.Rollback()
        if unhealthy:
            groups = {state.allocs[AllocID(alloc_id)].task_group for alloc_id in unhealthy}
            states = (deployment.task_groups.get(name) for name in groups)
            reverts = any(group is not None and group.auto_revert for group in states)
            rollback = changes.find_rollback(state, deployment, reverts=reverts)
            update = DeploymentStatusUpdate(
                deployment_id=deployment.id,
                status=DEPLOYMENT_FAILED,
                status_description=f"{changes.UNHEALTHY}{rollback.note}",
            )
        return SetAllocHealth(
            at=now,
            deployment_id=deployment.id,
            healthy=tuple(map(AllocID, healthy)),
            unhealthy=tuple(map(AllocID, unhealthy)),
            update=update,
            rollback=rollback.job,
            evals=(changes.deployment_eval(deployment, job, now=now, new_id=self._context.new_id),),
        )

    def _unpromotable(self, deployment: Deployment, groups: Iterable[str]) -> Iterable[str]:
        for name in groups:
            wanted = deployment.task_groups[name].desired_canaries
            canaries = changes.canaries(self._context.state, deployment, name)
            healthy = sum(health(alloc) is True for alloc in canaries)
            if healthy < wanted:
                yield f'Task group "{name}" has {healthy}/{wanted} healthy allocations'

    def _find(self, deployment_id: DeploymentID, verb: str) -> tuple[Deployment, Job]:
        deployment = self._context.state.deployments.get(deployment_id)
        if deployment is None:
            raise DeploymentNotFound
        job = self._context.state.jobs.get(changes.job_key(deployment))
        if not deployment.is_active or job is None:
            raise _ended(verb)
        return deployment, job

    async def _propose(
        self, entry: SetDeploymentStatus | PromoteDeployment | SetAllocHealth, verb: str
    ) -> DeploymentChanged:
        committed = await self._context.committer.propose(entry)
        if committed.outcome is not True:
            raise _ended(verb)  # while the entry was being written
        rollback = entry.rollback if not isinstance(entry, PromoteDeployment) else None
        return DeploymentChanged(
            index=committed.index,
            eval_id=entry.evals[0].id if entry.evals else "",
            reverted_version=rollback.version if rollback is not None else None,
        )


def _ended(verb: str) -> DeploymentRefused:
    return DeploymentRefused(f"can't {verb} terminal deployment")

"""/v1/job/<id>/plan: what registering a job would do."""

from __future__ import annotations

from random import Random

from msgspec.structs import replace

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.routes import WRITE, Route
from yurt.api.v1.alloc_views import AllocListStub, alloc_stub
from yurt.api.v1.job_intake import Intake, JobIntake, check_mounts
from yurt.api.v1.job_messages import JobPlanRequest
from yurt.api.v1.jobs import meant_namespace, submitter
from yurt.model.acl.permissions import Permissions
from yurt.model.alloc_metric import AllocMetric
from yurt.model.evaluation import Evaluation
from yurt.model.plan_annotations import DesiredUpdates
from yurt.model.wire import Time, Wire
from yurt.scheduler.diff.types import JobDiff
from yurt.scheduler.dry_run import DryRun, dry_run
from yurt.server.commands.jobs import JobRefused
from yurt.state.state import State


class PlanAnnotationsView(Wire, frozen=True, kw_only=True):
    """How many allocations would be touched, and which displaced."""

    desired_tg_updates: dict[str, DesiredUpdates] | None
    preempted_allocs: tuple[AllocListStub, ...] | None


class JobPlanResponse(Wire, frozen=True, kw_only=True):
    """The answer to a dry run."""

    annotations: PlanAnnotationsView | None
    failed_tg_allocs: dict[str, AllocMetric] | None
    job_modify_index: int
    created_evals: tuple[Evaluation, ...] | None
    diff: JobDiff | None
    next_periodic_launch: Time
    warnings: str
    index: int


class JobPlanHandlers:
    """The handlers of dry runs."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._intake = JobIntake(deps)

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/job/{job_id}/plan",
                handlers=dict.fromkeys(WRITE, self.plan),
                summary="Say what registering a job would do",
                needs=needs.namespace("submit-job", "plan-job", of=_planned_namespace),
                request=JobPlanRequest,
                response=JobPlanResponse,
                is_local=True,
            ),
        )

    async def plan(self, call: Call) -> Answer:
        """PUT /v1/job/<id>/plan: nothing is stored."""
        request: JobPlanRequest = await call.read(JobPlanRequest)
        if request.job is None:
            raise HttpError(400, "Job must be specified")
        if not request.job.get("ID"):
            raise HttpError(400, "Job must have a valid ID")
        if request.job["ID"] != call.path["job_id"]:
            raise HttpError(400, "Job ID does not match")
        job = self._intake.stored_form(
            request.job,
            Intake(
                region=request.region or call.region or request.job.get("Region", ""),
                namespace=meant_namespace(call, request),
                accessor_id=submitter(call),
            ),
        )
        check_mounts(call.permissions, job)
        errors = self._intake.errors(job)
        if errors is not None:
            raise JobRefused(str(errors))
        server = self._deps.server
        run = dry_run(
            self._deps.state,
            replace(job, submit_time=server.clock.now_ns()),
            now=server.clock.now_ns(),
            rng=Random(server.context.new_id()),
            with_diff=request.diff,
        )
        body = plan_view(
            self._deps.state, run, warnings=self._intake.warnings_text(job), permissions=call.permissions
        )
        return Answer(body=body, index=run.job_modify_index)


async def _planned_namespace(call: Call) -> str:
    request: JobPlanRequest = await call.read(JobPlanRequest)
    return meant_namespace(call, request)


def plan_view(state: State, run: DryRun, *, warnings: str, permissions: Permissions) -> JobPlanResponse:
    """Show what a dry run found; of what would be displaced, only what the caller may read."""
    preempted = tuple(
        alloc_stub(alloc)
        for alloc in (state.allocs.get(alloc_id) for alloc_id in run.preempted)
        if alloc is not None and permissions.allows(alloc.namespace, "read-job")
    )
    return JobPlanResponse(
        annotations=PlanAnnotationsView(
            desired_tg_updates=run.annotations.desired_tg_updates, preempted_allocs=preempted or None
        ),
        failed_tg_allocs=run.failed_tg_allocs,
        job_modify_index=run.job_modify_index,
        # They were never scheduled on any State, so they name none.
        created_evals=tuple(replace(one, snapshot_index=0) for one in run.created_evals or ()) or None,
        diff=run.diff,
        next_periodic_launch=run.next_periodic_launch,
        warnings=warnings,
        index=run.job_modify_index,
    )

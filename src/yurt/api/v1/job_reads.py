"""/v1/job/<id>/…: what belongs to a job."""

from __future__ import annotations

from typing import Any

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call, uint64
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.parameters import BLOCKING, COUNT, Parameter, flag
from yurt.api.routes import ANY_METHOD, Route
from yurt.api.rows import Rows
from yurt.api.v1.alloc_views import AllocListStub, alloc_stub
from yurt.api.v1.found import found
from yurt.api.v1.job_views import JobAction, JobScaleStatus, job_actions, scale_status
from yurt.api.v1.jobs import job_key
from yurt.model.deployment import Deployment
from yurt.model.evaluation import Evaluation
from yurt.model.job_submission import JobSubmission
from yurt.model.job_summary import JobSummary
from yurt.model.service_registration import ServiceRegistration
from yurt.state.submissions import SubmissionKey


class JobReadHandlers:
    """The handlers of what belongs to a job."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        every = flag("all", "Also those of an earlier job with the same id.")
        version = Parameter("version", "The version whose source is meant.", COUNT, is_required=True)
        more: dict[str, tuple[Parameter, ...]] = {
            "allocations": (every,),
            "deployments": (every,),
            "submission": (version,),
        }
        reads: tuple[tuple[str, Any, str, Any], ...] = (
            ("allocations", self.allocations, "List the allocations of a job", list[AllocListStub]),
            ("evaluations", self.evaluations, "List the evaluations of a job", list[Evaluation]),
            ("deployments", self.deployments, "List the deployments of a job", list[Deployment]),
            ("deployment", self.deployment, "Read the newest deployment of a job", Deployment | None),
            ("services", self.services, "List the services of a job", list[ServiceRegistration]),
            ("submission", self.submission, "Read the source of a version of a job", JobSubmission),
            ("actions", self.actions, "List the actions of a job", list[JobAction]),
        )
        return (
            *(
                Route(
                    path=f"/v1/job/{{job_id}}/{name}",
                    handlers={"GET": handler},
                    summary=summary,
                    takes=(*more.get(name, ()), *BLOCKING),
                    needs=needs.namespace("read-job"),
                    response=response,
                )
                for name, handler, summary, response in reads
            ),
            Route(
                path="/v1/job/{job_id}/summary",
                handlers=dict.fromkeys(ANY_METHOD, self.summary),
                summary="Count the allocations of a job",
                takes=BLOCKING,
                needs=needs.namespace("read-job"),
                response=JobSummary,
            ),
        )

    async def allocations(self, call: Call) -> Answer:
        """GET /v1/job/<id>/allocations."""
        key, every = job_key(call), call.is_set("all")
        if not key.id:
            raise HttpError(500, "missing job ID")
        state = self._deps.state

        def read() -> tuple[int, Rows]:
            job = state.jobs.get(key)
            rows = [
                alloc
                for alloc in state.allocs.of_job(key)
                if every or job is None or alloc.job.create_index == job.create_index
            ]
            return state.allocs.index, Rows(rows, alloc_stub)

        return await self._deps.read(call, [("allocs-of-job", key)], read)

    async def evaluations(self, call: Call) -> Answer:
        """GET /v1/job/<id>/evaluations."""
        key = job_key(call)
        state = self._deps.state

        def read() -> tuple[int, Rows]:
            return state.evals.index, Rows(state.evals.of_job(key))

        return await self._deps.read(call, [("evals-of-job", key)], read)

    async def summary(self, call: Call) -> Answer:
        """/v1/job/<id>/summary."""
        key = job_key(call)
        state = self._deps.state

        def read() -> tuple[int, JobSummary | None]:
            summary = state.job_summaries.get(key)
            return (summary.modify_index if summary is not None else state.job_summaries.index), summary

        return found(await self._deps.read(call, [("job-summaries", key)], read), "job not found")

    async def deployments(self, call: Call) -> Answer:
        """GET /v1/job/<id>/deployments."""
        key, every = job_key(call), call.is_set("all")
        state = self._deps.state

        def read() -> tuple[int, Rows]:
            job = state.jobs.get(key)
            rows = [
                deployment
                for deployment in state.deployments.of_job(key)
                if every or job is None or deployment.job_create_index == job.create_index
            ]
            return state.deployments.index, Rows(rows)

        return await self._deps.read(call, [("deployments-of-job", key)], read)

    async def deployment(self, call: Call) -> Answer:
        """GET /v1/job/<id>/deployment: null when there is none."""
        key = job_key(call)
        state = self._deps.state

        def read() -> tuple[int, Deployment | None]:
            newest = state.deployments.latest_of_job(key)
            return (newest.modify_index if newest is not None else state.deployments.index), newest

        return await self._deps.read(call, [("deployments-of-job", key)], read)

    async def services(self, call: Call) -> Answer:
        """GET /v1/job/<id>/services."""
        key = job_key(call)
        state = self._deps.state

        def read() -> tuple[int, Rows | None]:
            rows = Rows(state.services.of_job(key)) if key in state.jobs else None
            return max(state.services.index, 1), rows

        return found(await self._deps.read(call, [("services", None), ("jobs", key)], read), "job not found")

    async def submission(self, call: Call) -> Answer:
        """GET /v1/job/<id>/submission."""
        version = uint64(call.query.get("version", ""))
        if version is None:
            raise HttpError(400, "Unable to parse job submission version parameter")
        key = SubmissionKey(job_key(call), version)
        table = self._deps.state.submissions

        def read() -> tuple[int, JobSubmission | None]:
            submission = table.get(key)
            return (submission.job_modify_index if submission is not None else table.index), submission

        return found(await self._deps.read(call, [("job-submissions", key)], read), "job source not found")

    async def actions(self, call: Call) -> Answer:
        """GET /v1/job/<id>/actions: not blocking, and without an index."""
        key = job_key(call)
        job = self._deps.state.jobs.get(key)
        if job is None:
            raise HttpError(500, f'Unknown job "{key.id}"')
        return Answer(body=job_actions(job), index=0, is_read=True, knows_leader=False)


class JobScaleReader:
    """Reads how far a job is scaled."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    async def read(self, call: Call) -> Answer:
        """GET /v1/job/<id>/scale."""
        key = job_key(call)
        state = self._deps.state

        def read() -> tuple[int, JobScaleStatus | None]:
            job = state.jobs.get(key)
            if job is None:
                return state.index, None
            events = state.scaling_events.get(key)
            status = scale_status(job, state.allocs.of_job(key), events)
            index = max(job.modify_index, events.modify_index if events is not None else 0)
            return max([index, *(alloc.modify_index for alloc in state.allocs.of_job(key))]), status

        keys = [("jobs", key), ("allocs-of-job", key), ("scaling-events", key)]
        return found(await self._deps.read(call, keys, read), "job not found")

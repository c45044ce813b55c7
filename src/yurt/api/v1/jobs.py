"""/v1/jobs and /v1/job: register, list, read, stop, evaluate."""

from __future__ import annotations

from typing import Annotated, Any

from yurt.api.answer import Answer
from yurt.api.call import ALL_NAMESPACES, Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.routes import WRITE, Route
from yurt.api.v1.alloc_views import AllocListStub, alloc_stub
from yurt.api.v1.found import found
from yurt.api.v1.job_views import JobListStub, job_stub
from yurt.api.v1.paging import page
from yurt.model.canonical import canonical_job
from yurt.model.deployment import Deployment
from yurt.model.evaluation import Evaluation
from yurt.model.forms import JobForm
from yurt.model.go_types import Folded, FoldedAs, Uint64
from yurt.model.job import JOB_PRIORITY_MAX, JOB_PRIORITY_MIN, SYSTEM, Job, JobKey
from yurt.model.job_summary import JobSummary
from yurt.model.multi_error import warnings_text
from yurt.model.validate import JobRules, job_errors, job_warnings
from yurt.model.wire import DEFAULT_NAMESPACE, JobID, Wire
from yurt.server.commands.jobs import JobRefused

EVAL_PRIORITY_TEXT = "Eval priority must be between 1 and 100 inclusively"


class JobRegisterRequest(Wire, frozen=True, kw_only=True):
    """The body of a registration."""

    job: Annotated[Folded | None, FoldedAs(JobForm)] = None
    enforce_index: bool = False
    job_modify_index: Uint64 = 0
    policy_override: bool = False
    preserve_counts: bool = False
    preserve_resources: bool = False
    eval_priority: int = 0
    region: str = ""
    namespace: str = ""
    secret_id: str = ""


class JobEvaluateRequest(Wire, frozen=True, kw_only=True):
    """The body of a forced evaluation."""

    class EvalOptions(Wire, frozen=True, kw_only=True):
        """What to do besides."""

        force_reschedule: bool = False

    job_id: str = ""
    eval_options: EvalOptions = EvalOptions()


class JobRegisterResponse(Wire, frozen=True, kw_only=True):
    """The answer to a registration."""

    eval_id: str
    eval_create_index: int
    job_modify_index: int
    warnings: str
    index: int
    last_contact: int = 0
    known_leader: bool = False
    next_token: str = ""


class JobDeregisterResponse(Wire, frozen=True, kw_only=True):
    """The answer to stopping a job."""

    eval_id: str
    eval_create_index: int
    job_modify_index: int
    volume_eval_id: str = ""
    volume_eval_index: int = 0
    index: int
    last_contact: int = 0
    known_leader: bool = False
    next_token: str = ""


class JobHandlers:
    """The handlers of /v1/jobs and /v1/job."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/jobs",
                handlers={"GET": self.list, **dict.fromkeys(WRITE, self.register)},
                summary="List jobs, register a job",
            ),
            Route(
                path="/v1/job/{job_id}/evaluate",
                handlers=dict.fromkeys(WRITE, self.evaluate),
                summary="Evaluate a job anew",
            ),
            Route(
                path="/v1/job/{job_id}/allocations",
                handlers={"GET": self.allocations},
                summary="List the allocations of a job",
            ),
            Route(
                path="/v1/job/{job_id}/evaluations",
                handlers={"GET": self.evaluations},
                summary="List the evaluations of a job",
            ),
            Route(
                path="/v1/job/{job_id}/summary",
                handlers=dict.fromkeys(("GET", *WRITE, "DELETE"), self.summary),
                summary="Count the allocations of a job",
            ),
            Route(
                path="/v1/job/{job_id}/deployments",
                handlers={"GET": self.deployments},
                summary="List the deployments of a job",
            ),
            Route(
                path="/v1/job/{job_id}/deployment",
                handlers={"GET": self.deployment},
                summary="Read the newest deployment of a job",
            ),
            Route(
                path="/v1/job/{job_id}",
                handlers={
                    "GET": self.read,
                    **dict.fromkeys(WRITE, self.register),
                    "DELETE": self.deregister,
                },
                summary="Read, register or stop a job",
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/jobs."""
        prefix = call.query.get("prefix", "")
        with_meta = call.flag("meta")
        state = self._deps.state

        def read() -> tuple[int, tuple[list[JobListStub], str]]:
            jobs = [
                job
                for job in state.jobs
                if call.namespace in (ALL_NAMESPACES, job.namespace) and job.id.startswith(prefix)
            ]
            shown, token = page(
                call,
                jobs,
                order=lambda job: (job.namespace, job.id),
                token=lambda job: f"{job.namespace}.{job.id}",
            )
            stubs = [job_stub(job, state.job_summaries.get(job.key), with_meta=with_meta) for job in shown]
            return max(state.jobs.index, state.job_summaries.index), (stubs, token)

        answer = await self._deps.read(call, [("jobs", None), ("job-summaries", None)], read)
        answer.body, answer.next_token = answer.body
        return answer

    async def read(self, call: Call) -> Answer:
        """GET /v1/job/<id>."""
        key = self._key(call)
        state = self._deps.state

        def read() -> tuple[int, Job | None]:
            job = state.jobs.get(key)
            return (job.modify_index, job) if job is not None else (state.jobs.index, None)

        return found(await self._deps.read(call, [("jobs", key)], read), "job not found")

    async def register(self, call: Call) -> Answer:
        """PUT /v1/jobs and /v1/job/<id>."""
        request: JobRegisterRequest = await call.read(JobRegisterRequest)
        if request.job is None:
            raise HttpError(400, "Job must be specified")
        job_id = request.job.get("ID")
        if job_id is None:
            raise HttpError(400, "Job ID hasn't been provided")
        if "job_id" in call.path and call.path["job_id"] != job_id:
            raise HttpError(400, "Job ID does not match name")
        _check_early(request)
        job = self._stored_form(call, request.job, request.namespace, request.region)
        warnings = self._validated(job)
        registered = await self._deps.server.jobs.register(
            job,
            eval_priority=request.eval_priority,
            enforce_index=request.job_modify_index if request.enforce_index else None,
        )
        return Answer(
            body=JobRegisterResponse(
                eval_id=registered.eval_id,
                eval_create_index=registered.index if registered.eval_id else 0,
                job_modify_index=registered.job_modify_index,
                warnings=warnings,
                index=registered.index,
            ),
            index=registered.index,
        )

    async def deregister(self, call: Call) -> Answer:
        """DELETE /v1/job/<id>."""
        priority = call.integer("eval_priority")
        if priority > 0 and not JOB_PRIORITY_MIN <= priority <= JOB_PRIORITY_MAX:
            raise HttpError(400, EVAL_PRIORITY_TEXT)
        call.flag("global")
        done = await self._deps.server.jobs.deregister(
            self._key(call), purge=call.flag("purge"), eval_priority=max(0, priority)
        )
        return Answer(
            body=JobDeregisterResponse(
                eval_id=done.eval_id,
                eval_create_index=done.index,
                job_modify_index=done.job_modify_index,
                index=done.index,
            ),
            index=done.index,
        )

    async def evaluate(self, call: Call) -> Answer:
        """PUT /v1/job/<id>/evaluate."""
        if call.headers.get("content-length", "0") != "0":
            request: JobEvaluateRequest = await call.read(JobEvaluateRequest)
            if not request.job_id:
                raise HttpError(400, "Job ID must be specified")
            if request.job_id != call.path["job_id"]:
                raise HttpError(400, "JobID not same as job name")
        done = await self._deps.server.jobs.evaluate(self._key(call))
        return Answer(
            body=JobRegisterResponse(
                eval_id=done.eval_id,
                eval_create_index=done.index,
                job_modify_index=done.job_modify_index,
                warnings="",
                index=done.index,
            ),
            index=done.index,
        )

    async def allocations(self, call: Call) -> Answer:
        """GET /v1/job/<id>/allocations."""
        key = self._key(call)
        if not key.id:
            raise HttpError(500, "missing job ID")
        every = call.query.get("all", "") in ("1", "t", "T", "TRUE", "true", "True")
        state = self._deps.state

        def read() -> tuple[int, list[AllocListStub]]:
            job = state.jobs.get(key)
            return state.allocs.index, [
                alloc_stub(alloc)
                for alloc in state.allocs.of_job(key)
                if every or job is None or alloc.job.create_index == job.create_index
            ]

        return await self._deps.read(call, [("allocs-of-job", key)], read)

    async def evaluations(self, call: Call) -> Answer:
        """GET /v1/job/<id>/evaluations."""
        key = self._key(call)
        state = self._deps.state

        def read() -> tuple[int, list[Evaluation]]:
            return state.evals.index, state.evals.of_job(key)

        return await self._deps.read(call, [("evals-of-job", key)], read)

    async def summary(self, call: Call) -> Answer:
        """/v1/job/<id>/summary."""
        key = self._key(call)
        state = self._deps.state

        def read() -> tuple[int, JobSummary | None]:
            summary = state.job_summaries.get(key)
            return (summary.modify_index if summary is not None else state.job_summaries.index), summary

        return found(await self._deps.read(call, [("job-summaries", key)], read), "job not found")

    async def deployments(self, call: Call) -> Answer:
        """GET /v1/job/<id>/deployments."""
        key = self._key(call)
        state = self._deps.state

        def read() -> tuple[int, list[Deployment]]:
            return state.deployments.index, state.deployments.of_job(key)

        return await self._deps.read(call, [("deployments-of-job", key)], read)

    async def deployment(self, call: Call) -> Answer:
        """GET /v1/job/<id>/deployment."""
        key = self._key(call)
        state = self._deps.state

        def read() -> tuple[int, Deployment | None]:
            newest = state.deployments.latest_of_job(key)
            return (newest.modify_index if newest is not None else state.deployments.index), newest

        return await self._deps.read(call, [("deployments-of-job", key)], read)

    def _key(self, call: Call) -> JobKey:
        return JobKey(call.namespace, JobID(call.path["job_id"]))

    def _stored_form(self, call: Call, job: Folded, namespace: str, region: str) -> Job:
        wanted = region or call.query.get("region") or job.get("Region") or ""
        own = self._deps.info.region
        if wanted in ("", "global"):
            wanted = own
        if wanted != own:
            raise HttpError(500, "No path to region")
        space = call.query.get("namespace") or namespace or job.get("Namespace") or DEFAULT_NAMESPACE
        existing = self._deps.state.jobs.get(JobKey(space, JobID(job["ID"])))
        new_id = self._deps.server.context.new_id
        return canonical_job(job, region=wanted, new_id=new_id, namespace=space, existing=existing)

    def _validated(self, job: Job) -> str:
        """The warnings about a job. Raises JobRefused with all that is wrong."""
        state = self._deps.state
        namespace = state.namespaces.get(job.namespace)
        rules = JobRules(
            count_max=self._deps.server.settings.job_max_count,
            namespace_exists=namespace is not None,
            node_pool_exists=job.node_pool in state.node_pools,
            capabilities=namespace.capabilities if namespace is not None else None,
        )
        errors = job_errors(job, rules)
        if errors is not None:
            raise JobRefused(str(errors))
        oversubscription = state.scheduler_configuration.memory_oversubscription_enabled
        return warnings_text(job_warnings(job, memory_oversubscription=oversubscription))


def _check_early(request: JobRegisterRequest) -> None:
    priority = request.eval_priority
    if priority and not JOB_PRIORITY_MIN <= priority <= JOB_PRIORITY_MAX:
        raise HttpError(400, EVAL_PRIORITY_TEXT)
    job: dict[str, Any] = request.job or {}
    if job.get("Type") == SYSTEM and any("Scaling" in group for group in job.get("TaskGroups", ())):
        raise HttpError(400, "Task groups with job type system do not support scaling blocks")

"""/v1/jobs and /v1/job: register, list, read, stop, evaluate."""

from __future__ import annotations

from typing import Any

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import FALSE, Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.listing import by_namespace
from yurt.api.parameters import BLOCKING, LISTED, WHOLE_NUMBER, Parameter, flag
from yurt.api.routes import WRITE, Route
from yurt.api.v1.found import found
from yurt.api.v1.job_intake import Intake, JobIntake, check_mounts
from yurt.api.v1.job_messages import (
    JobDeregisterResponse,
    JobEvaluateRequest,
    JobPlanRequest,
    JobRegisterRequest,
    JobRegisterResponse,
    SubmissionForm,
)
from yurt.api.v1.job_views import JobListStub, job_stub
from yurt.api.v1.payloads import with_plain_payload
from yurt.model.acl.caller import OPEN_TO_ALL
from yurt.model.job import JOB_PRIORITY_MIN, SYSTEM, Job, JobKey
from yurt.model.job_submission import JobSubmission
from yurt.model.multi_error import warnings_text
from yurt.model.validate import source_size_warning
from yurt.model.wire import DEFAULT_NAMESPACE, JobID
from yurt.server.commands.jobs import JobRefused, JobRegistered

MAY_REGISTER = ("submit-job", "register-job")
MAY_STOP = ("submit-job", "purge-job", "deregister-job")
MAY_PURGE = ("submit-job", "purge-job")

JOBS_IN_ORDER = by_namespace(lambda job: job.namespace, lambda job: job.id)


class JobHandlers:
    """The handlers of /v1/jobs and /v1/job."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._intake = JobIntake(deps)

    def collection_routes(self) -> tuple[Route, ...]:
        """The routes of all jobs together."""
        return (
            Route(
                path="/v1/jobs",
                handlers={"GET": self.list, **dict.fromkeys(WRITE, self.register)},
                summary="List jobs, register a job",
                takes={"GET": (*LISTED, flag("meta", "Show the metadata of jobs."))},
                needs={
                    "GET": needs.listed("list-jobs"),
                    **dict.fromkeys(WRITE, needs.namespace(*MAY_REGISTER, of=registered_namespace)),
                },
                request=JobRegisterRequest,
                response={"GET": list[JobListStub], **dict.fromkeys(WRITE, JobRegisterResponse)},
            ),
        )

    def routes(self) -> tuple[Route, ...]:
        """The routes of one job; the last takes every id, so those with an action come before it."""
        return (
            Route(
                path="/v1/job/{job_id}/evaluate",
                handlers=dict.fromkeys(WRITE, self.evaluate),
                summary="Evaluate a job anew",
                needs=needs.namespace("submit-job", "evaluate-job"),
                request=JobEvaluateRequest,
                response=JobRegisterResponse,
            ),
            Route(
                path="/v1/job/{job_id}",
                handlers={
                    "GET": self.read,
                    **dict.fromkeys(WRITE, self.register),
                    "DELETE": self.deregister,
                },
                summary="Read, register or stop a job",
                takes={
                    "GET": BLOCKING,
                    "DELETE": (
                        flag("purge", "Forget the job at once."),
                        flag("global", "Stop it in all its regions."),
                        flag("no_shutdown_delay", "Do not wait before tasks are stopped."),
                        Parameter("eval_priority", "The priority of the evaluation.", WHOLE_NUMBER),
                    ),
                },
                needs={
                    "GET": needs.namespace("read-job"),
                    **dict.fromkeys(WRITE, needs.namespace(*MAY_REGISTER, of=registered_namespace)),
                    "DELETE": needs.Checked(told="ns:submit-job or purge-job", check=may_stop),
                },
                request=dict.fromkeys(WRITE, JobRegisterRequest),
                response={
                    "GET": Job,
                    **dict.fromkeys(WRITE, JobRegisterResponse),
                    "DELETE": JobDeregisterResponse,
                },
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /v1/jobs."""
        prefix, sees = call.query.get("prefix", ""), call.sees()
        with_meta = call.flag("meta")
        state = self._deps.state

        def is_meant(job: Job) -> bool:
            return sees(job.namespace) and job.id.startswith(prefix)

        def view(job: Job) -> JobListStub:
            return job_stub(job, state.job_summaries.get(job.key), with_meta=with_meta)

        return await self._deps.list(
            call,
            [("jobs", None), ("job-summaries", None)],
            lambda: (max(state.jobs.index, state.job_summaries.index), state.jobs),
            JOBS_IN_ORDER,
            where=is_meant,
            view=view,
        )

    async def read(self, call: Call) -> Answer:
        """GET /v1/job/<id>."""
        key = job_key(call)
        state = self._deps.state

        def read() -> tuple[int, Job | None]:
            job = state.jobs.get(key)
            return (
                (job.modify_index, with_plain_payload(job)) if job is not None else (state.jobs.index, None)
            )

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
        if request.eval_priority:
            self._check_priority(request.eval_priority)
        _check_early(request)
        job = self._intake.stored_form(
            request.job,
            Intake(
                region=request.region or call.region or request.job.get("Region", ""),
                namespace=meant_namespace(call, request),
                accessor_id=submitter(call),
                preserve_counts=request.preserve_counts,
                preserve_resources=request.preserve_resources,
            ),
        )
        check_mounts(call.permissions, job)
        errors = self._intake.errors(job)
        if errors is not None:
            raise JobRefused(str(errors))
        warnings = self._intake.warnings(job)
        submission = _submission(request.submission, job)
        most = self._deps.server.settings.job_source_bytes_max
        if submission is not None and submission.size_bytes > most:
            warnings.append(source_size_warning(submission.size_bytes, most=most))
            submission = None
        registered = await self._deps.commands.jobs.register(
            job,
            eval_priority=request.eval_priority,
            enforce_index=request.job_modify_index if request.enforce_index else None,
            submission=submission,
        )
        return registration_answer(registered, warnings=warnings_text(warnings))

    def _check_priority(self, priority: int) -> None:
        most = self._deps.server.settings.job_priority_max
        if not JOB_PRIORITY_MIN <= priority <= most:
            raise HttpError(400, f"Eval priority must be between {JOB_PRIORITY_MIN} and {most} inclusively")

    async def deregister(self, call: Call) -> Answer:
        """DELETE /v1/job/<id>."""
        purge = call.flag("purge")
        priority = call.integer("eval_priority")
        if priority > 0:
            self._check_priority(priority)
        call.flag("global")
        no_shutdown_delay = _no_shutdown_delay(call)
        done = await self._deps.commands.jobs.deregister(
            job_key(call),
            purge=purge,
            eval_priority=max(0, priority),
            no_shutdown_delay=no_shutdown_delay,
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
        force_reschedule = False
        if call.headers.get("content-length", "0") != "0":
            request: JobEvaluateRequest = await call.read(JobEvaluateRequest)
            if not request.job_id:
                raise HttpError(400, "Job ID must be specified")
            if request.job_id != call.path["job_id"]:
                raise HttpError(400, "JobID not same as job name")
            force_reschedule = request.eval_options.force_reschedule
        done = await self._deps.commands.jobs.evaluate(job_key(call), force_reschedule=force_reschedule)
        return registration_answer(done, warnings="")


def meant_namespace(call: Call, request: JobRegisterRequest | JobPlanRequest) -> str:
    """The namespace that a job is sent to: the query's, else the request's, else the job's own."""
    own = (request.job or {}).get("Namespace") or ""
    return call.query.get("namespace") or request.namespace or own or DEFAULT_NAMESPACE


def submitter(call: Call) -> str | None:
    """Whose token a job came with; None where tokens are not asked for."""
    if call.caller is OPEN_TO_ALL:
        return None
    return "" if call.caller.is_anonymous else call.caller.accessor_id


async def registered_namespace(call: Call) -> str:
    """The namespace of a registration."""
    request: JobRegisterRequest = await call.read(JobRegisterRequest)
    return meant_namespace(call, request)


async def may_stop(call: Call) -> bool:
    """Whether the caller may stop a job; to purge it takes more."""
    # A parameter that is no boolean is refused later; until then it counts as the greater wish.
    purge = call.query.get("purge", "") not in ("", *FALSE)
    return call.permissions.allows(call.namespace, *(MAY_PURGE if purge else MAY_STOP))


def job_key(call: Call) -> JobKey:
    """The job that a path means."""
    return JobKey(call.namespace, JobID(call.path["job_id"]))


def registration_answer(done: JobRegistered, *, warnings: str) -> Answer:
    """The answer to a change that made an evaluation."""
    return Answer(
        body=JobRegisterResponse(
            eval_id=done.eval_id,
            eval_create_index=done.index if done.eval_id else 0,
            job_modify_index=done.job_modify_index,
            warnings=warnings,
            index=done.index,
        ),
        index=done.index,
    )


def _submission(form: SubmissionForm | None, job: Job) -> JobSubmission | None:
    if form is None or not form.source:
        return None
    return JobSubmission(
        source=form.source,
        format=form.format,
        variable_flags=form.variable_flags,
        variables=form.variables,
        namespace=job.namespace,
        job_id=job.id,
    )


def _no_shutdown_delay(call: Call) -> bool:
    try:
        return call.flag("no_shutdown_delay")
    except HttpError as error:
        # The name is followed by a stray letter, which clients have seen for years.
        raise HttpError(
            error.status, error.text.replace('"no_shutdown_delay"', '"no_shutdown_delay"q', 1)
        ) from None


def _check_early(request: JobRegisterRequest) -> None:
    job: dict[str, Any] = request.job or {}
    if job.get("Type") == SYSTEM and any("Scaling" in group for group in job.get("TaskGroups", ())):
        raise HttpError(400, "Task groups with job type system do not support scaling blocks")

"""/v1/jobs/parse and /v1/validate/job: what a job file means, and what is wrong with a job."""

from __future__ import annotations

import asyncio
from typing import Any

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.routes import WRITE, Route
from yurt.api.v1.job_intake import Intake, JobIntake
from yurt.api.v1.job_messages import JobsParseRequest, JobValidateRequest, JobValidateResponse
from yurt.jobspec import JobspecError, parse_submitted_job
from yurt.model.canonical import request_defaults
from yurt.model.wire import DEFAULT_NAMESPACE


class JobParseHandlers:
    """The handlers of jobs that are only looked at."""

    def __init__(self, deps: Deps) -> None:
        self._intake = JobIntake(deps)

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/jobs/parse",
                handlers=dict.fromkeys(WRITE, self.parse),
                summary="Turn a job file into JSON",
                response=dict[str, Any],
                needs=needs.namespace("parse-job", "submit-job"),
                request=JobsParseRequest,
            ),
            Route(
                path="/v1/validate/job",
                handlers=dict.fromkeys(WRITE, self.validate),
                summary="Say what is wrong with a job",
                needs=needs.namespace("read-job", of=_validated_namespace),
                request=JobValidateRequest,
                response=JobValidateResponse,
                is_local=True,
            ),
        )

    async def parse(self, call: Call) -> Answer:
        """PUT /v1/jobs/parse."""
        request: JobsParseRequest = await call.read(JobsParseRequest)
        if not request.job_hcl:
            raise HttpError(400, "Job spec is empty")
        # A file can ask for a lot of evaluation: not in the loop that serves everybody.
        job = await asyncio.to_thread(_parsed, request)
        return Answer(body=job)

    async def validate(self, call: Call) -> Answer:
        """PUT /v1/validate/job: an invalid job is an answer, not an error."""
        request: JobValidateRequest = await call.read(JobValidateRequest)
        if request.job is None:
            raise HttpError(400, "Job must be specified")
        intake = Intake(namespace=request.job.get("Namespace", ""), is_to_run=False)
        job = self._intake.stored_form(request.job, intake)
        errors = self._intake.errors(job)
        return Answer(
            body=JobValidateResponse(
                validation_errors=errors.items if errors is not None else None,
                error=str(errors) if errors is not None else "",
                warnings=self._intake.warnings_text(job),
            )
        )


async def _validated_namespace(call: Call) -> str:
    request: JobValidateRequest = await call.read(JobValidateRequest)
    return (request.job or {}).get("Namespace") or DEFAULT_NAMESPACE


def _parsed(request: JobsParseRequest) -> dict[str, Any]:
    try:
        job = parse_submitted_job(request.job_hcl, variables=request.variables)
    except JobspecError as error:
        raise HttpError(400, f"Failed to parse job: {error}") from None
    return request_defaults(job) if request.canonicalize else job

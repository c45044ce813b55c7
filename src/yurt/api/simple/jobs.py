"""/jobs: submit, list, read, change, stop, restart and delete."""

from __future__ import annotations

import asyncio
from typing import Any

from msgspec.structs import replace

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.routes import Route
from yurt.api.simple.views import DEAD, job_status, job_view
from yurt.api.v1.job_intake import Intake, JobIntake, check_mounts
from yurt.api.v1.jobs import MAY_PURGE, MAY_REGISTER, MAY_STOP, submitter
from yurt.model.job import Job, JobKey
from yurt.model.simple.fields import Fields, read_document
from yurt.model.simple.jobs import job_request
from yurt.model.wire import JobID
from yurt.server.commands.job_templates import JobTemplateCommands
from yurt.server.commands.jobs import JobRefused, JobRegistered

JOBS_PER_SLICE = 50
SUBMIT, STOP = needs.namespace(*MAY_REGISTER), needs.namespace(*MAY_STOP)


class JobHandlers:
    """The handlers of /jobs."""

    def __init__(self, deps: Deps, templates: JobTemplateCommands) -> None:
        self._deps = deps
        self._intake = JobIntake(deps)
        self._templates = templates

    def routes(self) -> tuple[Route, ...]:
        """The routes; those with an action come before the one that takes any id."""
        return (
            Route(
                path="/jobs",
                handlers={"GET": self.list, "POST": self.submit},
                summary="List jobs, submit a job",
                needs={"GET": needs.listed("list-jobs"), "POST": SUBMIT},
            ),
            Route(
                path="/jobs/{job_id}/delete",
                handlers={"POST": self.delete},
                summary="Delete a job",
                needs=needs.namespace(*MAY_PURGE),
            ),
            Route(
                path="/jobs/{job_id}/restart",
                handlers={"POST": self.restart},
                summary="Restart a job",
                needs=SUBMIT,
            ),
            Route(
                path="/jobs/{job_id}",
                handlers={"GET": self.read, "PUT": self.update, "DELETE": self.stop},
                summary="Read, change or stop a job",
                needs={"GET": needs.namespace("read-job"), "PUT": SUBMIT, "DELETE": STOP},
            ),
        )

    async def list(self, call: Call) -> Answer:
        """GET /jobs."""
        state, sees = self._deps.state, call.sees()
        jobs = [job for job in state.jobs if sees(job.namespace)]
        views = []
        for start in range(0, len(jobs), JOBS_PER_SLICE):
            views += [job_view(state, job) for job in jobs[start : start + JOBS_PER_SLICE]]
            await asyncio.sleep(0)  # a long list holds up nobody
        return Answer(body={"jobs": views, "count": len(views)})

    async def read(self, call: Call) -> Answer:
        """GET /jobs/{job_id}."""
        return Answer(body=job_view(self._deps.state, self._job(call)))

    async def submit(self, call: Call) -> Answer:
        """POST /jobs."""
        body = self._with_template(call, read_document(await call.body()))
        job_id = body.text("job_id", "") or self._deps.server.context.new_id()
        key = JobKey(call.namespace, JobID(job_id))
        if key in self._deps.state.jobs:
            raise HttpError(409, f'job_id: job "{job_id}" exists; change it with PUT /jobs/{job_id}')
        job = self._stored(call, body, key)
        return self._answer(await self._deps.commands.jobs.register(job), "Job submitted successfully")

    async def update(self, call: Call) -> Answer:
        """PUT /jobs/{job_id}."""
        job = self._job(call)
        body = self._with_template(call, read_document(await call.body()))
        if body.text("job_id", job.id) != job.id:
            raise body.bad("job_id", f'is not that of the path, "{job.id}"')
        if not body.has("type"):
            body = Fields({**body.value, "type": job.type})
        fresh = self._stored(call, body, job.key)
        return self._answer(await self._deps.commands.jobs.register(fresh), "Job updated successfully")

    async def stop(self, call: Call) -> Answer:
        """DELETE /jobs/{job_id}."""
        await self._deps.commands.jobs.deregister(self._job(call).key)
        return Answer(body={"message": "Job stopped successfully"})

    async def delete(self, call: Call) -> Answer:
        """POST /jobs/{job_id}/delete."""
        await self._deps.commands.jobs.deregister(self._job(call).key, purge=True)
        return Answer(body={"message": "Job deleted successfully"})

    async def restart(self, call: Call) -> Answer:
        """POST /jobs/{job_id}/restart."""
        job = self._job(call)
        status, _ = job_status(self._deps.state, job)
        if status != DEAD:
            raise HttpError(400, f'job "{job.id}" is {status}; only a dead job can be restarted')
        registered = await self._deps.commands.jobs.register(replace(job, stop=False))
        return self._answer(registered, "Job restarted successfully")

    def _job(self, call: Call) -> Job:
        job_id = call.path["job_id"]
        job = self._deps.state.jobs.get(JobKey(call.namespace, JobID(job_id)))
        if job is None:
            raise HttpError(404, f'job "{job_id}" not found')
        return job

    def _with_template(self, call: Call, body: Fields) -> Fields:
        """What was sent, over what its template says. Raises TemplateNotFound."""
        if not body.has("template_id"):
            return body
        template = self._templates.find(call.namespace, body.text("template_id"))
        given = {key: value for key, value in body.value.items() if value is not None}
        return Fields({"task_groups": template.task_groups, "constraints": template.constraints, **given})

    def _stored(self, call: Call, body: Fields, key: JobKey) -> Job:
        """The job as it is stored. Raises BadField, JobRefused, HttpError."""
        request = job_request(body, job_id=key.id, region=self._deps.info.region)
        intake = Intake(namespace=key.namespace, accessor_id=submitter(call))
        job = self._intake.stored_form(request, intake)
        check_mounts(call.permissions, job)
        errors = self._intake.errors(job)
        if errors is not None:
            raise JobRefused(" ".join(str(errors).split()))
        return job

    def _answer(self, done: JobRegistered, message: str) -> Answer:
        body: dict[str, Any] = {"job_id": done.job.id, "evaluation_id": done.eval_id, "message": message}
        return Answer(body=body)

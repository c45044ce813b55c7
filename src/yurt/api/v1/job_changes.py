"""/v1/job/<id>/…: what can be done to a job besides registering it."""

from __future__ import annotations

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.parameters import BLOCKING, IDEMPOTENCY_TOKEN
from yurt.api.routes import ANY_METHOD, WRITE, Route
from yurt.api.v1.job_messages import (
    IndexResponse,
    JobDispatchRequest,
    JobDispatchResponse,
    JobRegisterResponse,
    JobRevertRequest,
    JobStabilityRequest,
    PeriodicForceResponse,
    ScalingRequest,
    TagVersionRequest,
    TagVersionResponse,
)
from yurt.api.v1.job_reads import JobScaleReader
from yurt.api.v1.job_views import JobScaleStatus
from yurt.api.v1.jobs import job_key, registration_answer
from yurt.model.job import JobKey
from yurt.model.wire import JobID
from yurt.server.commands.dispatch import Dispatch
from yurt.server.commands.job_versions import VersionTagged
from yurt.server.commands.jobs import JobNotFound
from yurt.server.commands.scale import Scaling, ScalingRefused

_TAG_PARTS = 2


class JobChangeHandlers:
    """The handlers of what can be done to a job."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._scale_reader = JobScaleReader(deps)

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/job/{job_id}/periodic/force",
                handlers=dict.fromkeys(WRITE, self.force),
                summary="Launch a child of a periodic job now",
                response=PeriodicForceResponse,
                needs=needs.namespace("submit-job", "dispatch-job", "force-periodic-job"),
            ),
            Route(
                path="/v1/job/{job_id}/dispatch",
                handlers=dict.fromkeys(WRITE, self.dispatch),
                summary="Launch a child of a parameterized job",
                takes=(IDEMPOTENCY_TOKEN,),
                needs=needs.namespace("dispatch-job"),
                request=JobDispatchRequest,
                response=JobDispatchResponse,
            ),
            Route(
                path="/v1/job/{job_id}/dispatch/payload",
                handlers=dict.fromkeys(WRITE, self.dispatch_payload),
                summary="Launch a child of a parameterized job with the body as its payload",
                takes=(IDEMPOTENCY_TOKEN,),
                needs=needs.namespace("dispatch-job"),
                response=JobDispatchResponse,
            ),
            Route(
                path="/v1/job/{job_id}/revert",
                handlers=dict.fromkeys(WRITE, self.revert),
                summary="Go back to an earlier version of a job",
                needs=needs.namespace("submit-job", "revert-job"),
                request=JobRevertRequest,
                response=JobRegisterResponse,
            ),
            Route(
                path="/v1/job/{job_id}/stable",
                handlers=dict.fromkeys(WRITE, self.stable),
                summary="Mark a version of a job as stable",
                response=IndexResponse,
                needs=needs.namespace("submit-job", "stable-job"),
                request=JobStabilityRequest,
            ),
            Route(
                path="/v1/job/{job_id}/scale",
                handlers={"GET": self._scale_reader.read, **dict.fromkeys(WRITE, self.scale)},
                summary="Read how far a job is scaled, set the count of a group",
                takes={"GET": BLOCKING},
                needs={
                    "GET": needs.namespace("read-job", "read-job-scaling"),
                    **dict.fromkeys(WRITE, needs.namespace("submit-job", "scale-job")),
                },
                request=ScalingRequest,
                response={"GET": JobScaleStatus, **dict.fromkeys(WRITE, JobRegisterResponse)},
            ),
            Route(
                path="/v1/job/{job_id}/tag",
                handlers=dict.fromkeys(ANY_METHOD, self.tag),
                summary="Name a version of a job, or take its name away",
                documented="/v1/job/{job_id}/versions/{name}/tag",
                needs=needs.namespace("submit-job", "tag-job-version"),
                request=TagVersionRequest,
                response=TagVersionResponse,
            ),
        )

    async def force(self, call: Call) -> Answer:
        """PUT /v1/job/<id>/periodic/force."""
        done = await self._deps.commands.periodic.force(job_key(call))
        body = PeriodicForceResponse(eval_id=done.eval_id, eval_create_index=done.index, index=done.index)
        return Answer(body=body, index=done.index)

    async def dispatch(self, call: Call) -> Answer:
        """PUT /v1/job/<id>/dispatch."""
        request: JobDispatchRequest = await call.read(JobDispatchRequest)
        if request.job_id and request.job_id != call.path["job_id"]:
            raise HttpError(400, "Job ID does not match")
        return await self._dispatch(
            call,
            Dispatch(
                payload=request.payload or b"",
                meta=request.meta or {},
                id_prefix=request.id_prefix_template,
                priority=request.priority,
                idempotency_token=call.query.get("idempotency_token") or request.idempotency_token,
            ),
        )

    async def dispatch_payload(self, call: Call) -> Answer:
        """PUT /v1/job/<id>/dispatch/payload."""
        token = call.query.get("idempotency_token", "")
        return await self._dispatch(call, Dispatch(payload=await call.body(), idempotency_token=token))

    async def _dispatch(self, call: Call, request: Dispatch) -> Answer:
        done = await self._deps.commands.dispatch.dispatch(job_key(call), request)
        return Answer(
            body=JobDispatchResponse(
                dispatched_job_id=done.job_id,
                eval_id=done.eval_id,
                eval_create_index=done.eval_create_index,
                job_create_index=done.job_create_index,
                index=done.index,
            ),
            index=done.index,
        )

    async def revert(self, call: Call) -> Answer:
        """PUT /v1/job/<id>/revert."""
        request: JobRevertRequest = await call.read(JobRevertRequest)
        _check_job_id(call, request.job_id)
        done = await self._deps.commands.job_versions.revert(
            job_key(call), request.job_version, enforce_version=request.enforce_prior_version
        )
        answer = registration_answer(done, warnings="")
        answer.is_read, answer.knows_leader = True, False
        return answer

    async def stable(self, call: Call) -> Answer:
        """PUT /v1/job/<id>/stable."""
        request: JobStabilityRequest = await call.read(JobStabilityRequest)
        _check_job_id(call, request.job_id)
        index = await self._deps.commands.job_versions.set_stability(
            job_key(call), request.job_version, stable=request.stable
        )
        return Answer(body=IndexResponse(index=index), index=index)

    async def tag(self, call: Call) -> Answer:
        """PUT and DELETE /v1/job/<id>/versions/<name>/tag."""
        rest = call.path["job_id"].split("/")
        if len(rest) != _TAG_PARTS + 1 or rest[1] != "versions":
            raise HttpError(404, "invalid job tag endpoint")
        key, name = JobKey(call.namespace, JobID(rest[0])), rest[2]
        versions = self._deps.commands.job_versions
        if call.method == "DELETE":
            return _tag_answer(await versions.untag(key, name))
        if call.method not in WRITE:
            raise HttpError(405, "Invalid method")
        request: TagVersionRequest = await call.read(TagVersionRequest)
        if request.latest and request.version:
            raise HttpError(500, f"version must be zero when tagging latest, got: {request.version}")
        return _tag_answer(
            await versions.tag(
                key,
                name,
                version=None if request.latest else request.version,
                description=request.description,
            )
        )

    async def scale(self, call: Call) -> Answer:
        """PUT /v1/job/<id>/scale."""
        request: ScalingRequest = await call.read(ScalingRequest)
        key = job_key(call)
        scaling = _scaling(request, key)
        try:
            done = await self._deps.commands.scale.scale(key, scaling)
        except JobNotFound:
            raise HttpError(404, f'job "{key.id}" not found') from None
        except ScalingRefused as error:
            raise HttpError(400, str(error)) from None
        return Answer(
            body=JobRegisterResponse(
                eval_id=done.eval_id,
                eval_create_index=done.eval_create_index,
                job_modify_index=done.job_modify_index,
                warnings="",
                index=done.index,
                known_leader=True,
            ),
            index=done.index,
        )


def _check_job_id(call: Call, job_id: str) -> None:
    if not job_id:
        raise HttpError(400, "JobID must be specified")
    if job_id != call.path["job_id"]:
        raise HttpError(400, "Job ID does not match")


def _tag_answer(done: VersionTagged) -> Answer:
    return Answer(
        body=TagVersionResponse(
            name=done.tag.name,
            description=done.tag.description,
            tagged_time=done.tag.tagged_time,
            index=done.index,
        )
    )


def _scaling(request: ScalingRequest, key: JobKey) -> Scaling:
    target = request.target or {}
    if target.get("Job", "") not in ("", key.id):
        raise HttpError(400, "job ID in payload did not match URL")
    if target.get("Namespace", "") not in ("", key.namespace):
        raise HttpError(400, "namespace in payload did not match header")
    if not target.get("Group"):
        raise HttpError(400, "missing task group name for scaling action")
    if request.count is not None and request.count < 0:
        raise HttpError(400, "scaling action count can't be negative")
    if request.error and request.count is not None:
        raise HttpError(400, "scaling action should not contain count if error is true")
    return Scaling(
        group=target["Group"],
        count=request.count,
        message=request.message,
        error=request.error,
        meta=_with_floats(request.meta),
        enforce_index=request.job_modify_index,
    )


def _with_floats(meta: dict[str, object] | None) -> dict[str, object] | None:
    """Numbers of free form are floats to Nomad, and come back as such."""
    if meta is None:
        return None
    return {
        name: float(value) if isinstance(value, int) and not isinstance(value, bool) else value
        for name, value in meta.items()
    }

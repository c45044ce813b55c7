"""/v1/job/<id>/versions: what a job was, and what changed between."""

from __future__ import annotations

from itertools import pairwise

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.parameters import BLOCKING, COUNT, Parameter, flag, text
from yurt.api.routes import ANY_METHOD, Route
from yurt.api.v1.found import found
from yurt.api.v1.job_messages import JobVersions
from yurt.api.v1.jobs import job_key
from yurt.api.v1.payloads import with_plain_payload
from yurt.model.job import Job
from yurt.scheduler.diff.job_diff import job_diff
from yurt.scheduler.diff.types import JobDiff


class JobVersionHandlers:
    """The handlers of /v1/job/<id>/versions."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/job/{job_id}/versions",
                handlers=dict.fromkeys(ANY_METHOD, self.read),
                summary="List the versions of a job, with their differences",
                takes=(
                    *BLOCKING,
                    flag("diffs", "Show what changed from version to version."),
                    text("diff_tag", "Compare every version with the one of this name."),
                    Parameter("diff_version", "Compare every version with this one.", COUNT),
                ),
                response=JobVersions,
                needs=needs.namespace("read-job"),
            ),
        )

    async def read(self, call: Call) -> Answer:
        """/v1/job/<id>/versions."""
        key = job_key(call)
        with_diffs = call.flag("diffs")
        wanted = call.unsigned("diff_version")
        tag = call.query.get("diff_tag", "")
        state = self._deps.state

        def read() -> tuple[int, JobVersions | None]:
            versions = state.jobs.versions.get(key, ())
            if not versions:
                return state.jobs.index, None
            diffs = None
            if with_diffs:
                base = _base(versions, tag, wanted)
                diffs = _diffs(versions, base)
            index = max(job.modify_index for job in versions)
            return index, JobVersions(
                versions=tuple(map(with_plain_payload, versions)), diffs=diffs, index=index
            )

        return found(await self._deps.read(call, [("jobs", key)], read), "job versions not found")


def _base(versions: tuple[Job, ...], tag: str, version: int | None) -> Job | None:
    """The version that all others are compared with; None compares each with the one before it."""
    if tag:
        for job in versions:
            if job.version_tag is not None and job.version_tag.name == tag:
                return job
        raise HttpError(500, f'tag "{tag}" not found')
    if version is None:
        return None
    for job in versions:
        if job.version == version:
            return job
    raise HttpError(500, f"version {version} not found")


def _diffs(versions: tuple[Job, ...], base: Job | None) -> list[JobDiff]:
    if base is not None:
        return [job_diff(base, job) for job in versions]
    return [job_diff(older, newer) for newer, older in pairwise(versions)]

"""Versions of jobs: reverted to, marked stable, named."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from yurt.model.job import Job, JobKey, JobVersionTag
from yurt.server.commands.jobs import JobCommands, JobRefused, JobRegistered
from yurt.server.context import ServerContext
from yurt.state.entries import SetJobStability, TagJobVersion


class VersionTagged(msgspec.Struct, frozen=True, kw_only=True):
    """A version has a name now, or lost it."""

    tag: JobVersionTag
    index: int


class JobVersionCommands:
    """What can be asked about versions of jobs."""

    def __init__(self, context: ServerContext, jobs: JobCommands) -> None:
        self._context = context
        self._jobs = jobs

    async def revert(self, key: JobKey, version: int, *, enforce_version: int | None = None) -> JobRegistered:
        """Register an earlier version anew. Raises JobRefused."""
        current = self._context.state.jobs.get(key)
        if current is None:
            raise JobRefused(f'job "{key.id}" not found')
        if enforce_version is not None and enforce_version != current.version:
            raise JobRefused(
                f"Current job has version {current.version}; enforcing version {enforce_version}"
            )
        if version == current.version:
            raise JobRefused("can't revert to current version")
        job = replace(self._version(key, version), stable=False, version_tag=None)
        return await self._jobs.register(job, enforce_index=current.job_modify_index)

    async def set_stability(self, key: JobKey, version: int, *, stable: bool) -> int:
        """Mark a version as good or not; returns the index. Raises JobRefused."""
        self._version(key, version)
        entry = SetJobStability(
            at=self._context.clock.now_ns(),
            namespace=key.namespace,
            job_id=key.id,
            version=version,
            stable=stable,
        )
        return (await self._context.committer.propose(entry)).index

    async def tag(self, key: JobKey, name: str, *, version: int | None, description: str) -> VersionTagged:
        """Name a version, or the newest one for None. Raises JobRefused."""
        versions = self._context.state.jobs.versions.get(key, ())
        if version is None:
            version = versions[0].version if versions else 0
        if not any(job.version == version for job in versions):
            raise JobRefused(f'job "{key.id}" version {version} not found')
        tagged = _tagged(versions, name)
        if tagged is not None and tagged.version != version:
            raise JobRefused(f'tag "{name}" already exists on a different version of job "{key.id}"')
        now = self._context.clock.now_ns()
        tag = JobVersionTag(name=name, description=description, tagged_time=now)
        return VersionTagged(tag=tag, index=await self._set_tag(key, version, tag))

    async def untag(self, key: JobKey, name: str) -> VersionTagged:
        """Take a name away. Raises JobRefused."""
        tagged = _tagged(self._context.state.jobs.versions.get(key, ()), name)
        if tagged is None:
            raise JobRefused(f'tag "{name}" not found on job "{key.id}"')
        return VersionTagged(tag=JobVersionTag(), index=await self._set_tag(key, tagged.version, None))

    async def _set_tag(self, key: JobKey, version: int, tag: JobVersionTag | None) -> int:
        entry = TagJobVersion(
            at=self._context.clock.now_ns(),
            namespace=key.namespace,
            job_id=key.id,
            version=version,
            tag=tag,
        )
        return (await self._context.committer.propose(entry)).index

    def _version(self, key: JobKey, version: int) -> Job:
        for job in self._context.state.jobs.versions.get(key, ()):
            if job.version == version:
                return job
        raise JobRefused(f'job "{key.id}" in namespace "{key.namespace}" at version {version} not found')


def _tagged(versions: tuple[Job, ...], name: str) -> Job | None:
    return next(
        (job for job in versions if job.version_tag is not None and job.version_tag.name == name), None
    )

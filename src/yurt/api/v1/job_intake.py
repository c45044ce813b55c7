"""Jobs on their way in: from a request's form to the form that is stored, checked."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.needs import PERMISSION_DENIED
from yurt.model.acl.permissions import Permissions
from yurt.model.canonical import canonical_job, preserve
from yurt.model.go_types import Folded
from yurt.model.job import Job, JobKey
from yurt.model.multi_error import MultiError, warnings_text
from yurt.model.validate import JobRules, job_errors, job_warnings
from yurt.model.wire import DEFAULT_NAMESPACE, JobID

HOST_VOLUME = "host"
HERE = "global"
"""A region that always means the one that is asked."""


class Intake(msgspec.Struct, frozen=True, kw_only=True):
    """What a request says about a job besides the job: where it is meant for, and what to keep."""

    region: str = ""
    namespace: str = ""
    preserve_counts: bool = False
    preserve_resources: bool = False
    # The token that the job is sent with, by the id that does not give it away; None keeps what it says.
    accessor_id: str | None = None
    # Whether the job is meant to run, in all of its regions, or only looked at.
    is_to_run: bool = True


def check_mounts(permissions: Permissions, job: Job) -> None:
    """Check that the volumes of a job may be mounted. Raises HttpError."""
    for group in job.task_groups:
        for volume in (group.volumes or {}).values():
            if volume.type == HOST_VOLUME:
                wanted = ("mount-readonly", "mount-readwrite") if volume.read_only else ("mount-readwrite",)
                is_allowed = any(permissions.allows_host_volume(volume.source, one) for one in wanted)
            else:
                is_allowed = permissions.allows(job.namespace, "csi-mount-volume")
            if not is_allowed:
                raise HttpError(*PERMISSION_DENIED)


class JobIntake:
    """Turns requests into jobs."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def stored_form(self, job: Folded, intake: Intake) -> Job:
        """The job as it would be stored. Raises HttpError if it is meant for another region."""
        own = self._deps.info.region
        regions = [intake.region]
        if intake.is_to_run:
            regions += [one.get("Name", "") for one in job.get("Multiregion", {}).get("Regions", ())]
        if any(region not in ("", HERE, own) for region in regions):
            raise HttpError(500, "No path to region")
        namespace = intake.namespace or DEFAULT_NAMESPACE
        existing = self._deps.state.jobs.get(JobKey(namespace, JobID(job.get("ID", ""))))
        if not job.get("Priority"):
            job = {**job, "Priority": self._deps.server.settings.job_priority_default}
        stored = canonical_job(
            job,
            region=own,
            new_id=self._deps.server.context.new_id,
            namespace=namespace,
            existing=existing,
            node_pool=self._default_pool(namespace),
        )
        if intake.accessor_id is not None:
            stored = replace(stored, nomad_token_id=intake.accessor_id)
        if existing is not None and (intake.preserve_counts or intake.preserve_resources):
            stored = preserve(
                stored, existing, counts=intake.preserve_counts, resources=intake.preserve_resources
            )
        return stored

    def _default_pool(self, name: str) -> str:
        namespace = self._deps.state.namespaces.get(name)
        pools = namespace.node_pool_configuration if namespace is not None else None
        return pools.default if pools is not None else ""

    def errors(self, job: Job) -> MultiError | None:
        """Everything that is wrong with a stored form."""
        state = self._deps.state
        namespace = state.namespaces.get(job.namespace)
        return job_errors(
            job,
            JobRules(
                count_max=self._deps.server.settings.job_max_count,
                priority_max=self._deps.server.settings.job_priority_max,
                namespace_exists=namespace is not None,
                node_pool_exists=job.node_pool in state.node_pools,
                capabilities=namespace.capabilities if namespace is not None else None,
                node_pools=namespace.node_pool_configuration if namespace is not None else None,
            ),
        )

    def warnings(self, job: Job) -> list[str]:
        """What is dubious about a stored form."""
        oversubscription = self._deps.state.scheduler_configuration.memory_oversubscription_enabled
        return list(job_warnings(job, memory_oversubscription=oversubscription))

    def warnings_text(self, job: Job) -> str:
        """What is dubious about a stored form, as a text."""
        return warnings_text(self.warnings(job))

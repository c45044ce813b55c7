"""The tables of scaling policies and of scaling events."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.model.job import Job, JobKey
from yurt.model.policies import ScalingPolicy
from yurt.model.scaling_event import JobScalingEvents
from yurt.state.grouped import Grouped
from yurt.state.table import Table
from yurt.state.watches import Watches


class ScalingPolicies(Table[str, ScalingPolicy]):
    """The scaling policies of all jobs by id, with an index by job."""

    def __init__(self, watches: Watches) -> None:
        super().__init__("scaling-policies", watches)
        self._by_job: Grouped[JobKey, str] = Grouped()

    def of_job(self, key: JobKey) -> list[ScalingPolicy]:
        """The policies of a job."""
        return [self._rows[policy_id] for policy_id in self._by_job.of(key)]

    def take_from(self, job: Job, index: int) -> Job:
        """Make the policies of `job` those that are stored for it; give the job with those that changed."""
        wanted = [group.scaling for group in job.task_groups if group.scaling is not None]
        if not wanted and not self._by_job.of(job.key):
            return job
        self.drop_job(job.key, index, keep={policy.id for policy in wanted})
        groups = tuple(
            replace(group, scaling=self._stored(job.key, group.scaling, index))
            if group.scaling is not None
            else group
            for group in job.task_groups
        )
        return replace(job, task_groups=groups)

    def drop_job(self, key: JobKey, index: int, *, keep: set[str] | None = None) -> None:
        """Remove the policies of a job, but for those to keep."""
        for policy_id in list(self._by_job.of(key)):
            if policy_id not in (keep or ()):
                self._by_job.discard(key, policy_id)
                self.delete(policy_id, index)

    def link(self, job: Job) -> None:
        """Note that the policies a restored job names are its own."""
        for group in job.task_groups:
            if group.scaling is not None:
                self._by_job.add(job.key, group.scaling.id)

    def _stored(self, key: JobKey, policy: ScalingPolicy, index: int) -> ScalingPolicy:
        old = self.get(policy.id)
        if old is not None:
            same = replace(policy, create_index=old.create_index, modify_index=old.modify_index)
            if same == old:
                # As in Nomad the job keeps what it was sent with; only a change of the policy shows there.
                return policy
        row = replace(policy, create_index=old.create_index if old is not None else index, modify_index=index)
        self._by_job.add(key, row.id)
        self.put(row.id, row, index)
        return row


class ScalingEvents(Table[JobKey, JobScalingEvents]):
    """Scaling events by job."""

    def __init__(self, watches: Watches) -> None:
        super().__init__("scaling-events", watches)

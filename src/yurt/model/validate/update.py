"""What registering a job over an existing one may not change, and which version it gets."""

from __future__ import annotations

from yurt.model.go_text import quoted
from yurt.model.job import Job
from yurt.model.job_versions import same_spec


def index_errors(existing: Job | None, *, enforced: int) -> list[str]:
    """Check the index that a registration insists on; 0 means that there must be no such job."""
    heading = f"Enforcing job modify index {enforced}"
    if existing is None:
        return [] if enforced == 0 else [f"{heading}: job does not exist"]
    if enforced == 0:
        return [f"{heading}: job already exists"]
    if enforced != existing.job_modify_index:
        conflict = f"job exists with conflicting job modify index: {existing.job_modify_index}"
        return [f"{heading}: {conflict}"]
    return []


def update_errors(existing: Job, job: Job) -> list[str]:
    """Check that `job` is still of the kind that `existing` is; the first problem is what to tell."""
    errors = []
    if existing.type != job.type:
        errors.append(f"cannot update job from type {quoted(existing.type)} to {quoted(job.type)}")
    for name, was, is_now in (
        ("periodic", existing.is_periodic, job.is_periodic),
        ("parameterized", existing.is_parameterized, job.is_parameterized),
    ):
        if is_now and not was:
            errors.append(f"cannot update non-{name} job to being {name}")
        elif was and not is_now:
            errors.append(f"cannot update {name} job to being non-{name}")
    return errors


def next_version(existing: Job | None, job: Job) -> int:
    """Give the version that `job` is stored as; an unchanged job keeps its version."""
    if existing is None:
        return job.version
    return existing.version if same_spec(existing, job) else existing.version + 1

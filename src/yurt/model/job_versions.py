"""Versions of jobs: how many are kept, and when two are the same."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.model.job import Job

JOB_VERSIONS_KEPT = 6


def same_spec(old: Job, new: Job) -> bool:
    """Whether registering `new` over `old` changes nothing that a user asked for.

    A job with a scaling block is never the same, as in Nomad: its policy ids are made anew.
    """
    if any(group.scaling is not None for group in new.task_groups):
        return False
    return old == replace(
        new,
        status=old.status,
        status_description=old.status_description,
        stable=old.stable,
        version=old.version,
        create_index=old.create_index,
        modify_index=old.modify_index,
        job_modify_index=old.job_modify_index,
        submit_time=old.submit_time,
    )

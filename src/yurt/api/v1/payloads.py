"""Payloads of dispatched jobs as the API shows them."""

from __future__ import annotations

from msgspec.structs import replace

from yurt.model.job import Job
from yurt.model.snappy import decompress


def with_plain_payload(job: Job) -> Job:
    """Show a job's payload as it was sent: it is stored compressed, which is nobody's concern outside."""
    return replace(job, payload=decompress(job.payload)) if job.payload else job

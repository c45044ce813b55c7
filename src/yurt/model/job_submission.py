"""The source a job was made from, kept beside each version."""

from __future__ import annotations

from yurt.model.wire import DEFAULT_NAMESPACE, JobID, Wire

SUBMISSION_BYTES_MAX = 1_000_000


class JobSubmission(Wire, frozen=True, kw_only=True):
    """The source of one version of a job."""

    source: str = ""
    format: str = ""
    variable_flags: dict[str, str] | None = None
    variables: str = ""
    namespace: str = DEFAULT_NAMESPACE
    job_id: JobID = JobID("")
    version: int = 0
    job_modify_index: int = 0

    @property
    def size_bytes(self) -> int:
        """How much there is to keep."""
        flags = sum(len(name) + len(value) for name, value in (self.variable_flags or {}).items())
        return len(self.source.encode()) + len(self.format) + len(self.variables.encode()) + flags

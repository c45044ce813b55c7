"""Calls about jobs. Job bodies are objects in the API's own form, as the job file parser gives them."""

from collections.abc import Mapping, Sequence
from typing import Any

from yurt.sdk.client import Answer, Client
from yurt.sdk.services import Registration
from yurt.sdk.transport import Param, path_segment
from yurt.sdk.types.allocs import AllocStub
from yurt.sdk.types.deployments import Deployment
from yurt.sdk.types.evals import Evaluation
from yurt.sdk.types.jobs import (
    Action,
    Dispatched,
    Job,
    JobStatus,
    JobStub,
    JobSummary,
    Planned,
    Registered,
    ScaleStatus,
    Submission,
    Validated,
    Versions,
)

JobBody = Mapping[str, Any]


def listing(client: Client, /, **params: Param) -> Answer[tuple[JobStub, ...]]:
    """List jobs; `prefix`, `filter`, `per_page`, `next_token`, `reverse` and `meta` may be given."""
    return client.get("/v1/jobs", tuple[JobStub, ...], **params)


def read(client: Client, job_id: str) -> Answer[Job]:
    """Read a stored job."""
    return client.get(_path(job_id), Job)


def summary(client: Client, job_id: str) -> Answer[JobSummary]:
    """Read the counts of a job's allocations and children."""
    return client.get(_path(job_id, "summary"), JobSummary)


def allocations(
    client: Client, job_id: str, *, every_instance: bool = False
) -> Answer[tuple[AllocStub, ...]]:
    """List a job's allocations; `every_instance` includes those of a purged job of the same name."""
    return client.get(_path(job_id, "allocations"), tuple[AllocStub, ...], all=every_instance)


def wait_allocations(
    client: Client, job_id: str, *, index: int, wait_s: float
) -> Answer[tuple[AllocStub, ...]]:
    """List a job's allocations once one has changed since `index`, or after `wait_s`."""
    path = _path(job_id, "allocations")
    return client.wait_for_change(path, tuple[AllocStub, ...], index=index, wait_s=wait_s)


def evaluations(client: Client, job_id: str) -> Answer[tuple[Evaluation, ...]]:
    """List a job's evaluations, in no order."""
    return client.get(_path(job_id, "evaluations"), tuple[Evaluation, ...])


def deployments(
    client: Client, job_id: str, *, every_instance: bool = False
) -> Answer[tuple[Deployment, ...]]:
    """List a job's deployments, in no order."""
    return client.get(_path(job_id, "deployments"), tuple[Deployment, ...], all=every_instance)


def latest_deployment(client: Client, job_id: str) -> Answer[Deployment | None]:
    """Read a job's newest deployment; None when it never had one."""
    return client.get(_path(job_id, "deployment"), Deployment | None)  # type: ignore[arg-type] # a union is no class


def actions(client: Client, job_id: str) -> Answer[tuple[Action, ...]]:
    """List the named commands of a job's tasks."""
    return client.get(_path(job_id, "actions"), tuple[Action, ...])


def submission(client: Client, job_id: str, version: int) -> Answer[Submission]:
    """Read the source that a version was registered from."""
    return client.get(_path(job_id, "submission"), Submission, version=version)


def versions(client: Client, /, job_id: str, **params: Param) -> Answer[Versions]:
    """List the kept versions; `diffs=True` adds changes, against `diff_tag` or `diff_version` if given."""
    return client.get(_path(job_id, "versions"), Versions, **params)


def register(
    client: Client,
    job: JobBody,
    *,
    source: JobBody | None = None,
    check_index: int | None = None,
    options: JobBody | None = None,
) -> Answer[Registered]:
    """Register a job. `check_index` must equal the stored `JobModifyIndex`, 0 meaning "not there yet".

    `options` are further members of the request: `EvalPriority`, `PreserveCounts`, ...
    """
    body: dict[str, Any] = {"Job": job, **(options or {})}
    if source is not None:
        body["Submission"] = source
    if check_index is not None:
        body |= {"EnforceIndex": True, "JobModifyIndex": check_index}
    return client.put("/v1/jobs", Registered, body=body)


def validate(client: Client, job: JobBody) -> Answer[Validated]:
    """Check a job without registering it."""
    return client.put("/v1/validate/job", Validated, body={"Job": job})


def plan(client: Client, job: JobBody, *, diff: bool, policy_override: bool = False) -> Answer[Planned]:
    """Say what registering a job would do."""
    body = {"Job": job, "Diff": diff, "PolicyOverride": policy_override}
    return client.put(_path(str(job["ID"]), "plan"), Planned, body=body)


def deregister(client: Client, /, job_id: str, **params: Param) -> Answer[Registered]:
    """Stop a job; `purge`, `global`, `no_shutdown_delay` and `eval_priority` may be given."""
    return client.delete(_path(job_id), Registered, **params)


def evaluate(client: Client, job_id: str, *, force_reschedule: bool = False) -> Answer[Registered]:
    """Evaluate a job anew."""
    body = {"JobID": job_id, "EvalOptions": {"ForceReschedule": force_reschedule}}
    return client.put(_path(job_id, "evaluate"), Registered, body=body)


def dispatch(
    client: Client, job_id: str, request: JobBody, *, idempotency_token: str = ""
) -> Answer[Dispatched]:
    """Start an instance of a parameterized job. `request` holds `Payload` (base64), `Meta`, ..."""
    return client.put(
        _path(job_id, "dispatch"),
        Dispatched,
        body={"JobID": job_id, **request},
        idempotency_token=idempotency_token,
    )


def force_periodic(client: Client, job_id: str) -> Answer[Registered]:
    """Launch a periodic job now."""
    return client.put(_path(job_id, "periodic/force"), Registered)


def revert(client: Client, job_id: str, version: int) -> Answer[Registered]:
    """Register an older version again."""
    return client.put(_path(job_id, "revert"), Registered, body={"JobID": job_id, "JobVersion": version})


def scale_status(client: Client, job_id: str) -> Answer[ScaleStatus]:
    """Read a job's counts and their changes."""
    return client.get(_path(job_id, "scale"), ScaleStatus)


def scale(client: Client, job_id: str, request: JobBody) -> Answer[Registered]:
    """Change the count of a group, or record an event of it."""
    return client.put(_path(job_id, "scale"), Registered, body=request)


def tag_version(client: Client, job_id: str, name: str, request: JobBody) -> None:
    """Name a version, so that it is kept and can be reverted to by name."""
    client.send("PUT", _path(job_id, f"versions/{path_segment(name)}/tag"), body=request)


def untag_version(client: Client, job_id: str, name: str) -> None:
    """Take a version's name away."""
    client.send("DELETE", _path(job_id, f"versions/{path_segment(name)}/tag"))


def parse(client: Client, text: str, *, variables: str = "", canonicalize: bool = False) -> Answer[JobBody]:
    """Have the server read a job file; the answer is the job in the API's own form."""
    body = {"JobHCL": text, "Variables": variables, "Canonicalize": canonicalize}
    return client.put("/v1/jobs/parse", dict[str, Any], body=body)


def statuses(client: Client, /, **params: Param) -> Answer[tuple[JobStatus, ...]]:
    """List jobs with their allocations; `filter`, paging, `reverse` and `include_children` may be given."""
    return client.get("/v1/jobs/statuses", tuple[JobStatus, ...], **params)


def statuses_of(client: Client, jobs: Sequence[tuple[str, str]]) -> Answer[tuple[JobStatus, ...]]:
    """List some jobs with their allocations; each is named by its namespace and id."""
    body = {"Jobs": [{"Namespace": namespace, "ID": job_id} for namespace, job_id in jobs]}
    return client.post("/v1/jobs/statuses", tuple[JobStatus, ...], body=body)


def services(client: Client, job_id: str) -> Answer[tuple[Registration, ...]]:
    """List the registered services of a job."""
    return client.get(_path(job_id, "services"), tuple[Registration, ...])


def update(client: Client, job: JobBody) -> Answer[Registered]:
    """Register a job under the path of its id, which must not be empty."""
    return client.put(_path(str(job["ID"])), Registered, body={"Job": job})


def dispatch_payload(
    client: Client, job_id: str, payload: bytes, *, idempotency_token: str = ""
) -> Answer[Dispatched]:
    """Start an instance of a parameterized job with bytes as its payload."""
    path = _path(job_id, "dispatch/payload")
    return client.put_bytes(path, Dispatched, payload, idempotency_token=idempotency_token)


def set_stable(client: Client, job_id: str, version: int, *, stable: bool) -> None:
    """Mark a version as one to fall back to, or not."""
    body = {"JobID": job_id, "JobVersion": version, "Stable": stable}
    client.send("PUT", _path(job_id, "stable"), body=body)


def _path(job_id: str, action: str = "") -> str:
    return f"/v1/job/{path_segment(job_id)}" + (f"/{action}" if action else "")

"""The bodies of requests about jobs, and of their answers."""

from __future__ import annotations

from typing import Annotated, Any

from yurt.api.v1.read_meta import ReadMeta
from yurt.model.forms import JobForm
from yurt.model.go_types import Folded, FoldedAs, Uint64
from yurt.model.job import Job
from yurt.model.wire import Nanoseconds, Wire, wire_names
from yurt.scheduler.diff.types import JobDiff


class SubmissionForm(Wire, frozen=True, kw_only=True):
    """The source a job was made from."""

    source: str = ""
    format: str = ""
    variable_flags: dict[str, str] | None = None
    variables: str = ""


class JobRegisterRequest(Wire, frozen=True, kw_only=True):
    """The body of a registration."""

    job: Annotated[Folded | None, FoldedAs(JobForm)] = None
    enforce_index: bool = False
    job_modify_index: Uint64 = 0
    policy_override: bool = False
    preserve_counts: bool = False
    preserve_resources: bool = False
    eval_priority: int = 0
    region: str = ""
    namespace: str = ""
    secret_id: str = ""
    submission: SubmissionForm | None = None


class JobValidateRequest(Wire, frozen=True, kw_only=True):
    """The body of a validation."""

    job: Annotated[Folded | None, FoldedAs(JobForm)] = None
    region: str = ""


class JobPlanRequest(Wire, frozen=True, kw_only=True):
    """The body of a dry run."""

    job: Annotated[Folded | None, FoldedAs(JobForm)] = None
    diff: bool = False
    policy_override: bool = False
    region: str = ""
    namespace: str = ""
    secret_id: str = ""


class JobsParseRequest(Wire, frozen=True, kw_only=True, rename=wire_names(job_hcl="JobHCL")):
    """The body of a request to parse a job file."""

    job_hcl: str = ""
    variables: str = ""
    canonicalize: bool = False


class JobEvaluateRequest(Wire, frozen=True, kw_only=True):
    """The body of a forced evaluation."""

    class EvalOptions(Wire, frozen=True, kw_only=True):
        """What to do besides."""

        force_reschedule: bool = False

    job_id: str = ""
    eval_options: EvalOptions = EvalOptions()


class JobRegisterResponse(Wire, frozen=True, kw_only=True):
    """The answer to a registration."""

    eval_id: str
    eval_create_index: int
    job_modify_index: int
    warnings: str
    index: int
    last_contact: int = 0
    known_leader: bool = False
    next_token: str = ""


class JobDeregisterResponse(Wire, frozen=True, kw_only=True):
    """The answer to stopping a job."""

    eval_id: str
    eval_create_index: int
    job_modify_index: int
    volume_eval_id: str = ""
    volume_eval_index: int = 0
    index: int
    last_contact: int = 0
    known_leader: bool = False
    next_token: str = ""


class JobRevertRequest(Wire, frozen=True, kw_only=True):
    """The body of a revert."""

    job_id: str = ""
    job_version: Uint64 = 0
    enforce_prior_version: Uint64 | None = None


class JobStabilityRequest(Wire, frozen=True, kw_only=True):
    """The body of marking a version as stable."""

    job_id: str = ""
    job_version: Uint64 = 0
    stable: bool = False


class TagVersionRequest(Wire, frozen=True, kw_only=True):
    """The body of naming a version."""

    version: Uint64 = 0
    latest: bool = False
    description: str = ""


class ScalingRequest(Wire, frozen=True, kw_only=True):
    """The body of a scaling."""

    count: int | None = None
    target: dict[str, str] | None = None
    message: str = ""
    error: bool = False
    meta: dict[str, Any] | None = None
    policy_override: bool = False
    job_modify_index: Uint64 = 0


class JobDispatchRequest(
    Wire, frozen=True, kw_only=True, rename=wire_names(id_prefix_template="IdPrefixTemplate")
):
    """The body of a dispatch."""

    job_id: str = ""
    payload: bytes | None = None
    meta: dict[str, str] | None = None
    id_prefix_template: str = ""
    idempotency_token: str = ""
    priority: int = 0


class JobDispatchResponse(
    Wire, frozen=True, kw_only=True, rename=wire_names(dispatched_job_id="DispatchedJobID")
):
    """The answer to a dispatch."""

    dispatched_job_id: str
    eval_id: str
    eval_create_index: int
    job_create_index: int
    index: int


class TagVersionResponse(Wire, frozen=True, kw_only=True):
    """The answer to naming a version."""

    name: str
    description: str
    tagged_time: Nanoseconds
    index: int
    last_contact: int = 0
    known_leader: bool = False
    next_token: str = ""


class JobValidateResponse(Wire, frozen=True, kw_only=True):
    """The answer to a validation."""

    driver_config_validated: bool = True
    validation_errors: tuple[str, ...] | None = None
    error: str = ""
    warnings: str = ""


class JobVersions(ReadMeta, frozen=True, kw_only=True):
    """The versions of a job, newest first, and what changed between them."""

    versions: tuple[Job, ...]
    diffs: list[JobDiff] | None = None


class PeriodicForceResponse(Wire, frozen=True, kw_only=True):
    """The answer to launching a child of a periodic job."""

    eval_id: str
    eval_create_index: int
    index: int


class IndexResponse(Wire, frozen=True, kw_only=True):
    """The index at which something was changed."""

    index: int

"""Validating a job without a server."""

from typing import Any

from yurt.cli.errors import CommandError
from yurt.errors import YurtError
from yurt.model.canonical import canonical_job
from yurt.model.decode import fold, plan_of
from yurt.model.forms import JobForm
from yurt.model.multi_error import warnings_text
from yurt.model.validate import job_errors, job_warnings
from yurt.sdk.types.jobs import Validated

REGION = "global"


def validate_locally(job: dict[str, Any]) -> Validated:
    """Check a job, in the API's form, by the rules that servers use; only drivers know their own options."""
    try:
        stored = canonical_job(fold(job, plan_of(JobForm)), region=REGION, new_id=lambda: "")
    except YurtError as error:
        raise CommandError(f"Error validating job: {error}") from error
    errors = job_errors(stored)
    return Validated(error=str(errors or ""), warnings=warnings_text(job_warnings(stored)))

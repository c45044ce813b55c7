"""Refusals and warnings, word for word as they were recorded."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from yurt.model.canonical import canonical_job
from yurt.model.decode import fold, plan_of
from yurt.model.forms import JobForm
from yurt.model.job import Job
from yurt.model.multi_error import warnings_text
from yurt.model.validate import JobRules, job_errors, job_warnings

RECORDINGS = Path(__file__).parents[1] / "recordings" / "nomad"
EXISTING_POOLS = ("default", "all")


def steps(name: str) -> list[dict[str, Any]]:
    recorded: list[dict[str, Any]] = json.loads((RECORDINGS / "http" / f"{name}.json").read_text())["steps"]
    return recorded


def canonical(request: dict[str, Any], namespace: str | None = None) -> Job:
    folded = fold(request, plan_of(JobForm))
    return canonical_job(folded, region="global", new_id=lambda: "id", namespace=namespace)


def errors_text(job: Job) -> str:
    rules = JobRules(
        namespace_exists=job.namespace == "default", node_pool_exists=job.node_pool in EXISTING_POOLS
    )
    errors = job_errors(job, rules)
    return "" if errors is None else str(errors)


def validations() -> list[Any]:
    cases = []
    for name in ("invalid_job_level", "invalid_groups", "invalid_services"):
        for step in steps(name):
            request = step["request"]
            if request["path"] == "/v1/validate/job" and "(trimmed)" not in request["body"]["Job"]:
                cases.append(pytest.param(request["body"]["Job"], step["response"]["body"], id=step["step"]))
    return cases


@pytest.mark.parametrize(("request_job", "answer"), validations())
def test_validation_answers(request_job: dict[str, Any], answer: dict[str, Any]) -> None:
    job = canonical(request_job)
    errors = job_errors(
        job,
        JobRules(
            namespace_exists=job.namespace == "default", node_pool_exists=job.node_pool in EXISTING_POOLS
        ),
    )
    assert (str(errors) if errors else "") == answer["Error"]
    assert (list(errors.items) if errors else None) == answer["ValidationErrors"]
    assert warnings_text(job_warnings(job)) == answer["Warnings"]


def refused_registrations() -> list[Any]:
    return [
        pytest.param(step["request"]["body"]["Job"], step["response"]["text"], id=step["step"])
        for name in ("invalid_job_level", "invalid_groups", "invalid_services")
        for step in steps(name)
        if step["request"]["path"] == "/v1/jobs" and "occurred:" in step["response"].get("text", "")
    ]


@pytest.mark.parametrize(("request_job", "text"), refused_registrations())
def test_refused_registrations(request_job: dict[str, Any], text: str) -> None:
    assert errors_text(canonical(request_job)) == text


def warned_plans() -> list[Any]:
    return [
        pytest.param(step["request"]["body"]["Job"], step["response"]["body"]["Warnings"], id=step["step"])
        for name in ("job_warnings", "job_rich_fields")
        for step in steps(name)
        if "Warnings" in (step["response"].get("body") or ())
        and "Submission" not in step["request"]["body"]
        and "(trimmed)" not in str(step["request"]["body"]["Job"])
    ]


@pytest.mark.parametrize(("request_job", "text"), warned_plans())
def test_warnings(request_job: dict[str, Any], text: str) -> None:
    job = canonical(request_job)
    assert job_errors(job) is None
    assert warnings_text(job_warnings(job)) == text


def test_warnings_of_a_rich_job() -> None:
    (register, *_) = steps("job_rich_fields")
    job = canonical(register["request"]["body"]["Job"])
    assert job_errors(job) is None
    assert warnings_text(job_warnings(job)) == register["response"]["body"]["Warnings"]


def validated_job_files() -> list[Any]:
    cases = []
    for path in sorted((RECORDINGS / "jobspec").glob("*.json")):
        recording = json.loads(path.read_text())
        # One file was checked by the CLI alone, which does not look for features of other editions.
        if "not validated" not in recording.get("validate", {"stdout": "not validated"})["stdout"]:
            cases.append(pytest.param(recording["parse"], recording["validate"], id=path.stem))
    return cases


@pytest.mark.parametrize(("parsed", "answer"), validated_job_files())
def test_job_files(parsed: dict[str, Any], answer: dict[str, Any]) -> None:
    job = canonical(parsed)
    shown_errors = job_errors(job, JobRules(namespace_exists=True))
    _, _, expected = answer["stderr"].partition("Job validation errors:\n")
    assert (str(shown_errors).strip() if shown_errors else "") == expected.strip()
    _, _, warned = answer["stdout"].partition("Job Warnings:\n")
    if shown_errors is None:
        assert warnings_text(job_warnings(job)) == warned.partition("\n\nJob validation")[0]

"""Time a one-task job's way from a request body to a validated, storable job."""

from __future__ import annotations

import time
from collections.abc import Callable
from statistics import median
from typing import Annotated

import msgspec

from yurt.model.canonical import canonical_job
from yurt.model.decode import decode_body, fold, plan_of
from yurt.model.forms import JobForm
from yurt.model.go_types import Folded, FoldedAs
from yurt.model.validate import job_errors

TARGETS = {"fold_us": "<= 40", "canonical_us": "<= 60"}
ROUNDS = 9
CALLS = 500


class _Request(msgspec.Struct, rename="pascal"):
    job: Annotated[Folded, FoldedAs(JobForm)] | None = None


def run() -> dict[str, float]:
    """Return microseconds for each step, and for reading the whole body."""
    short = {"ID": "j", "TaskGroups": [{"Name": "g", "Tasks": [{"Name": "t", "Driver": "raw_exec"}]}]}
    job = canonical_job(fold(short, plan_of(JobForm)), region="global", new_id=str)
    body = b'{"Job": ' + msgspec.json.encode(job) + b"}"
    plan = plan_of(JobForm)
    value = msgspec.json.decode(body)["Job"]
    folded = fold(value, plan)
    return {
        "decode_body_us": _microseconds(lambda: decode_body(body, _Request)),
        "fold_us": _microseconds(lambda: fold(value, plan)),
        "canonical_us": _microseconds(lambda: canonical_job(folded, region="global", new_id=str)),
        "validate_us": _microseconds(lambda: job_errors(job)),
    }


def _microseconds(call: Callable[[], object]) -> float:
    rounds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(CALLS):
            call()
        rounds.append((time.perf_counter() - start) / CALLS * 1e6)
    return median(rounds)

"""Dispatching: what a parameterized job accepts, and what its children are."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from yurt.model.job import BATCH, Job
from yurt.model.policies import ParameterizedJobConfig
from yurt.model.wire import JobID
from yurt.server.commands.dispatch import PAYLOAD_BYTES_MAX, Dispatch, child_of, dispatch_problem

PARENT = Job(
    id=JobID("work"),
    name="work",
    type=BATCH,
    meta={"owner": "x"},
    parameterized_job=ParameterizedJobConfig(meta_required=("who",), meta_optional=("why",)),
)
SECOND_NS = 1_000_000_000


def with_payload(rule: str) -> Job:
    rules = PARENT.parameterized_job
    assert rules is not None
    return replace(PARENT, parameterized_job=replace(rules, payload=rule))


@pytest.mark.parametrize(
    ("parent", "request_", "problem"),
    [
        pytest.param(PARENT, Dispatch(meta={"who": "me"}), "", id="what is required is there"),
        pytest.param(PARENT, Dispatch(meta={"who": "me", "why": "so"}), "", id="what is optional, too"),
        pytest.param(
            replace(PARENT, parameterized_job=None),
            Dispatch(),
            'Specified job "work" is not a parameterized job',
            id="an ordinary job",
        ),
        pytest.param(
            replace(PARENT, stop=True), Dispatch(), 'Specified job "work" is stopped', id="a stopped job"
        ),
        pytest.param(
            with_payload("required"),
            Dispatch(meta={"who": "me"}),
            "Payload is not provided but required by parameterized job",
            id="a payload is missing",
        ),
        pytest.param(
            with_payload("forbidden"),
            Dispatch(meta={"who": "me"}, payload=b"x"),
            "Payload provided but forbidden by parameterized job",
            id="a payload is not wanted",
        ),
        pytest.param(
            PARENT,
            Dispatch(meta={"who": "me"}, payload=b"x" * (PAYLOAD_BYTES_MAX + 1)),
            f"Payload exceeds maximum size; {PAYLOAD_BYTES_MAX + 1} > {PAYLOAD_BYTES_MAX}",
            id="a payload is too large",
        ),
        pytest.param(
            PARENT,
            Dispatch(meta={"who": "me", "zz": "1"}),
            "Dispatch request included unpermitted metadata keys: [zz]",
            id="meta is not permitted",
        ),
        pytest.param(
            PARENT, Dispatch(), "Dispatch did not provide required meta keys: [who]", id="meta is missing"
        ),
        pytest.param(
            PARENT,
            Dispatch(meta={"who": "me"}, priority=101),
            "dispatch job priority must be between [1, 100]",
            id="the priority is out of range",
        ),
    ],
)
def test_a_dispatch_must_be_as_the_job_asks(parent: Job, request_: Dispatch, problem: str) -> None:
    assert dispatch_problem(parent, request_) == problem


def test_a_child_takes_its_meta_over_its_parents() -> None:
    request = Dispatch(meta={"who": "me", "owner": "y"}, payload=b"p", id_prefix="x", priority=80)
    child = child_of(PARENT, request, now=7 * SECOND_NS, suffix="01234567")
    assert child.id == child.name == "work/dispatch-x-7-01234567"
    assert (child.parent_id, child.dispatched, child.is_parameterized) == ("work", True, False)
    assert (child.meta, child.payload, child.priority) == ({"owner": "y", "who": "me"}, b"\x01\x00p", 80)

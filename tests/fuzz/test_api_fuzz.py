"""Requests made at random from the API's own description, sent to a real agent.

Nothing may break the agent, hang, or be answered otherwise than described. As in Nomad many mistakes of
callers are answered with 500 and a text that names them; what must never come is the text of a failure of
ours.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.strategies import SearchStrategy, one_of
from schemathesis import Case
from schemathesis.core.result import Ok
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.api.v1.served import served
from tests.fuzz.sizes import examples
from tests.support.real_agent import RealAgent, running_agent, send
from yurt.api.app import INTERNAL_ERROR
from yurt.api.openapi import openapi_document

EXAMPLES = 3
# Far more than any answer takes, and far less than a blocking query may.
ANSWER_TIMEOUT_S = 60
# Restored garbage is refused, but a restored archive would replace everything.
_LEFT_OUT = {("PUT", "/v1/operator/snapshot"), ("POST", "/v1/operator/snapshot")}
CHECKED: list[Any] = [status_code_conformance, content_type_conformance, response_schema_conformance]


def _document() -> dict[str, Any]:
    return openapi_document(asyncio.run(served()).table.routes)


DOCUMENT = _document()
SCHEMA = schemathesis.openapi.from_dict(DOCUMENT)
# Where PUT is taken POST is the same.
OPERATIONS = [
    operation
    for result in SCHEMA.get_all_operations()
    if isinstance(result, Ok)
    and not (operation := result.ok()).definition.raw.get("x-streams")
    and (operation.method.upper(), operation.path) not in _LEFT_OUT
    and not (operation.method == "post" and "put" in DOCUMENT["paths"][operation.path])
]


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("fuzz")) as started:
        yield started


@pytest.fixture(scope="module")
def known(agent: RealAgent) -> dict[str, str]:
    """Ids of things that are there, by the name of the parameter that means them."""
    task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/sleep", "args": ["600"]}}
    group = {"Name": "g", "Count": 1, "Tasks": [task], "Scaling": {"Min": 0, "Max": 3, "Enabled": True}}
    job = {"ID": "web", "Name": "web", "TaskGroups": [group]}
    registered = agent.call("PUT", "/v1/jobs", {"Job": job})
    assert registered.status == 200, registered.text
    (alloc,) = agent.wait_for(
        "/v1/job/web/allocations", lambda found: found and found[0]["ClientStatus"] == "running"
    )
    return {
        "job_id": "web",
        "alloc_id": alloc["ID"],
        "eval_id": alloc["EvalID"],
        "node_id": alloc["NodeID"],
        "deployment_id": agent.call("GET", "/v1/job/web/deployment").json["ID"],
        "policy_id": agent.call("GET", "/v1/scaling/policies").json[0]["ID"],
    }


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: f"{one.method.upper()} {one.path}")
def test_answers_are_as_described(operation: Any, agent: RealAgent, known: dict[str, str]) -> None:
    @settings(
        max_examples=examples(EXAMPLES),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.explicit, Phase.generate],
    )
    @given(case=_cases(operation))
    def send(case: Case[Any]) -> None:
        _aim(case, known)
        answer = case.call(base_url=agent.address, timeout=ANSWER_TIMEOUT_S, allow_redirects=False)
        assert answer.content != INTERNAL_ERROR.encode(), case.as_curl_command()
        case.validate_response(answer, checks=CHECKED)

    send()


def test_the_agent_is_well_afterwards(agent: RealAgent) -> None:
    # Over a new connection: the one that is kept may have idled too long by now.
    connection = agent.connect()
    answer = send(connection, "GET", "/v1/agent/health")
    connection.close()
    assert answer.json["server"] == {"message": "ok", "ok": True}


def _cases(operation: Any) -> SearchStrategy[Case[Any]]:
    """Requests as described, and some that are not."""
    positive = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
    negative = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
    return one_of(positive, negative)


def _aim(case: Case[Any], known: dict[str, str]) -> None:
    """Have half of all requests mean something that is there, and none wait for a change."""
    for name, value in (case.path_parameters or {}).items():
        if name in known and zlib.crc32(str(value).encode()) % 2:
            case.path_parameters[name] = known[name]
    if "index" in (case.query or {}):
        case.query["wait"] = "1ms"

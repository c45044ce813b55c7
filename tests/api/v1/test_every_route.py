"""Every route of Nomad's API has succeeded and failed in a test: in a recording that is replayed, or here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from tests.api.v1.served import Served, served
from tests.support.real_agent import Answer, RealAgent, running_agent
from yurt.api.routes import Route

HERE = Path(__file__).parent
RECORDINGS = HERE.parent.parent / "recordings" / "nomad" / "http"
OTHER_REGION = "nowhere"

# What Yurt refuses whatever is asked, and what takes an identity provider, a certificate or a second server.
NEVER_SUCCEED = {
    "GET /v1/client/allocation/{alloc_id}/pause",
    "PUT /v1/client/allocation/{alloc_id}/pause",
    "GET /v1/agent/keyring/{action}",
    "DELETE /v1/operator/raft/peer",
    "GET /v1/volumes/external",
    "GET /v1/volumes/snapshot",
    "PUT /v1/volumes/snapshot",
    "DELETE /v1/volumes/snapshot",
    "DELETE /v1/volumes/claim/{claim_id}",
    "GET /v1/volume/csi/{volume_id}",
    "PUT /v1/volume/csi/{volume_id}",
    "DELETE /v1/volume/csi/{volume_id}",
    "PUT /v1/volume/csi/{volume_id}/create",
    "DELETE /v1/volume/csi/{volume_id}/delete",
    "DELETE /v1/volume/csi/{volume_id}/detach",
    "GET /v1/plugin/csi/{plugin_id}",
}
# Where their success is tested.
TESTED_ELSEWHERE = {
    "PUT /v1/acl/binding-rule/{rule_id}",
    "PUT /v1/acl/oidc/auth-url",
    "PUT /v1/acl/oidc/complete-auth",
    "PUT /v1/acl/login",
    "GET /v1/agent/monitor",
    "GET /v1/agent/monitor/export",
    "GET /v1/client/allocation/{alloc_id}/snapshot",
    "PUT /v1/volume/host/register",
    "PUT /v1/operator/snapshot",
}

SUCCESSES: tuple[tuple[str, str, Any], ...] = (
    ("PUT", "/v1/job/asked/dispatch", {"Meta": {}}),
    ("PUT", "/v1/job/asked/dispatch/payload", "payload"),
    ("PUT", "/v1/job/web/stable", {"JobID": "web", "JobVersion": 0, "Stable": True}),
    ("PUT", "/v1/job/web/revert", {"JobID": "web", "JobVersion": 0}),
    ("PUT", "/v1/job/web/versions/one/tag", {"Version": 1, "Description": "x"}),
    ("DELETE", "/v1/job/web/versions/one/tag", None),
    ("PUT", "/v1/node/{node}/evaluate", None),
    ("PUT", "/v1/node/{node}/eligibility", {"Eligibility": "ineligible"}),
    ("PUT", "/v1/node/{node}/eligibility", {"Eligibility": "eligible"}),
    ("PUT", "/v1/allocation/{alloc}/stop", None),
    ("POST", "/v1/client/metadata", {"Meta": {"rack": "r1"}}),
    ("PUT", "/v1/client/identity/renew", {}),
    ("GET", "/v1/client/fs/stream/{alloc}?path=alloc/logs/t.stdout.0&follow=false", None),
    (
        "PUT",
        "/v1/deployment/allocation-health/{deployment}",
        {"DeploymentID": "{deployment}", "HealthyAllocationIDs": ["{alloc}"]},
    ),
    ("PUT", "/v1/deployment/fail/{deployment}", None),
    ("PUT", "/v1/agent/servers?address=127.0.0.1:4647", None),
    ("PUT", "/v1/agent/schedulers/config", {"num_schedulers": 1}),
    ("GET", "/v1/operator/raft/configuration", None),
    ("PUT", "/v1/operator/raft/transfer-leadership?id={server}", None),
    ("PUT", "/v1/operator/autopilot/configuration", {"CleanupDeadServers": True}),
    ("GET", "/v1/operator/snapshot", None),
    ("PUT", "/v1/operator/keyring/rotate", None),
    ("DELETE", "/v1/operator/keyring/key/{key}?force=true", None),
    ("PUT", "/v1/search/fuzzy", {"Text": "web", "Context": "jobs"}),
    ("GET", "/.well-known/openid-configuration", None),
)
WITH_TOKENS: tuple[tuple[str, str, Any], ...] = (
    ("PUT", "/v1/acl/policy/p", {"Name": "p", "Rules": 'namespace "default" { policy = "read" }'}),
    ("PUT", "/v1/acl/token/onetime", None),
    ("PUT", "/v1/acl/token/onetime/exchange", {"OneTimeSecretID": "{OneTimeSecretID}"}),
    ("PUT", "/v1/acl/role", {"Name": "r", "Policies": [{"Name": "p"}]}),
    ("GET", "/v1/acl/role/{ID}", None),
    ("GET", "/v1/acl/role/name/r", None),
    ("PUT", "/v1/acl/role/{ID}", {"ID": "{ID}", "Name": "s", "Policies": [{"Name": "p"}]}),
    ("DELETE", "/v1/acl/role/{ID}", None),
)


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    config = 'server {\n  oidc_issuer = "https://yurt.example"\n}\n'
    with running_agent(tmp_path_factory.mktemp("agent"), more_config=config) as started:
        yield started


def _job(job_id: str, **more: Any) -> dict[str, Any]:
    task = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sh", "args": ["-c", "echo hello; exec sleep 600"]},
    }
    update = {"HealthCheck": "manual", "MinHealthyTime": 0}
    return {
        "ID": job_id,
        "Name": job_id,
        "TaskGroups": [{"Name": "g", "Tasks": [task], "Update": update}],
        **more,
    }


def _filled(value: Any, known: dict[str, str]) -> Any:
    """A value with the names in braces replaced by what they stand for."""
    text = json.dumps(value)
    for name, stands_for in known.items():
        text = text.replace(f"{{{name}}}", stands_for)
    return json.loads(text)


def test_successes_that_no_recording_has(agent: RealAgent) -> None:
    assert agent.call("PUT", "/v1/jobs", {"Job": _job("web")}).status == 200
    (alloc,) = agent.wait_for(
        "/v1/job/web/allocations", lambda rows: rows and rows[0]["ClientStatus"] == "running"
    )
    deployment = agent.call("GET", "/v1/job/web/deployment").json["ID"]
    changed = _job("web", Meta={"a": "b"})
    asked = _job("asked", Type="batch", ParameterizedJob={"Payload": "optional"})
    for job in (asked, changed):
        job["TaskGroups"][0]["Count"] = 0 if job is asked else 1
        job["TaskGroups"][0].pop("Update")
        assert agent.call("PUT", "/v1/jobs", {"Job": job}).status == 200
    known = {
        "alloc": alloc["ID"],
        "node": alloc["NodeID"],
        "deployment": deployment,
        "server": agent.call("GET", "/v1/operator/raft/configuration").json["Servers"][0]["ID"],
        "key": agent.call("GET", "/v1/operator/keyring/keys").json[0]["KeyID"],
    }
    failed = []
    for method, path, body in SUCCESSES:
        answer = agent.call(method, _filled(path, known), _filled(body, known))
        if answer.status >= 400 and not _is_over(answer):
            failed.append((method, path, answer.status, answer.text))
    assert not failed


def _is_over(answer: Answer) -> bool:
    # The deployment is superseded by the newer version of the job, and may be over by now.
    return "terminal deployment" in answer.text


def test_successes_with_tokens_that_no_recording_has(tmp_path: Path) -> None:
    guarded = RealAgent(tmp_path, client=False, more_config="acl {\n  enabled = true\n}\n")
    guarded.start()
    connection = guarded.connect()
    try:
        secret = guarded.call("PUT", "/v1/acl/bootstrap").json["SecretID"]
        known: dict[str, str] = {}
        for method, path, body in WITH_TOKENS:
            text = None if body is None else json.dumps(_filled(body, known))
            connection.request(method, _filled(path, known), body=text, headers={"X-Nomad-Token": secret})
            answer = connection.getresponse()
            told = answer.read()
            assert answer.status < 400, (method, path, told)
            given = json.loads(told) if told else {}
            known |= (
                {"OneTimeSecretID": given.get("OneTimeToken", {}).get("OneTimeSecretID", "")}
                if path.endswith("onetime")
                else {}
            )
            known |= {"ID": given["ID"]} if path == "/v1/acl/role" else {}
    finally:
        connection.close()
        guarded.stop()


async def test_every_route_fails_for_a_region_or_method_that_there_is_not() -> None:
    api = await served()
    for route in api.table.routes:
        method, path = next(iter(route.handlers)), re.sub(r"\{\w+\}", "x", route.path)
        if not route.is_local:
            reply = await api.call(method, f"{path}?region={OTHER_REGION}")
            assert (reply.status, reply.text) == (500, "No path to region"), route.path
        elif len(route.handlers) < 7:
            reply = await api.call("TRACE", path)
            assert reply.status in (400, 404, 405), route.path


async def test_every_route_of_nomads_api_succeeds_somewhere() -> None:
    api = await served()
    succeeded = set(_recorded_successes(api))
    for method, path, _ in (*SUCCESSES, *WITH_TOKENS):
        match = api.table.find(path.partition("?")[0])
        assert match is not None, path
        succeeded.add(_told(match.route, method))
    lines = (HERE / "nomad_routes.txt").read_text().splitlines()
    missing = []
    for method, path in (line.split() for line in lines):
        match = api.table.find(re.sub(r"\{\w+\}", "x", path))
        assert match is not None, path
        told = _told(match.route, method)
        if told not in succeeded | NEVER_SUCCEED | TESTED_ELSEWHERE:
            missing.append(told)
    assert not missing


def _recorded_successes(api: Served) -> Iterator[str]:
    for file in RECORDINGS.glob("*.json"):
        for step in json.loads(file.read_text()).get("steps", ()):
            if "request" not in step or step.get("response", {}).get("status", 500) >= 400:
                continue
            match = api.table.find(unquote(step["request"]["path"].partition("?")[0]))
            if match is not None:
                yield _told(match.route, step["request"]["method"])


def _told(route: Route, method: str) -> str:
    """A route and method; those with the same handler are one."""
    alike = [one for one in ("GET", "PUT", "POST", "DELETE") if one in route.handlers]
    handler = route.handlers.get(method)
    return f"{next((one for one in alike if route.handlers[one] is handler), method)} {route.path}"

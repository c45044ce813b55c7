"""A task shows its identity to others, who check it with the cluster's public keys alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jwt
import pytest

from tests.support.real_agent import RealAgent, running_agent

ISSUER = "https://cluster.example"
SHOW = "echo $NOMAD_TOKEN; cat $NOMAD_SECRETS_DIR/nomad_cloud.jwt"


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    config = f'server {{ oidc_issuer = "{ISSUER}" }}'
    with running_agent(tmp_path_factory.mktemp("identity"), more_config=config) as agent:
        yield agent


def a_job() -> dict[str, Any]:
    task = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sh", "args": ["-c", SHOW]},
        "Identity": {"Env": True},
        "Identities": [{"Name": "cloud", "Audience": ["cloud.example"], "File": True, "TTL": 3600 * 10**9}],
    }
    return {"Job": {"ID": "shown", "Type": "batch", "TaskGroups": [{"Name": "g", "Tasks": [task]}]}}


def test_a_task_is_known_by_its_tokens(agent: RealAgent) -> None:
    assert agent.call("PUT", "/v1/jobs", a_job()).status == 200
    (alloc,) = agent.wait_for(
        "/v1/job/shown/allocations", lambda rows: rows and rows[0]["ClientStatus"] == "complete"
    )
    own, cloud = agent.call(
        "GET", f"/v1/client/fs/logs/{alloc['ID']}?task=t&type=stdout&plain=true"
    ).text.split()

    discovered = agent.call("GET", "/.well-known/openid-configuration").json
    assert discovered["issuer"] == ISSUER
    assert discovered["jwks_uri"] == f"{ISSUER}/.well-known/jwks.json"
    keys = jwt.PyJWKSet.from_dict(agent.call("GET", "/.well-known/jwks.json").json)
    header = jwt.get_unverified_header(own)
    assert (header["alg"], header["typ"]) == ("RS256", "JWT")
    said = jwt.decode(
        own, keys[header["kid"]], algorithms=["RS256"], audience="nomadproject.io", issuer=ISSUER
    )
    assert said["sub"] == "global:default:shown:g:t:default"
    assert said["nomad_allocation_id"] == alloc["ID"]
    said = jwt.decode(
        cloud, keys[header["kid"]], algorithms=["RS256"], audience="cloud.example", issuer=ISSUER
    )
    assert said["exp"] - said["iat"] == 3600
    shown = agent.call("GET", f"/v1/allocation/{alloc['ID']}").json
    assert shown["SigningKeyID"] == header["kid"]


def test_keys_outlive_a_restart(agent: RealAgent) -> None:
    before = agent.call("GET", "/.well-known/jwks.json").json
    agent.kill()
    agent.start()
    assert agent.call("GET", "/.well-known/jwks.json").json == before

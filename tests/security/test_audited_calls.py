"""The audit log of a real agent: what it holds, and what it never holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.real_agent import AgentEnded, RealAgent, running_agent, send

SECRET = "5ec2e750-1111-4222-8333-444455556666"


@pytest.fixture(scope="module")
def audit_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audited") / "log" / "audit.log"


@pytest.fixture(scope="module")
def agent(audit_file: Path) -> Iterator[RealAgent]:
    more = f"""
audit {{
  enabled = true
  sink "file" {{
    type = "file"
    path = "{audit_file}"
  }}
  filter "quiet" {{
    endpoints = ["/v1/metrics", "/.well-known/*", "/v1/nodes"]
  }}
}}
"""
    with running_agent(audit_file.parents[1] / "agent", client=False, more_config=more) as agent:
        yield agent


def events(audit_file: Path, endpoint: str) -> list[dict[str, Any]]:
    found = [json.loads(line)["payload"] for line in audit_file.read_text().splitlines()]
    return [event for event in found if event["request"]["endpoint"] == endpoint]


def test_a_call_is_written_down_before_and_after(agent: RealAgent, audit_file: Path) -> None:
    agent.call("GET", "/v1/job/nothing?namespace=team-a")
    received, complete = events(audit_file, "/v1/job/nothing")
    assert (received["stage"], complete["stage"]) == ("OperationReceived", "OperationComplete")
    assert complete["response"]["status_code"] == 404
    assert received["request"]["id"] == complete["request"]["id"]
    request = complete["request"]
    assert (request["operation"], request["namespace"]) == ("GET", {"id": "team-a"})
    assert request["request_meta"]["remote_address"].startswith("127.0.0.1:")
    assert request["node_meta"] == {"ip": f"127.0.0.1:{agent.http_port}"}
    assert complete["auth"]["method"] == "open"


def test_filtered_endpoints_are_left_out(agent: RealAgent, audit_file: Path) -> None:
    agent.call("GET", "/v1/metrics")
    assert events(audit_file, "/v1/metrics") == []


def test_secrets_of_headers_queries_and_bodies_are_not_in_it(agent: RealAgent, audit_file: Path) -> None:
    connection = agent.connect()
    connection.request(
        "PUT",
        f"/v1/jobs?token={SECRET}",
        json.dumps({"Job": {"ID": SECRET}}).encode(),
        {"X-Nomad-Token": SECRET, "Authorization": f"Bearer {SECRET}", "Cookie": SECRET},
    )
    assert connection.getresponse().read()
    connection.close()
    assert events(audit_file, "/v1/jobs")
    assert SECRET not in audit_file.read_text()


def test_what_callers_choose_cannot_forge_lines(agent: RealAgent, audit_file: Path) -> None:
    connection = agent.connect()
    forged = '%0a{"payload":{"stage":"forged"}}%0d%0a'
    send(connection, "GET", f"/v1/job/{forged}")
    connection.close()
    stages = {json.loads(line)["payload"]["stage"] for line in audit_file.read_text().splitlines()}
    assert stages == {"OperationReceived", "OperationComplete"}


def test_nothing_is_done_that_cannot_be_written_down(agent: RealAgent, audit_file: Path) -> None:
    kept = audit_file.rename(audit_file.with_name("kept"))
    audit_file.mkdir()
    agent.hang_up()
    answer = agent.call("PUT", "/v1/namespace/unheard", {"Name": "unheard"})
    # The signal is heard in its own time, maybe between a call's two lines.
    while answer.status == 200 or answer.text.startswith("this was done"):
        answer = agent.call("PUT", "/v1/namespace/unheard", {"Name": "unheard"})
    assert (answer.status, answer.text[:35]) == (500, "the audit log cannot be written, so")
    refused = agent.call("PUT", "/v1/namespace/refused", {"Name": "refused"})
    assert refused.status == 500
    audit_file.rmdir()
    kept.rename(audit_file)
    assert agent.call("GET", "/v1/namespace/refused").status == 404


def test_an_agent_without_a_usable_audit_log_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    config = f'audit {{\n enabled = true\n sink "file" {{\n path = "{tmp_path}/file/audit.log"\n }}\n}}'
    agent = RealAgent(tmp_path / "agent", client=False, more_config=config)
    with pytest.raises(AgentEnded, match=r"the audit log .* cannot be opened: .*; check audit\.sink\.path"):
        agent.start()

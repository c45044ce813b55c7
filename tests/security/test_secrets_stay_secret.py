"""Secrets appear neither in logs nor in events, errors or what the API shows of an agent."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.real_agent import RealAgent, running_agent
from yurt.agent.templates.language.errors import ExecutionFailed
from yurt.agent.templates.rendering import RenderContext, read_template, render
from yurt.agent.templates.sources import Known, TemplateVariable, VariableQuery
from yurt.observe import logger as log_setup

SECRET = "5ec2e750-1111-4222-8333-444455556666"
QUERY = VariableQuery("default", "nomad/jobs/web")


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    more = f"""
log_level = "DEBUG"
acl {{
  replication_token = "{SECRET}"
}}
plugin "docker" {{
  config {{
    auth {{
      config = "/nowhere"
    }}
  }}
}}
"""
    with running_agent(tmp_path_factory.mktemp("secrets"), more_config=more) as agent:
        yield agent


def node_secret(agent: RealAgent) -> str:
    return (agent.directory / "data/client/secret-id").read_text().strip()


def test_the_nodes_secret_is_for_its_owner_only(agent: RealAgent) -> None:
    file = agent.directory / "data/client/secret-id"
    assert file.stat().st_mode & 0o077 == 0
    assert file.parent.stat().st_mode & 0o077 == 0


def test_the_nodes_secret_is_nowhere_to_be_read(agent: RealAgent) -> None:
    secret = node_secret(agent)
    (node,) = agent.call("GET", "/v1/nodes").json
    agent.call("PUT", f"/v1/node/{node['ID']}/eligibility", {"Eligibility": "ineligible"})
    agent.call("PUT", f"/v1/node/{node['ID']}/eligibility", {"Eligibility": "eligible"})
    for path in (
        "/v1/nodes",
        f"/v1/node/{node['ID']}",
        "/v1/agent/self",
        "/v1/agent/host",
        "/v1/metrics",
        "/v1/operator/raft/configuration",
    ):
        assert secret not in agent.call("GET", path).text
    connection = agent.connect()
    connection.request("GET", "/v1/event/stream?topic=Node&index=1")
    stream = connection.getresponse()
    lines = [stream.readline() for _ in range(2)]
    connection.close()
    assert b"Node" in b"".join(lines)
    assert secret.encode() not in b"".join(lines)
    assert secret not in agent.log.read_text()


def test_the_agents_settings_are_shown_without_their_secrets(agent: RealAgent) -> None:
    shown = agent.call("GET", "/v1/agent/self").text
    assert SECRET not in shown
    assert json.loads(shown)["config"]["ACL"]["ReplicationToken"]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/v1/jobs", None),
        ("GET", "/v1/job/none", None),
        ("PUT", "/v1/jobs", b'{"Job": "broken'),
        ("GET", f"/v1/acl/token/{SECRET}", None),
        ("POST", "/v1/acl/login", {"AuthMethodName": "x", "LoginToken": SECRET}),
        ("POST", "/v1/acl/token/onetime/exchange", {"OneTimeSecretID": SECRET}),
    ],
)
def test_a_callers_token_is_not_logged(agent: RealAgent, method: str, path: str, body: Any) -> None:
    connection = agent.connect()
    data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
    connection.request(method, path, data, {"X-Nomad-Token": SECRET, "Authorization": f"Bearer {SECRET}"})
    connection.getresponse().read()
    connection.close()
    assert SECRET not in agent.log.read_text()


@pytest.mark.parametrize("json_lines", [False, True])
def test_a_traceback_shows_no_values(json_lines: bool) -> None:
    out = io.StringIO()
    log_setup.configure("INFO", json=json_lines, stream=out)

    def fail(token: str) -> int:
        return len(token) // 0

    try:
        fail(SECRET)
    except ZeroDivisionError:
        log_setup.get_logger("test").exception("request.failed")
    assert "request.failed" in out.getvalue()
    assert "len(token) // 0" in out.getvalue(), "it shows where"
    assert SECRET not in out.getvalue()


@pytest.mark.parametrize(
    "template",
    [
        '{{ with nomadVar "nomad/jobs/web" }}{{ .password.Value | parseInt }}{{ end }}',
        '{{ with nomadVar "nomad/jobs/web" }}{{ .password.Value | parseBool }}{{ end }}',
        '{{ with nomadVar "nomad/jobs/web" }}{{ .password.Value | parseJSON }}{{ end }}',
        '{{ with nomadVar "nomad/jobs/web" }}{{ .password.Value | parseYAML }}{{ end }}',
        '{{ with nomadVar "nomad/jobs/web" }}{{ .password.Value | splitToMap "," "=" }}{{ end }}',
        '{{ with nomadVar "nomad/jobs/web" }}{{ .password.Value | add 1 }}{{ end }}',
        '{{ with nomadVar "nomad/jobs/web" }}{{ call .password.Value }}{{ end }}',
    ],
)
def test_a_template_that_fails_does_not_tell_what_it_read(template: str) -> None:
    password = f'"hunter2\n{SECRET}: [x'
    known: Known = {
        QUERY: TemplateVariable(namespace="default", path="nomad/jobs/web", items={"password": password})
    }
    context = RenderContext(variables={}, namespace="default", region="global", addresses=lambda _: "")
    with pytest.raises(ExecutionFailed) as failed:
        render(read_template(template), context, known, now=0)
    assert "hunter2" not in str(failed.value)
    assert SECRET not in str(failed.value)

"""Every bad input gets its status and an error that names the field, and changes nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.simple.served_simple import (
    AMOUNTS,
    GROUPS,
    HEARTBEAT,
    REGISTRATION,
    ServedSimple,
    served_simple,
)
from tests.state.builders import a_node
from yurt.model.client_protocol import RegisterNode


def task(**changes: Any) -> list[dict[str, Any]]:
    """Groups of one task, of which something is other than it should be; None leaves a member out."""
    whole = {"name": "t", "config": {"command": "true"}, **changes}
    return [{"name": "g", "tasks": [{key: item for key, item in whole.items() if item is not None}]}]


def group(**changes: Any) -> list[dict[str, Any]]:
    return [{**GROUPS[0], **changes}]


def without(document: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: item for key, item in document.items() if key != name}


JOBS: list[tuple[Any, str]] = [
    (None, "no body"),
    (b"{", "JSON"),
    (b'{"a": 1} x', "JSON"),
    (b"\xff", "JSON"),
    ([], "must be an object"),
    ({}, "task_groups: is missing"),
    ({"task_groups": None}, "task_groups: is missing"),
    ({"task_groups": {}}, "task_groups: must be a list"),
    ({"task_groups": []}, "task_groups: must hold"),
    ({"task_groups": ["x"]}, "task_groups[0]: must be an object"),
    ({"task_groups": [{}]}, "task_groups[0].name: is missing"),
    ({"task_groups": group(name="")}, "task_groups[0].name: must not be empty"),
    ({"task_groups": group(name=7)}, "task_groups[0].name: must be a text"),
    ({"task_groups": group(count="2")}, "task_groups[0].count"),
    ({"task_groups": group(count=-1)}, "task_groups[0].count"),
    ({"task_groups": group(count=1.5)}, "task_groups[0].count"),
    ({"task_groups": group(tasks=[])}, "task_groups[0].tasks"),
    ({"task_groups": group(constraints={"a": "b"})}, "task_groups[0].constraints: must be a list"),
    (
        {"task_groups": group(constraints=[{"attribute": 1, "operator": "=", "value": "x"}])},
        "task_groups[0].constraints[0].attribute",
    ),
    (
        {"task_groups": group(constraints=[{"attribute": "a", "operator": "~", "value": "x"}])},
        'Unknown constraint type "~"',
    ),
    (
        {"task_groups": group(constraints=[{"attribute": "a", "operator": "regex", "value": "("}])},
        "Regular expression",
    ),
    ({"task_groups": group(restart={"attempts": "many"})}, "RestartPolicy.Attempts"),
    ({"task_groups": group(restart={"delay": "soon"})}, "RestartPolicy.Delay"),
    ({"task_groups": GROUPS * 2}, 'task_groups[1].name: another group is called "g"'),
    ({"task_groups": group(tasks=GROUPS[0]["tasks"] * 2)}, "tasks[1].name: another task of this group"),
    ({"task_groups": task(name=None)}, "task_groups[0].tasks[0].name: is missing"),
    ({"task_groups": task(config=None)}, "task_groups[0].tasks[0].config: is missing"),
    ({"task_groups": task(config=[])}, "task_groups[0].tasks[0].config: must be an object"),
    ({"task_groups": task(config={})}, "task_groups[0].tasks[0].config: needs image"),
    ({"task_groups": task(config={"command": 5})}, "tasks[0].config.command: must be a text"),
    ({"task_groups": task(config={"image": ""})}, "tasks[0].config.image"),
    ({"task_groups": task(config={"image": "i", "command": "a '"})}, "tasks[0].config.command"),
    ({"task_groups": task(config={"image": "i", "port": "80"})}, "tasks[0].config.port"),
    ({"task_groups": task(config={"image": "i", "port": 0})}, "tasks[0].config.port"),
    ({"task_groups": task(config={"image": "i", "port": 70000})}, "tasks[0].config.port"),
    ({"task_groups": task(resources=[])}, "tasks[0].resources: must be an object"),
    ({"task_groups": task(resources={"cpu": "1"})}, "tasks[0].resources.cpu"),
    ({"task_groups": task(resources={"cpu": True})}, "tasks[0].resources.cpu"),
    ({"task_groups": task(resources={"memory": -1})}, "tasks[0].resources.memory"),
    ({"task_groups": task(resources={"memory": 1e300})}, "tasks[0].resources.memory"),
    ({"task_groups": GROUPS, "type": "cron"}, "type: must be one of"),
    ({"task_groups": GROUPS, "type": 1}, "type: must be a text"),
    ({"task_groups": GROUPS, "priority": 0}, "priority"),
    ({"task_groups": GROUPS, "priority": "high"}, "priority"),
    ({"task_groups": GROUPS, "priority": 101}, "priority"),
    ({"task_groups": GROUPS, "constraints": ["x"]}, "constraints: must be an object"),
    ({"task_groups": GROUPS, "constraints": {"region": {}}}, "constraints.region"),
    ({"task_groups": GROUPS, "job_id": 5}, "job_id: must be a text"),
    ({"task_groups": GROUPS, "job_id": "a b"}, "Job ID contains a space"),
    ({"task_groups": GROUPS, "template_id": 5}, "template_id: must be a text"),
]

REGISTRATIONS: list[tuple[Any, str]] = [
    (None, "no body"),
    *((without(REGISTRATION, name), f"{name}: is missing") for name in REGISTRATION),
    ({**REGISTRATION, "node_id": 5}, "node_id"),
    ({**REGISTRATION, "node_id": ""}, "node_id"),
    ({**REGISTRATION, "node_id": "a\nb"}, "node_id"),
    ({**REGISTRATION, "node_id": "x" * 300}, "node_id"),
    ({**REGISTRATION, "ip_address": 7}, "ip_address"),
    ({**REGISTRATION, "healthy": "yes"}, "healthy: must be true or false"),
    ({**REGISTRATION, "resources": 5}, "resources: must be an object"),
    ({**REGISTRATION, "resources": without(AMOUNTS, "cpu")}, "resources.cpu: is missing"),
    ({**REGISTRATION, "resources": {**AMOUNTS, "memory": "1"}}, "resources.memory"),
    ({**REGISTRATION, "resources": {**AMOUNTS, "cpu_used": -1}}, "resources.cpu_used"),
    *(
        ({**REGISTRATION, "endpoint": endpoint}, "endpoint")
        for endpoint in (
            *("", "10.0.0.7:8501", "ftp://10.0.0.7", "http://", "http:///x", "file:///etc/passwd"),
            *("http://h:99999", "http://h:0", "http://[::1", "http://a b", "http://u:p@h", "http://h?x=1"),
            "http://h/\r\nx",
        )
    ),
]

HEARTBEATS: list[tuple[Any, str]] = [
    (None, "no body"),
    *((without(HEARTBEAT, name), f"{name}: is missing") for name in HEARTBEAT),
    ({**HEARTBEAT, "timestamp": "now"}, "timestamp"),
    ({**HEARTBEAT, "healthy": 1}, "healthy"),
    ({**HEARTBEAT, "resources": {}}, "resources.cpu"),
    ({**HEARTBEAT, "allocations": []}, "allocations: must be an object"),
    ({**HEARTBEAT, "allocations": {"a": 5}}, "allocations.a: must be an object"),
    ({**HEARTBEAT, "allocations": {"a": {}}}, "allocations.a.status: is missing"),
    ({**HEARTBEAT, "allocations": {"a": {"status": "running", "tasks": []}}}, "allocations.a.tasks"),
    (
        {**HEARTBEAT, "allocations": {"a": {"status": "running", "tasks": {"t": {"status": 1}}}}},
        "allocations.a.tasks.t.status",
    ),
    (
        {
            **HEARTBEAT,
            "allocations": {
                "a": {"status": "running", "tasks": {"t": {"status": "running", "start_time": "x"}}}
            },
        },
        "allocations.a.tasks.t.start_time",
    ),
]

TEMPLATES: list[tuple[Any, str]] = [
    (None, "no body"),
    ({"task_groups": GROUPS}, "name: is missing"),
    ({"name": 5, "task_groups": GROUPS}, "name: must be a text"),
    ({"name": "x"}, "task_groups: is missing"),
    ({"name": "x", "task_groups": [{}]}, "task_groups[0].name"),
    ({"name": "x", "task_groups": GROUPS, "description": 5}, "description"),
    ({"name": "x", "task_groups": GROUPS, "constraints": []}, "constraints"),
]

CASES = [
    *(("POST", "/jobs", body, text) for body, text in JOBS),
    *(("PUT", "/jobs/known", body, text) for body, text in JOBS if "Job ID" not in text),
    ("PUT", "/jobs/known", {"task_groups": GROUPS, "job_id": "other"}, "job_id"),
    ("PUT", "/jobs/known", {"task_groups": GROUPS, "type": "batch"}, "type"),
    *(("POST", "/register", body, text) for body, text in REGISTRATIONS),
    *(("POST", "/heartbeat", body, text) for body, text in HEARTBEATS),
    *(("POST", "/templates", body, text) for body, text in TEMPLATES),
    ("PUT", "/templates/{template}", {}, "nothing to change"),
    ("PUT", "/templates/{template}", {"name": ""}, "name"),
    ("PUT", "/templates/{template}", {"task_groups": []}, "task_groups"),
    ("POST", "/jobs/known/restart", None, '"known" is pending; only a dead job'),
]

UNKNOWN = [
    ("POST", "/heartbeat", {**HEARTBEAT, "node_id": "stranger"}, 404, "stranger"),
    ("GET", "/jobs/none", None, 404, "none"),
    ("PUT", "/jobs/none", {"task_groups": GROUPS}, 404, "none"),
    ("DELETE", "/jobs/none", None, 404, "none"),
    ("POST", "/jobs/none/delete", None, 404, "none"),
    ("POST", "/jobs/none/restart", None, 404, "none"),
    ("POST", "/jobs", {"template_id": "none"}, 404, "none"),
    ("POST", "/jobs", {"job_id": "known", "task_groups": GROUPS}, 409, "known"),
    ("GET", "/templates/none", None, 404, "none"),
    ("PUT", "/templates/none", {"name": "x"}, 404, "none"),
    ("DELETE", "/templates/none", None, 404, "none"),
    ("GET", "/elsewhere", None, 404, "/elsewhere"),
    ("GET", "/", None, 404, "/"),
    ("PATCH", "/jobs", None, 405, "method"),
    ("GET", "/register", None, 405, "method"),
]


async def a_server_with_something_of_each() -> tuple[ServedSimple, str]:
    served = await served_simple()
    assert (await served.call("POST", "/jobs", {"job_id": "known", "task_groups": GROUPS})).status == 200
    assert (await served.call("POST", "/register", REGISTRATION)).status == 200
    template = await served.call("POST", "/templates", {"name": "x", "task_groups": GROUPS})
    return served, template.json["template_id"]


@pytest.mark.parametrize(("method", "path", "body", "text"), CASES)
async def test_bad_input_is_a_400_that_names_the_field(method: str, path: str, body: Any, text: str) -> None:
    served, template = await a_server_with_something_of_each()
    before = served.server.state.index
    reply = await served.call(method, path.format(template=template), body)
    assert reply.status == 400, reply.text
    assert text in reply.json["error"]
    assert reply.json.keys() == {"error"}
    assert served.server.state.index == before


@pytest.mark.parametrize(("method", "path", "body", "status", "text"), UNKNOWN)
async def test_what_is_not_there_is_named(method: str, path: str, body: Any, status: int, text: str) -> None:
    served, _ = await a_server_with_something_of_each()
    before = served.server.state.index
    reply = await served.call(method, path, body)
    assert reply.status == status, reply.text
    assert text in reply.json["error"]
    assert served.server.state.index == before


async def test_a_node_of_yurts_own_cannot_be_taken_over() -> None:
    served, _ = await a_server_with_something_of_each()

    node = a_node(1)
    await served.server.nodes.register(RegisterNode(node=node))
    before = served.server.state.index
    reply = await served.call("POST", "/register", {**REGISTRATION, "node_id": node.id})
    assert reply.status == 409
    assert node.id in reply.json["error"]
    assert (await served.call("POST", "/heartbeat", {**HEARTBEAT, "node_id": node.id})).status == 404
    assert served.server.state.index == before

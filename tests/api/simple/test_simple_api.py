"""The simple API over a real agent: jobs, templates and nodes, seen and changed from both dialects."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.api.simple.simple_calls import SimpleClient, current, statuses, wait_until
from tests.support.real_agent import RealAgent, running_agent

YURT = Path(sys.executable).parent / "yurt"


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("agent")) as agent:
        yield agent


@pytest.fixture
def simple(agent: RealAgent) -> SimpleClient:
    return SimpleClient(agent.simple_port)


@pytest.fixture
def node(agent: RealAgent) -> SimpleClient:
    """The node agent's own listener."""
    return SimpleClient(agent.simple_agent_port)


def groups(*commands: str) -> list[dict[str, Any]]:
    """A group for each command line."""
    return [
        {"name": f"g{number}", "tasks": [{"name": "t", "config": {"command": command}}]}
        for number, command in enumerate(commands)
    ]


def is_running(view: Any) -> bool:
    return bool(view["allocations"]) and set(statuses(view)) == {"running"}


def test_the_life_of_a_job(agent: RealAgent, simple: SimpleClient) -> None:
    submitted = simple.ok("POST", "/jobs", {"task_groups": groups("sleep 1000", "sleep 1000")})
    assert submitted.keys() == {"job_id", "evaluation_id", "message"}
    job_id = submitted["job_id"]
    assert agent.call("GET", f"/v1/evaluation/{submitted['evaluation_id']}").json["JobID"] == job_id
    view = simple.job_when(job_id, is_running)
    assert view["status"] == "running"
    before = {alloc["task_group"]: alloc["allocation_id"] for alloc in view["allocations"]}
    (alloc, _) = view["allocations"]
    assert alloc["start_time"] > 1_700_000_000
    assert alloc["end_time"] is None
    assert alloc["tasks"]["t"]["config"] == {"command": "sleep 1000"}
    assert alloc["tasks"]["t"]["resources"] == {"cpu": 0, "memory": 0}
    listed = simple.ok("GET", "/jobs")
    assert listed["count"] == len(listed["jobs"])
    assert job_id in [job["job_id"] for job in listed["jobs"]]

    # The other dialect and the command line see it.
    assert agent.call("GET", f"/v1/job/{job_id}").json["Status"] == "running"
    shown = subprocess.run(
        [YURT, "job", "status", "-address", agent.address], capture_output=True, text=True, check=True
    )
    assert job_id in shown.stdout

    # An update keeps what did not change.
    changed = simple.ok("PUT", f"/jobs/{job_id}", {"task_groups": groups("sleep 1000", "sleep 999")})
    assert changed.keys() == {"job_id", "evaluation_id", "message"}
    view = simple.job_when(job_id, lambda view: is_running(view) and _ids(view) != before)
    assert _ids(view)["g0"] == before["g0"]
    assert _ids(view)["g1"] != before["g1"]

    # What is shown can be sent back; it changes nothing.
    simple.ok("PUT", f"/jobs/{job_id}", view)
    assert _ids(simple.job_when(job_id, is_running)) == _ids(view)

    refused = simple.call("POST", f"/jobs/{job_id}/restart")
    assert refused.status == 400
    simple.ok("DELETE", f"/jobs/{job_id}")
    view = simple.job_when(job_id, lambda view: set(statuses(view)) == {"stopped"})
    assert view["status"] == "dead"
    assert simple.ok("POST", f"/jobs/{job_id}/restart").keys() == {"job_id", "evaluation_id", "message"}
    view = simple.job_when(job_id, is_running)
    assert view["status"] == "running"
    simple.ok("POST", f"/jobs/{job_id}/delete")
    assert simple.call("GET", f"/jobs/{job_id}").status == 404
    assert job_id not in str(simple.ok("GET", "/nodes"))


def _ids(view: Any) -> dict[str, str]:
    return {alloc["task_group"]: alloc["allocation_id"] for alloc in view["allocations"]}


def test_a_job_of_the_other_dialect_is_seen_and_stopped(agent: RealAgent, simple: SimpleClient) -> None:
    task = {"Name": "t", "Driver": "raw_exec", "Config": {"command": "/bin/sleep", "args": ["1000"]}}
    job = {"ID": "other", "TaskGroups": [{"Name": "g", "Count": 2, "Tasks": [task]}]}
    assert agent.call("PUT", "/v1/jobs", {"Job": job}).status == 200
    view = simple.job_when("other", is_running)
    (group,) = view["task_groups"]
    assert (group["count"], group["tasks"][0]["driver"]) == (2, "raw_exec")
    assert group["tasks"][0]["resources"] == {"cpu": 100, "memory": 300}
    simple.ok("DELETE", "/jobs/other")
    assert agent.call("GET", "/v1/job/other").json["Stop"] is True


@pytest.mark.parametrize(("command", "status", "code"), [("exit 0", "complete", 0), ("exit 7", "failed", 7)])
def test_a_batch_job_ends(simple: SimpleClient, command: str, status: str, code: int) -> None:
    (group,) = groups(command)
    group |= {"restart": {"attempts": 0, "mode": "fail"}, "reschedule": {"attempts": 0, "unlimited": False}}
    document = {"type": "batch", "task_groups": [group]}
    job_id = simple.ok("POST", "/jobs", document)["job_id"]
    view = simple.job_when(job_id, lambda view: view["status"] == status)
    alloc = current(view, status)
    assert (alloc["tasks"]["t"]["status"], alloc["tasks"]["t"]["exit_code"]) == (status, code)
    assert alloc["start_time"] <= alloc["end_time"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"constraints": {"region": "us-west"}}, "us-west"),
        ({"constraints": {"datacenter": "elsewhere"}}, "elsewhere"),
        ({"constraints": {"rack": "r1"}}, "rack"),
        ({"resources": {"memory": 100_000_000}}, "memory"),
        ({"rule": {"attribute": "rack", "operator": "!=", "value": "r1"}}, "rack"),
    ],
)
def test_a_job_that_fits_no_node_is_blocked_with_the_reason(
    simple: SimpleClient, changes: dict[str, Any], reason: str
) -> None:
    (group,) = groups("sleep 1000")
    group["tasks"][0]["resources"] = changes.get("resources", {})
    if "rule" in changes:
        group["constraints"] = [changes["rule"]]
    document = {"task_groups": [group], "constraints": changes.get("constraints", {})}
    submitted = simple.ok("POST", "/jobs", document)
    assert submitted["evaluation_id"]
    view = simple.job_when(submitted["job_id"], lambda view: view["status"] == "blocked")
    assert reason in view["status_description"]
    assert view["allocations"] == []
    simple.ok("POST", f"/jobs/{submitted['job_id']}/delete")


def test_a_job_that_names_what_the_node_has_runs(simple: SimpleClient) -> None:
    (node,) = simple.ok("GET", "/nodes")["nodes"]
    (group,) = groups("sleep 1000")
    group["constraints"] = [
        {"attribute": "node_id", "operator": "=", "value": node["node_id"]},
        {"attribute": "ip_address", "operator": "=", "value": node["ip_address"]},
        {"attribute": "kernel.name", "operator": "regex", "value": "^lin"},
        {"attribute": "cpu.numcores", "operator": ">=", "value": 1},
    ]
    wanted = {"region": "global", "datacenter": "dc1"}
    job_id = simple.ok("POST", "/jobs", {"task_groups": [group], "constraints": wanted})["job_id"]
    view = simple.job_when(job_id, is_running)
    assert view["constraints"] == wanted
    (node,) = simple.ok("GET", "/nodes")["nodes"]
    assert [alloc["job_id"] for alloc in node["allocations"] if alloc["status"] == "running"] == [job_id]
    assert node["healthy"]
    assert node["resources"]["cpu_used"] >= 1
    assert node["last_heartbeat"] > 1_700_000_000
    simple.ok("POST", f"/jobs/{job_id}/delete")


def test_templates(simple: SimpleClient) -> None:
    made = [
        simple.ok("POST", "/templates", {"name": name, "task_groups": groups("sleep 1000")})["template_id"]
        for name in ("first", "second")
    ]
    listed = simple.ok("GET", "/templates")
    assert [row["template_id"] for row in listed["templates"]] == made[::-1]
    assert listed["count"] == 2
    assert listed["templates"][0].keys() == {
        *("template_id", "name", "description", "created_at", "updated_at")
    }
    change = {"description": "new", "constraints": {"region": "global"}}
    assert simple.ok("PUT", f"/templates/{made[0]}", change).keys() == {"message"}
    template = simple.ok("GET", f"/templates/{made[0]}")
    assert (template["name"], template["description"]) == ("first", "new")
    assert template["updated_at"] > template["created_at"]
    assert template["task_groups"] == groups("sleep 1000")

    job_id = simple.ok("POST", "/jobs", {"template_id": made[0]})["job_id"]
    view = simple.job_when(job_id, is_running)
    assert view["constraints"] == {"region": "global"}
    other = {"template_id": made[0], "task_groups": groups("sleep 999"), "constraints": {}}
    overridden = simple.ok("POST", "/jobs", other)["job_id"]
    view = simple.job_when(overridden, is_running)
    assert (view["constraints"], current(view)["tasks"]["t"]["config"]) == ({}, {"command": "sleep 999"})
    for template_id in made:
        assert simple.ok("DELETE", f"/templates/{template_id}").keys() == {"message"}
    assert simple.ok("GET", "/templates") == {"templates": [], "count": 0}
    for started in (job_id, overridden):
        simple.ok("POST", f"/jobs/{started}/delete")


def test_a_node_agent_runs_work_of_another_control_plane(node: SimpleClient, agent: RealAgent) -> None:
    (group,) = groups("echo hello; sleep 1000")
    body = {"allocation_id": "ext-1", "job_id": "theirs", "task_group": group, "status": "pending"}
    accepted = {"message": "Allocation accepted", "allocation_id": "ext-1"}
    assert node.ok("POST", "/allocations", body) == accepted
    # Said again, it is not started again; an id that is taken is not given away.
    assert node.ok("POST", "/allocations", body) == accepted
    assert node.call("POST", "/allocations", {**body, "job_id": "others"}).status == 409
    view = wait_until(lambda: node.ok("GET", "/allocations/ext-1"), lambda view: view["status"] == "running")
    assert (view["allocation_id"], view["job_id"], view["task_group"]) == ("ext-1", "theirs", "g0")
    assert view["tasks"]["t"].keys() == {"status", "start_time", "end_time", "exit_code", "message"}
    # It outlives the agent, and a restart finds it again.
    agent.kill()
    agent.start()
    again = wait_until(lambda: node.ok("GET", "/allocations/ext-1"), lambda view: view["status"] == "running")
    assert again["tasks"]["t"]["start_time"] == view["tasks"]["t"]["start_time"]
    assert node.ok("DELETE", "/allocations/ext-1").keys() == {"message"}
    assert node.call("GET", "/allocations/ext-1").status == 404
    assert node.call("DELETE", "/allocations/ext-1").status == 404


def test_work_of_the_servers_is_seen_on_the_node_and_can_be_stopped_there(
    simple: SimpleClient, node: SimpleClient
) -> None:
    document = {"type": "batch", "task_groups": groups("sleep 1000")}
    job_id = simple.ok("POST", "/jobs", document)["job_id"]
    alloc_id = current(simple.job_when(job_id, is_running))["allocation_id"]
    assert node.ok("GET", f"/allocations/{alloc_id}")["job_id"] == job_id
    node.ok("DELETE", f"/allocations/{alloc_id}")
    simple.job_when(job_id, lambda view: "running" not in statuses(view))


BAD_ALLOCATIONS: list[tuple[Any, str]] = [
    (None, "no body"),
    (b"[", "JSON"),
    ({"job_id": "j", "task_group": groups("true")[0]}, "allocation_id: is missing"),
    ({"allocation_id": "a", "task_group": groups("true")[0]}, "job_id: is missing"),
    ({"allocation_id": "a", "job_id": "j"}, "task_group: is missing"),
    ({"allocation_id": "../a", "job_id": "j", "task_group": groups("true")[0]}, "allocation_id"),
    ({"allocation_id": "a", "job_id": "j", "task_group": {"name": "g"}}, "task_group.tasks: is missing"),
    (
        {"allocation_id": "a", "job_id": "j", "task_group": {"name": "g", "tasks": [{"name": "t"}]}},
        "task_group.tasks[0].config: is missing",
    ),
]


@pytest.mark.parametrize(("body", "text"), BAD_ALLOCATIONS)
def test_a_node_agent_refuses_what_is_no_allocation(node: SimpleClient, body: Any, text: str) -> None:
    refused = node.call("POST", "/allocations", body)
    assert refused.status == 400
    assert text in refused.json["error"]
    assert node.call("GET", "/allocations/a").status == 404


def test_a_taken_port_is_a_warning_and_the_agent_runs_on(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        agent = RealAgent(tmp_path, client=False)
        text = agent.config.read_text()
        port = taken.getsockname()[1]
        agent.config.write_text(text.replace(str(agent.simple_port), str(port)))
        agent.start()
        try:
            assert agent.call("GET", "/v1/jobs").status == 200
            (line,) = [line for line in agent.log.read_text().splitlines() if "simple_api" in line]
            assert "warning" in line
            assert str(port) in line
            assert "ports.simple" in line
        finally:
            agent.stop()

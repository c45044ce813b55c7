"""The published Nomad client for Python, unchanged, against a real agent."""

from __future__ import annotations

import contextlib
import queue
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nomad  # type: ignore[import-untyped]  # ships no types
import pytest
from nomad.api import exceptions  # type: ignore[import-untyped]  # ships no types

from tests.support.real_agent import RealAgent, running_agent

EVENT_TIMEOUT_S = 30.0


@pytest.fixture(scope="module")
def agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealAgent]:
    with running_agent(tmp_path_factory.mktemp("agent")) as started:
        yield started


@pytest.fixture(scope="module")
def api(agent: RealAgent) -> Any:
    return nomad.Nomad(host="127.0.0.1", port=agent.http_port, timeout=30)


@pytest.fixture(scope="module")
def alloc(agent: RealAgent, api: Any) -> dict[str, Any]:
    """A running allocation of the job `web`."""
    api.jobs.register_job({"Job": a_job("web")})
    (found,) = agent.wait_for(
        "/v1/job/web/allocations", lambda rows: rows and rows[0]["ClientStatus"] == "running"
    )
    return dict(found)


def a_job(job_id: str, **more: Any) -> dict[str, Any]:
    task = {
        "Name": "t",
        "Driver": "raw_exec",
        "Config": {"command": "/bin/sh", "args": ["-c", "echo hello; exec sleep 600"]},
        "Resources": {"CPU": 10, "MemoryMB": 10},
    }
    group = {"Name": "g", "Count": 1, "Tasks": [task]}
    return {"ID": job_id, "Name": job_id, "Type": "service", "TaskGroups": [group], **more}


def test_jobs(agent: RealAgent, api: Any, alloc: dict[str, Any]) -> None:
    assert "web" in api.jobs
    assert api.job["web"]["Name"] == "web"
    assert [job["ID"] for job in api.jobs.get_jobs(prefix="we")] == ["web"]
    assert api.job.get_summary("web")["Summary"]["g"]["Running"] == 1
    assert api.job.get_allocations("web")[0]["ID"] == alloc["ID"]
    assert api.job.get_evaluations("web")[0]["JobID"] == "web"
    assert api.job.get_versions("web")["Versions"][0]["Version"] == 0
    assert api.job.plan_job("web", {"Job": a_job("web")}, diff=True)["Diff"]["Type"] == "None"
    assert api.job.evaluate_job("web")["EvalID"]
    assert api.validate.validate_job({"Job": a_job("web")}).json()["Error"] == ""
    parsed = api.jobs.parse('job "p" {\n  group "g" {\n    count = 2\n  }\n}')
    assert parsed["ID"] == "p"
    with pytest.raises(exceptions.URLNotFoundNomadException):
        api.job.get_job("nope")


def test_job_versions_and_dispatch(api: Any) -> None:
    api.job.register_job("versioned", {"Job": a_job("versioned", TaskGroups=_no_instances())})
    api.job.register_job("versioned", {"Job": a_job("versioned", TaskGroups=_no_instances(), Priority=60)})
    api.job.stable_job("versioned", 0, True)
    api.job.revert_job("versioned", 0)
    assert api.job["versioned"]["Version"] == 2
    api.job.register_job(
        "asked", {"Job": a_job("asked", Type="batch", ParameterizedJob={"Payload": "optional"})}
    )
    assert api.job.dispatch_job("asked")["DispatchedJobID"].startswith("asked/dispatch-")
    periodic = {"Enabled": True, "SpecType": "cron", "Spec": "0 0 1 1 *"}
    api.job.register_job("timed", {"Job": a_job("timed", Type="batch", Periodic=periodic)})
    assert api.job.periodic_job("timed")["EvalID"]
    for job_id in ("versioned", "asked", "timed"):
        api.job.deregister_job(job_id, purge=True)
    assert "versioned" not in api.job


def _no_instances() -> list[dict[str, Any]]:
    return [{**a_job("x")["TaskGroups"][0], "Count": 0}]


def test_allocations_and_their_files(agent: RealAgent, api: Any, alloc: dict[str, Any]) -> None:
    assert alloc["ID"] in [row["ID"] for row in api.allocations.get_allocations()]
    assert api.allocation[alloc["ID"]]["JobID"] == "web"
    assert {row["Name"] for row in api.client.ls.list_files(alloc["ID"])} >= {"alloc", "t"}
    assert api.client.stat.stat_file(alloc["ID"], "/alloc")["IsDir"]
    assert api.client.stream_logs.stream(alloc["ID"], "t", "stdout", plain=True) == "hello\n"
    assert api.client.stats.read_stats()["Memory"]["Total"] > 0
    assert "ResourceUsage" in api.client.allocation.read_allocation_stats(alloc["ID"])
    api.client.allocation.restart_allocation(alloc["ID"])
    agent.wait_for(f"/v1/allocation/{alloc['ID']}", lambda one: one["TaskStates"]["t"]["Restarts"] == 1)
    assert api.allocation.stop_allocation(alloc["ID"])["EvalID"]


def test_evaluations(api: Any, alloc: dict[str, Any]) -> None:
    assert alloc["EvalID"] in api.evaluations
    assert api.evaluation[alloc["EvalID"]]["JobID"] == "web"
    assert api.evaluation.get_allocations(alloc["EvalID"])[0]["ID"] == alloc["ID"]


def test_deployments(api: Any, alloc: dict[str, Any]) -> None:
    deployment_id = api.job.get_deployment("web")["ID"]
    assert deployment_id in api.deployments
    assert api.deployment[deployment_id]["JobID"] == "web"
    assert api.deployment.get_deployment_allocations(deployment_id)[0]["JobID"] == "web"
    with contextlib.suppress(exceptions.BaseNomadException):
        api.deployment.pause_deployment(deployment_id, True)  # it may be over by now
    with pytest.raises(exceptions.BaseNomadException):
        api.deployment.pause_deployment(str(uuid.uuid4()), True)


def test_nodes(api: Any) -> None:
    (node,) = api.nodes.get_nodes()
    assert api.node[node["ID"]]["Name"] == "node1"
    assert isinstance(api.node.get_allocations(node["ID"]), list)
    assert api.node.evaluate_node(node["ID"])["NumNodes"] == 1
    api.node.eligible_node(node["ID"], ineligible=True)
    assert api.node[node["ID"]]["SchedulingEligibility"] == "ineligible"
    api.node.eligible_node(node["ID"], eligible=True)
    assert api.node[node["ID"]]["SchedulingEligibility"] == "eligible"


def test_namespaces(api: Any) -> None:
    api.namespace.create_namespace({"Name": "team", "Description": "first"})
    api.namespace.update_namespace("team", {"Name": "team", "Description": "second"})
    assert api.namespace.get_namespace("team")["Description"] == "second"
    assert [one["Name"] for one in api.namespaces.get_namespaces(prefix="te")] == ["team"]
    api.namespace.delete_namespace("team")
    with pytest.raises(exceptions.URLNotFoundNomadException):
        api.namespace.get_namespace("team")


def test_variables(api: Any) -> None:
    written = api.variable.create_variable("app/db", {"Items": {"user": "me"}})
    assert api.variable["app/db"]["Items"] == {"user": "me"}
    assert [one["Path"] for one in api.variables.get_variables("app")] == ["app/db"]
    with pytest.raises(exceptions.VariableConflict):
        api.variable.create_variable("app/db", {"Items": {"user": "you"}}, cas=written["ModifyIndex"] + 1)
    api.variable.delete_variable("app/db")
    assert "app/db" not in api.variables


def test_search(api: Any, alloc: dict[str, Any]) -> None:
    assert api.search.search("we", "jobs")["Matches"]["jobs"] == ["web"]
    assert api.search.fuzzy_search("eb", "jobs")["Matches"]["jobs"][0]["ID"] == "web"


def test_events(api: Any) -> None:
    stream, stop, events = api.event.stream.get_stream(topic={"Job": "*"}, timeout=EVENT_TIMEOUT_S)
    stream.daemon = True
    stream.start()
    api.jobs.register_job({"Job": a_job("told", TaskGroups=_no_instances())})
    keys: list[str] = []
    while "told" not in keys:
        try:
            batch = events.get(timeout=EVENT_TIMEOUT_S)
        except queue.Empty:
            pytest.fail(f"no event came but those of {keys}")
        assert {event["Topic"] for event in batch["Events"]} == {"Job"}
        keys += [event["Key"] for event in batch["Events"]]
    stop.set()
    api.job.deregister_job("told", purge=True)
    stream.join(EVENT_TIMEOUT_S)


def test_operator_agent_and_system(api: Any) -> None:
    (server,) = api.operator.get_configuration()["Servers"]
    assert server["Leader"]
    assert api.agent.get_agent()["member"]["Name"] == "node1.global"
    assert api.agent.get_members()["Members"][0]["Status"] == "alive"
    assert api.status.leader.get_leader().endswith(str(server["Address"].rpartition(":")[2]))
    assert api.regions.get_regions() == ["global"]
    assert api.metrics.get_metrics()["Gauges"]
    assert api.system.initiate_garbage_collection() is True
    assert api.system.reconcile_summaries() is True
    assert api.scaling.get_scaling_policies() == []


@contextlib.contextmanager
def _guarded_agent(directory: Path) -> Iterator[RealAgent]:
    """A server whose callers need tokens."""
    agent = RealAgent(directory, client=False, more_config="acl {\n  enabled = true\n}\n")
    agent.start()
    try:
        yield agent
    finally:
        agent.stop()


def test_access(tmp_path_factory: pytest.TempPathFactory) -> None:
    directory = tmp_path_factory.mktemp("acl")
    with _guarded_agent(directory) as agent:
        boot = nomad.Nomad(host="127.0.0.1", port=agent.http_port, timeout=30).acl.generate_bootstrap()
        api = nomad.Nomad(host="127.0.0.1", port=agent.http_port, timeout=30, token=boot["SecretID"])
        rules = 'namespace "default" { policy = "read" }'
        api.acl.create_policy("reader", {"Name": "reader", "Rules": rules})
        assert api.acl.get_policy("reader")["Rules"] == rules
        assert [one["Name"] for one in api.acl.get_policies()] == ["reader"]
        token = api.acl.create_token({"Name": "r", "Type": "client", "Policies": ["reader"]})
        assert token["AccessorID"] in [one["AccessorID"] for one in api.acl.get_tokens()]
        updated = {"AccessorID": token["AccessorID"], "Name": "s", "Type": "client", "Policies": ["reader"]}
        assert api.acl.update_token(token["AccessorID"], updated)["Name"] == "s"
        reader = nomad.Nomad(host="127.0.0.1", port=agent.http_port, timeout=30, token=token["SecretID"])
        assert reader.acl.get_self_token()["Name"] == "s"
        assert reader.jobs.get_jobs() == []
        with pytest.raises(exceptions.URLNotAuthorizedNomadException):
            reader.jobs.register_job({"Job": a_job("web")})
        api.acl.delete_token(token["AccessorID"])
        api.acl.delete_policy("reader")
        assert api.acl.get_policies() == []

"""Services of Consul: announced, checked, restarted for, and taken back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from tests.agent.builders import a_job, a_node, a_task, an_alloc
from tests.agent.fake_servers import FakeServers
from tests.agent.services.consul_agent import ConsulAgent
from tests.agent.services.service_jobs import a_check, check_restart
from tests.support.real_agent import clean_up
from yurt.agent.agent import NodeAgent
from yurt.agent.consul.registrations import registration
from yurt.agent.services.registrations import Owner
from yurt.agent.settings import ClientSettings, ConsulSettings
from yurt.agent.task_env import group_env
from yurt.clock import SystemClock
from yurt.model.alloc import AllocDeploymentStatus
from yurt.model.allocated import AllocatedPort
from yurt.model.client_protocol import ClientAlloc
from yurt.model.policies import UpdateStrategy
from yurt.model.service import Service, ServiceCheck
from yurt.model.task import Task
from yurt.model.task_parts import Template
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID

PORTS = (AllocatedPort(label="http", value=20001, to=8080, host_ip="127.0.0.1"),)
LIMIT_S = 30


def a_service(*checks: ServiceCheck, **changes: Any) -> Service:
    made = Service(name="web", provider="consul", port_label="http", tags=("a",), checks=checks or None)
    return msgspec.structs.replace(made, **changes)


def body_of(service: Service, **changes: Any) -> dict[str, Any]:
    alloc = an_alloc(a_job(group={"services": (service,)}), ports=PORTS, **changes)
    owner = Owner(alloc=alloc, env=group_env(alloc, node=a_node(), region="global"))
    return registration(service, owner, a_node()).body


def test_a_service_in_consuls_words() -> None:
    service = a_service(meta={"k": "${NOMAD_GROUP_NAME}"}, enable_tag_override=True)
    body = body_of(service)

    assert body["ID"].startswith("_nomad-task-5b0c1a2d-0000-4000-8000-000000000001-group-g-web-http")
    assert (body["Name"], body["Tags"], body["Address"], body["Port"]) == ("web", ("a",), "127.0.0.1", 20001)
    assert body["Meta"] == {"k": "g", "external-source": "nomad", "yurt-node": "n1"}
    assert body["EnableTagOverride"] is True


def test_canaries_have_tags_and_meta_of_their_own() -> None:
    service = a_service(canary_tags=("canary",), canary_meta={"k": "c"}, meta={"k": "m"})
    body = body_of(service, deployment_status=AllocDeploymentStatus(canary=True))

    assert (body["Tags"], body["Meta"]["k"]) == (("canary",), "c")


@pytest.mark.parametrize(
    ("check", "told"),
    [
        pytest.param(
            a_check("http", path="/up", method="POST", header={"A": ("b",)}, body="x", tls_skip_verify=True),
            {
                "HTTP": "http://127.0.0.1:20001/up",
                "Method": "POST",
                "Header": {"A": ("b",)},
                "Body": "x",
                "TLSSkipVerify": True,
                "Interval": "2s",
                "Timeout": "1s",
            },
            id="http",
        ),
        pytest.param(
            a_check("tcp", initial_status="passing"),
            {"TCP": "127.0.0.1:20001", "Status": "passing"},
            id="tcp",
        ),
        pytest.param(
            a_check("grpc", grpc_service="api.v1", grpc_use_tls=True, failures_before_critical=3),
            {"GRPC": "127.0.0.1:20001/api.v1", "GRPCUseTLS": True, "FailuresBeforeCritical": 3},
            id="grpc",
        ),
        pytest.param(
            a_check("script", command="/bin/true"), {"TTL": "33s", "Status": "critical"}, id="script"
        ),
    ],
)
def test_checks_are_consuls_to_run_but_scripts(check: ServiceCheck, told: dict[str, Any]) -> None:
    [body] = body_of(a_service(check))["Checks"]

    assert body["CheckID"].startswith("_nomad-check-")
    assert {name: body[name] for name in told} == told


# --- with a node and an agent that behaves as Consul's ----------------------------------------------


@pytest.fixture
async def consul() -> AsyncIterator[ConsulAgent]:
    async with ConsulAgent() as agent:
        yield agent


class Node:
    """A node agent with a Consul agent beside it."""

    def __init__(self, root: Path, consul: ConsulAgent) -> None:
        self.servers = FakeServers()
        self.consul = consul
        self._settings = ClientSettings(
            state_dir=str(root / "client"),
            alloc_dir=str(root / "alloc"),
            consul=ConsulSettings(address=consul.address, token="secret"),
            driver_configs={"raw_exec": {"enabled": True}},
        )
        self.agent: NodeAgent

    @asynccontextmanager
    async def running(self) -> AsyncIterator[NodeAgent]:
        self.agent = await NodeAgent.open(self._settings, self.servers, SystemClock(), Random(1))
        run = asyncio.create_task(self.agent.run())
        try:
            async with asyncio.timeout(LIMIT_S):
                yield self.agent
        finally:
            run.cancel()
            await asyncio.wait({run})
            await self.agent.close()

    def service(self) -> dict[str, Any] | None:
        return next(iter(self.consul.services.values()), None)


@pytest.fixture
async def node(tmp_path: Path, consul: ConsulAgent) -> AsyncIterator[Node]:
    yield Node(tmp_path, consul)
    clean_up(tmp_path)


def sleeping(services: tuple[Service, ...], *, of_task: bool = True) -> ClientAlloc:
    task: Task = a_task(
        driver="raw_exec",
        config={"command": "/bin/sleep", "args": ["1000"]},
        services=services if of_task else None,
        kill_timeout=SECOND_NS // 10,
    )
    job = a_job(task, type="service", group={} if of_task else {"services": services})
    return an_alloc(job, ports=PORTS, id=AllocID("5b0c1a2d-0000-4000-8000-0000000000c1"))


@pytest.mark.parametrize("of_task", [True, False], ids=["of a task", "of the group"])
async def test_services_come_and_go_with_the_allocation(
    node: Node, consul: ConsulAgent, of_task: bool
) -> None:
    async with node.running():
        alloc = sleeping((a_service(),), of_task=of_task)
        node.servers.place(alloc)
        await consul.until(node.service)
        told = node.service()
        assert told is not None
        assert told["Port"] == 20001
        assert consul.tokens == {"secret"}

        node.servers.change(alloc.id, desired_status="stop")
        await consul.until(lambda: not consul.services)


async def test_a_script_runs_in_the_task_and_tells_consul(
    node: Node, consul: ConsulAgent, tmp_path: Path
) -> None:
    script = f'test "$NOMAD_TASK_NAME" = t && exit $(cat {tmp_path}/code)'
    check = a_check("script", command="/bin/sh", args=("-c", script), interval=SECOND_NS // 10)
    (tmp_path / "code").write_text("0")

    def status() -> str:
        return next((one["Status"] for one in consul.checks.values()), "")

    async with node.running():
        alloc = sleeping((a_service(check),))
        node.servers.place(alloc)
        for code, wanted in (("0", "passing"), ("1", "warning"), ("2", "critical"), ("0", "passing")):
            (tmp_path / "code").write_text(code)
            await consul.until(lambda wanted=wanted: status() == wanted)
        node.servers.change(alloc.id, desired_status="stop")
        await consul.until(lambda: not consul.services)


async def test_a_failing_check_restarts_its_task(node: Node, consul: ConsulAgent) -> None:
    check = a_check("tcp", check_restart=check_restart(1, 0), initial_status="passing")
    async with node.running():
        alloc = sleeping((a_service(check),))
        node.servers.place(alloc)
        await consul.until(node.service)
        await consul.set_check("c", "critical")
        await node.servers.until(lambda: "Restart Signaled" in events(node, alloc))


def events(node: Node, alloc: ClientAlloc) -> list[str]:
    """What was reported of the allocation's task."""
    report = node.servers.reports.get(alloc.id)
    state = report.task_states.get("t") if report is not None else None
    return [event.type for event in (state.events if state is not None else None) or ()]


async def test_a_deployment_waits_for_consuls_checks(node: Node, consul: ConsulAgent) -> None:
    update = UpdateStrategy(
        max_parallel=1,
        health_check="checks",
        min_healthy_time=SECOND_NS // 10,
        healthy_deadline=60 * SECOND_NS,
    )
    alloc = sleeping((a_service(a_check("grpc")),))
    group = alloc.job.task_groups[0]
    changed = msgspec.structs.replace(group, update=update)
    job = msgspec.structs.replace(alloc.job, task_groups=(changed,))
    alloc = msgspec.structs.replace(alloc, job=job, deployment_id="d1")
    async with node.running():
        node.servers.place(alloc)
        await consul.until(node.service)
        await node.servers.until_status(alloc.id, "running")
        assert node.servers.reports[alloc.id].deployment_status is None
        await consul.set_check("c", "passing")
        await node.servers.until(lambda: node.servers.reports[alloc.id].deployment_status is not None)
        told = node.servers.reports[alloc.id].deployment_status
        assert told is not None
        assert told.healthy
        assert node.agent.checks(alloc.id) is None, "they are Consul's to show"
        node.servers.change(alloc.id, desired_status="stop")
        await consul.until(lambda: not consul.services)


async def test_a_consul_that_was_away_is_told_when_it_is_back(node: Node, consul: ConsulAgent) -> None:
    consul.is_down = True
    async with node.running():
        alloc = sleeping((a_service(),))
        node.servers.place(alloc)
        await node.servers.until_status(alloc.id, "running")
        consul.is_down = False
        await consul.until(node.service)
        node.servers.change(alloc.id, desired_status="stop")
        await consul.until(lambda: not consul.services)


async def test_the_node_tells_of_its_consul(node: Node, consul: ConsulAgent) -> None:
    async with node.running():
        await node.servers.until(
            lambda: "consul.version" in node.servers.nodes[-1].attributes if node.servers.nodes else False
        )
        told = node.servers.nodes[-1]

    assert told.attributes["consul.version"] == "1.17.1"
    assert (told.attributes["consul.datacenter"], told.attributes["unique.consul.name"]) == ("dc7", "box")
    assert (told.links or {})["consul"] == "dc7.box"


async def test_templates_read_keys_and_services(node: Node, consul: ConsulAgent, tmp_path: Path) -> None:
    text = (
        '{{ key "app/colour" }} {{ keyOrDefault "app/none" "plain" }} {{ keyExists "app/none" }}'
        '{{ range service "a.web" }} {{ .Name }}={{ .Address }}:{{ .Port }}{{ end }}'
    )
    template = Template(embedded_tmpl=text, dest_path="local/out", change_mode="noop")
    task = a_task(
        driver="raw_exec", config={"command": "/bin/sleep", "args": ["1000"]}, templates=(template,)
    )
    alloc = an_alloc(a_job(task, type="service"), id=AllocID("5b0c1a2d-0000-4000-8000-0000000000c2"))
    consul.services["x"] = {"ID": "x", "Name": "web", "Address": "", "Port": 80, "Tags": ["a"], "Meta": {}}
    output = tmp_path / f"alloc/{alloc.id}/t/local/out"

    async with node.running():
        node.servers.place(alloc)
        await node.servers.until_status(alloc.id, "pending")
        await consul.set_key("app/colour", "red")
        await node.servers.until_status(alloc.id, "running")

    assert output.read_text() == "red plain false web=10.0.0.1:80"

"""Others find services where they are, for as long as they are there."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random

import msgspec
import pytest

from tests.agent.alloc_harness import a_node_context, running
from tests.agent.builders import ALLOC_ID, a_job, a_node, a_task, an_alloc
from tests.agent.fake_servers import FakeServers
from tests.agent.services.service_jobs import RememberingRegistrar, a_port, a_service
from tests.agent.virtual_clock import VirtualClock
from yurt.agent.drivers.driver import DriverNetwork
from yurt.agent.node_context import NodeContext
from yurt.agent.node_identity import NodeIdentity
from yurt.agent.services.addresses import Endpoint, NoAddress, endpoint
from yurt.agent.services.registrar import ServerRegistrar
from yurt.agent.services.registrations import Owner, registration
from yurt.agent.task_env import TaskEnv
from yurt.model.alloc import AllocDeploymentStatus
from yurt.model.allocated import AllocatedResources, AllocatedShared, AllocatedTaskResources
from yurt.model.client_protocol import ClientAlloc
from yurt.model.resources import NetworkResource, Port
from yurt.model.service_registration import ServiceRegistration
from yurt.model.task_parts import RestartPolicy
from yurt.model.times import SECOND_NS
from yurt.model.wire import NodeID

FOREVER = {"run_for": "1000h"}
RESOURCES = AllocatedResources(
    tasks={"old": AllocatedTaskResources(networks=(NetworkResource(ip="10.0.0.9", dynamic_ports=(
        Port(label="adm", value=7777),)),))},
    shared=AllocatedShared(
        networks=(NetworkResource(ip="10.0.0.1"),),
        ports=(a_port("http", 20_000, to=80, host_ip="10.0.0.2"), a_port("db", 20_001, host_ip="10.0.0.2")),
    ),
)  # fmt: skip
DRIVER = DriverNetwork(ip="172.17.0.2", port_map={"db": 5432})
ADVERTISED = msgspec.structs.replace(DRIVER, auto_advertise=True)


@pytest.mark.parametrize(
    ("mode", "label", "fixed", "network", "expected"),
    [
        ("auto", "http", "", None, ("10.0.0.2", 20_000)),
        ("auto", "http", "", DRIVER, ("10.0.0.2", 20_000)),
        ("auto", "http", "", ADVERTISED, ("172.17.0.2", 80)),
        ("auto", "http", "example.com", ADVERTISED, ("example.com", 20_000)),
        ("auto", "99", "example.com", None, ("example.com", 99)),
        ("auto", "", "example.com", None, ("example.com", 0)),
        ("host", "99", "", None, ("", 99)),
        ("host", "", "", None, ("10.0.0.9", 0)),
        ("driver", "db", "", DRIVER, ("172.17.0.2", 5432)),
        ("driver", "http", "", DRIVER, ("172.17.0.2", 80)),
        ("driver", "99", "", DRIVER, ("172.17.0.2", 99)),
        ("driver", "", "", DRIVER, ("172.17.0.2", 0)),
        ("host", "adm", "", None, ("10.0.0.9", 7777)),
    ],
)
def test_addresses(
    mode: str, label: str, fixed: str, network: DriverNetwork | None, expected: tuple[str, int]
) -> None:
    found = endpoint(RESOURCES, task="old", mode=mode, label=label, fixed=fixed, network=network)

    assert found == Endpoint(*expected)


def test_without_a_port_a_service_has_the_address_of_its_owners_only_network() -> None:
    assert endpoint(RESOURCES, task="", mode="host", label="") == Endpoint("10.0.0.1", 0)
    assert endpoint(RESOURCES, task="new", mode="host", label="") == Endpoint("", 0)


@pytest.mark.parametrize(
    ("mode", "label", "problem"),
    [
        ("host", "nope", 'invalid port "nope"'),
        ("driver", "http", "no driver network"),
        ("alloc", "http", "no network of its own"),
    ],
)
def test_services_without_an_address(mode: str, label: str, problem: str) -> None:
    with pytest.raises(NoAddress, match=problem):
        endpoint(RESOURCES, task="", mode=mode, label=label)


def test_a_registration() -> None:
    service = a_service("web-${NOMAD_ALLOC_INDEX}", tags=("v${attr.x}",), canary_tags=("canary",))
    alloc = an_alloc(ports=(a_port("http", 8080),))
    owner = Owner(alloc=alloc, env=TaskEnv({"NOMAD_ALLOC_INDEX": "0"}, {"attr.x": "1"}))

    assert registration(service, owner, a_node(datacenter="dc7")) == ServiceRegistration(
        id=f"_nomad-task-{ALLOC_ID}-group-g-web-0-http",
        service_name="web-0",
        node_id=NodeID("n1"),
        datacenter="dc7",
        job_id=alloc.job.id,
        alloc_id=alloc.id,
        tags=("v1",),
        address="127.0.0.1",
        port=8080,
    )


def test_canaries_have_tags_of_their_own() -> None:
    canary = an_alloc(
        ports=(a_port(),), deployment_status=AllocDeploymentStatus(canary=True), deployment_id="d"
    )
    owner = Owner(alloc=canary, env=TaskEnv({}, {}))

    assert registration(a_service(tags=("a",), canary_tags=("b",)), owner, a_node()).tags == ("b",)
    assert registration(a_service(tags=("a",)), owner, a_node()).tags == ("a",)


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def node(tmp_path: Path, clock: VirtualClock) -> NodeContext:
    return a_node_context(tmp_path, clock)


@pytest.fixture
def registrar(node: NodeContext) -> RememberingRegistrar:
    return RememberingRegistrar().attach(node)


def an_alloc_with_services(**group: object) -> ClientAlloc:
    task = a_task(
        config=FOREVER,
        services=(a_service("of-task"),),
        restart_policy=RestartPolicy(attempts=1, delay=SECOND_NS, interval=SECOND_NS),
    )
    job = a_job(task, type="service", group={"services": (a_service("of-group"),), "update": None, **group})
    return an_alloc(job, ports=(a_port(),))


async def test_services_come_and_go_with_their_tasks(
    node: NodeContext, registrar: RememberingRegistrar
) -> None:
    async with running(an_alloc_with_services(), node) as run:
        await run.until_state("t", "running")
        await asyncio.sleep(0)
        assert registrar.log == ["+of-group", "+of-task"]
        run.runner.restart_task("t")
        await run.until(lambda: run.kinds().count("Started") == 2)
        await asyncio.sleep(0)
        assert registrar.log[2:] == ["-of-task", "+of-task"]
        run.runner.stop()
        await run.until_over()

    assert registrar.names == []


async def test_services_go_before_the_delay_of_the_shutdown(
    node: NodeContext, registrar: RememberingRegistrar, clock: VirtualClock
) -> None:
    async with running(an_alloc_with_services(shutdown_delay=5 * SECOND_NS), node) as run:
        await run.until_state("t", "running")
        run.runner.stop()
        await clock.advance(4)

        assert run.state().state == "running"
        assert registrar.names == ["of-task"]
        await clock.advance(1)
        await run.until_over()


async def test_an_update_changes_services(node: NodeContext, registrar: RememberingRegistrar) -> None:
    alloc = an_alloc_with_services()
    async with running(alloc, node) as run:
        await run.until_state("t", "running")
        await asyncio.sleep(0)
        group = alloc.job.task_groups[0]
        task = msgspec.structs.replace(group.tasks[0], services=(a_service("of-task", tags=("new",)),))
        changed = msgspec.structs.replace(group, services=(a_service("renamed"),), tasks=(task,))
        job = msgspec.structs.replace(alloc.job, task_groups=(changed,))
        run.runner.update(msgspec.structs.replace(alloc, job=job))

        assert registrar.names == ["of-task", "renamed"]
        assert {service.tags for service in registrar.services.values()} == {None, ("new",)}


async def test_promotion_gives_a_canary_its_ordinary_tags(
    node: NodeContext, registrar: RememberingRegistrar
) -> None:
    service = a_service(tags=("live",), canary_tags=("canary",))
    job = a_job(a_task(config=FOREVER), type="service", group={"services": (service,)})
    canary = an_alloc(job, ports=(a_port(),), deployment_status=AllocDeploymentStatus(canary=True))
    async with running(canary, node) as run:
        await run.until_state("t", "running")
        assert [service.tags for service in registrar.services.values()] == [("canary",)]
        run.runner.update(msgspec.structs.replace(canary, deployment_status=AllocDeploymentStatus()))

        assert [service.tags for service in registrar.services.values()] == [("live",)]


async def test_a_group_service_without_an_address_fails_the_allocation(node: NodeContext) -> None:
    job = a_job(a_task(config=FOREVER), group={"services": (a_service(port_label="nope"),)})
    async with running(an_alloc(job), node) as run:
        await run.until_over()

    assert 'pre-run hook "group_services" failed: unable to get address for service' in run.events()[-1]


async def test_a_task_service_without_an_address_is_told(node: NodeContext) -> None:
    task = a_task(config=FOREVER, services=(a_service(port_label="nope"),))
    async with running(an_alloc(a_job(task)), node) as run:
        await run.until(lambda: "Task hook failed" in run.kinds())

        assert "invalid port" in run.events()[-1]
        assert run.state().state == "running"


async def test_nodes_without_service_discovery_announce_nothing(
    node: NodeContext, registrar: RememberingRegistrar
) -> None:
    node.settings = msgspec.structs.replace(node.settings, service_discovery=False)
    async with running(an_alloc_with_services(), node) as run:
        await run.until_state("t", "running")
        await asyncio.sleep(0)

    assert registrar.log == []


async def test_the_servers_learn_of_services_when_they_can_be_reached(clock: VirtualClock) -> None:
    servers = FakeServers()
    registrar = ServerRegistrar(servers, NodeIdentity(NodeID("n1"), "s"), clock=clock, rng=Random(1))
    servers.is_away = True
    run = asyncio.create_task(registrar.run())
    registrar.put([ServiceRegistration(id=name, service_name=name) for name in ("a", "b", "c")])
    await clock.advance(60)
    registrar.remove(["b"])
    registrar.put([ServiceRegistration(id="c", service_name="c", port=2)])
    assert servers.services == {}

    servers.is_away = False
    await clock.advance(60)
    assert {name: service.port for name, service in servers.services.items()} == {"a": 0, "c": 2}
    registrar.remove(["a"])
    await clock.advance(0)
    assert set(servers.services) == {"c"}
    run.cancel()
    await asyncio.wait({run})

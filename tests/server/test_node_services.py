"""What nodes tell and ask about services."""

from __future__ import annotations

import asyncio
from random import Random
from typing import Any

import pytest

from tests.server.running import SETTINGS
from tests.server.virtual_time import VirtualClock, run_virtual
from tests.state.builders import Cluster, a_job, a_node, node_id
from yurt.log import MemoryLog
from yurt.model.client_protocol import DeregisterServices, RegisterServices, ServicesFound, WatchServices
from yurt.model.service_registration import ServiceRegistration
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID
from yurt.server.commands.node_checks import NodeRefused
from yurt.server.server import Server


async def a_server(clock: VirtualClock | None = None) -> Server:
    """Node 1 with the allocation `a1`, node 2 with `b1`."""
    cluster = Cluster()
    job = cluster.add_job(a_job("web"))
    for alloc_id, number in (("a1", 1), ("b1", 2)):
        cluster.place(job, alloc_id, node=cluster.add_node(a_node(number)))
        cluster.report(alloc_id)
    log = MemoryLog()
    await log.reset(cluster.state.index + 1)
    return Server(SETTINGS, log, cluster.state, clock or VirtualClock(), Random(1))


def a_service(service_id: str, alloc_id: str = "a1", **changes: Any) -> ServiceRegistration:
    return ServiceRegistration(id=service_id, service_name="db", alloc_id=AllocID(alloc_id), **changes)


async def register(server: Server, *services: ServiceRegistration, secret: str = "secret-1") -> None:
    await server.nodes.register_services(
        RegisterServices(node_id=node_id(1), secret_id=secret, services=services)
    )


async def deregister(server: Server, *service_ids: str, number: int = 1) -> None:
    await server.nodes.deregister_services(
        DeregisterServices(node_id=node_id(number), secret_id=f"secret-{number}", service_ids=service_ids)
    )


async def watch(
    server: Server, name: str = "db", *, known: dict[str, int] | None = None, wait_s: int = 60
) -> ServicesFound:
    return await server.nodes.watch_services(
        WatchServices(
            node_id=node_id(2),
            secret_id="secret-2",
            namespace="default",
            name=name,
            wait=wait_s * SECOND_NS,
            known=known,
        )
    )


async def test_a_node_announces_services_of_its_own_allocations() -> None:
    server = await a_server()
    await register(server, a_service("s1", port=80), a_service("s2", "b1"), a_service("s3", "unknown"))

    (service,) = server.state.services.rows()
    assert (service.id, service.node_id, service.job_id, service.port) == ("s1", node_id(1), "web", 80)


async def test_a_node_takes_back_its_own_services_only() -> None:
    server = await a_server()
    await register(server, a_service("s1"), a_service("s2"))
    await deregister(server, "s1", "s2", number=2)
    assert len(server.state.services) == 2
    await deregister(server, "s1", "never-there")
    assert [service.id for service in server.state.services] == ["s2"]


@pytest.mark.parametrize(
    ("service", "problem"),
    [
        (a_service("", port=1), "with an id"),
        (a_service("s", port=70_000), "from 0 to 65535"),
    ],
)
async def test_nonsense_is_refused(service: ServiceRegistration, problem: str) -> None:
    with pytest.raises(NodeRefused, match=problem):
        await register(await a_server(), service)


async def test_strangers_are_refused() -> None:
    server = await a_server()
    with pytest.raises(NodeRefused, match="another secret"):
        await register(server, a_service("s1"), secret="guessed")
    with pytest.raises(NodeRefused, match="at most 1000"):
        await register(server, *[a_service(str(number)) for number in range(1001)])


async def test_services_are_found_by_name_and_namespace() -> None:
    server = await a_server()
    await register(server, a_service("s1"))

    assert [service.id for service in (await watch(server)).services] == ["s1"]
    assert [service.id for service in (await watch(server, "")).services] == ["s1"]
    assert (await watch(server, "other")).services == ()


def test_a_watch_answers_when_services_differ_from_what_is_known() -> None:
    async def scenario() -> None:
        clock = VirtualClock()
        server = await a_server(clock)
        found = await watch(server)
        assert found.services == ()
        waiting = asyncio.ensure_future(watch(server, known={}))
        await asyncio.sleep(1)
        await register(server, a_service("s1", port=1))
        (service,) = (await waiting).services
        known = {service.id: service.modify_index}
        waiting = asyncio.ensure_future(watch(server, known=known))
        await asyncio.sleep(1)
        await register(server, a_service("s1", port=1))
        await asyncio.sleep(1)
        assert not waiting.done()
        await deregister(server, "s1")
        assert (await waiting).services == ()
        assert clock.monotonic() == pytest.approx(3)
        assert (await watch(server, known={}, wait_s=5)).services == ()
        assert clock.monotonic() == pytest.approx(8)

    run_virtual(scenario())

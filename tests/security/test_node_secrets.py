"""One node cannot speak for another: every internal call is proved with the node's secret."""

from __future__ import annotations

from random import Random
from typing import Any, get_origin, get_type_hints

import msgspec
import pytest

from tests.api.asgi import Reply, request
from tests.state.builders import Cluster, a_node, node_id
from yurt.api.app import HttpApp
from yurt.api.internal.rpc import rpc_routes
from yurt.clock import SystemClock
from yurt.log import MemoryLog
from yurt.model.client_protocol import (
    AllocUpdate,
    DeregisterServices,
    IdentityWanted,
    RegisterNode,
    RegisterServices,
    SignIdentities,
    UpdateAllocs,
)
from yurt.model.fleet_protocol import (
    FleetJoined,
    JoinFleet,
    LeaveFleet,
    ReportFleet,
)
from yurt.model.service_registration import ServiceRegistration
from yurt.model.wire import AllocID, JobID
from yurt.server.server import Server
from yurt.server.settings import ServerSettings

OWN, OTHER = a_node(1), a_node(2)
PROVED_OTHERWISE = {
    "register-node",
    "join-fleet",
    "fleet-heartbeat",
    "watch-fleet",
    "report-fleet",
    "leave-fleet",
}
"""Calls that carry their nodes' secrets inside, or the id of a fleet that has shown them."""


class World:
    """A server with two nodes, an allocation on each, behind the internal listener's application."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.table = rpc_routes(server.nodes, server.fleets, server.introductions)
        self._app = HttpApp(self.table)

    async def call(self, name: str, message: msgspec.Struct) -> Reply:
        """Make an internal call."""
        return await request(self._app, "POST", f"/rpc/v1/{name}", msgspec.msgpack.encode(message))


@pytest.fixture
async def world() -> World:
    cluster = Cluster()
    job = cluster.add_job()
    for name, node in (("own", OWN), ("others", OTHER)):
        cluster.place(job, name, node=cluster.add_node(node))
    log = MemoryLog()
    await log.reset(cluster.state.index + 1)
    server = Server(ServerSettings(name="s"), log, cluster.state, SystemClock(), Random(1))
    return World(server)


def blank(message: type[msgspec.Struct], **members: Any) -> msgspec.Struct:
    """A message with nothing in it but `members`."""
    hints = get_type_hints(message)
    empty = {
        field.name: _empty(hints[field.name])
        for field in msgspec.structs.fields(message)
        if field.required and field.name not in members
    }
    return message(**empty, **members)


def _empty(hint: Any) -> Any:
    plain = getattr(hint, "__supertype__", hint)
    return (get_origin(plain) or plain)()


async def test_every_call_asks_for_the_nodes_secret(world: World) -> None:
    asked = 0
    for route in world.table.routes:
        name = route.path.rpartition("/")[2]
        if name in PROVED_OTHERWISE:
            continue
        for secret in ("", OTHER.secret_id, OWN.secret_id[:-1]):
            reply = await world.call(name, blank(route.request, node_id=OWN.id, secret_id=secret))
            assert (reply.status, name) == (403, name)
            assert OWN.secret_id not in reply.text
        asked += 1
    assert asked >= 8


async def test_a_node_is_not_registered_anew_with_another_secret(world: World) -> None:
    taken_over = msgspec.structs.replace(OTHER, secret_id="mine", name="mine")
    assert (await world.call("register-node", RegisterNode(node=taken_over))).status == 403
    assert (await world.call("join-fleet", JoinFleet(nodes=(taken_over,)))).status == 403
    assert world.server.state.nodes[OTHER.id].name == OTHER.name


async def test_reports_about_allocations_of_others_change_nothing(world: World) -> None:
    report = UpdateAllocs(
        node_id=OWN.id,
        secret_id=OWN.secret_id,
        updates=(AllocUpdate(id=AllocID("others"), client_status="failed"),),
    )
    await world.call("update-allocs", report)
    assert world.server.state.allocs[AllocID("others")].client_status != "failed"


def service(service_id: str, alloc_id: str, address: str) -> ServiceRegistration:
    return ServiceRegistration(
        id=service_id,
        service_name="web",
        namespace="default",
        node_id=OWN.id,
        alloc_id=AllocID(alloc_id),
        job_id=JobID("web"),
        datacenter="dc1",
        address=address,
        port=80,
    )


async def test_services_of_others_are_neither_announced_nor_taken_over_nor_removed(world: World) -> None:
    services = world.server.state.services
    theirs = service("theirs", "others", "10.0.0.2")
    await world.call(
        "register-services", RegisterServices(node_id=OTHER.id, secret_id=OTHER.secret_id, services=(theirs,))
    )
    assert services["theirs"].address == "10.0.0.2"
    forged = (service("forged", "others", "6.6.6.6"), service("theirs", "own", "6.6.6.6"))
    await world.call(
        "register-services", RegisterServices(node_id=OWN.id, secret_id=OWN.secret_id, services=forged)
    )
    await world.call(
        "deregister-services",
        DeregisterServices(node_id=OWN.id, secret_id=OWN.secret_id, service_ids=("theirs",)),
    )
    assert {one.id: one.address for one in services} == {"theirs": "10.0.0.2"}


async def test_identities_of_the_work_of_others_are_not_signed(world: World) -> None:
    wanted = IdentityWanted(alloc_id=AllocID("others"), task="t", identity="default")
    reply = await world.call(
        "sign-identities", SignIdentities(node_id=OWN.id, secret_id=OWN.secret_id, wanted=(wanted,))
    )
    assert (reply.status, msgspec.msgpack.decode(reply.body)) == (200, {"signed": [None]})


async def test_a_fleet_speaks_for_its_own_nodes_only(world: World) -> None:
    joined = await world.call("join-fleet", JoinFleet(nodes=(a_node(3),)))
    fleet_id = msgspec.msgpack.decode(joined.body, type=FleetJoined).fleet_id
    report = AllocUpdate(id=AllocID("others"), client_status="failed")
    await world.call("report-fleet", ReportFleet(fleet_id=fleet_id, updates=(report,)))
    assert world.server.state.allocs[AllocID("others")].client_status != "failed"
    left = await world.call("leave-fleet", LeaveFleet(fleet_id=fleet_id, node_ids=(OTHER.id,)))
    assert left.status == 403
    assert world.server.state.nodes.get(node_id(2)) is not None

"""/rpc/v1: the calls of node agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection
from typing import Any

import msgspec

from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.internal.roles import check_caller
from yurt.api.routes import Handler, Route, RouteTable
from yurt.model.client_protocol import (
    DeregisterServices,
    Heartbeat,
    NodeRegistered,
    RegisterNode,
    RegisterServices,
    SignIdentities,
    SignNodeIdentity,
    UpdateAllocs,
    WatchAllocs,
    WatchPrevious,
    WatchServices,
    WatchVariables,
)
from yurt.model.fleet_protocol import (
    FleetHeartbeat,
    FleetJoined,
    JoinFleet,
    LeaveFleet,
    ReportFleet,
    WatchFleet,
)
from yurt.server.commands.fleets import FleetCommands
from yurt.server.commands.node_checks import NodeRefused
from yurt.server.commands.nodes import NodeCommands
from yurt.server.introductions import Introductions

MSGPACK_TYPE = "application/msgpack"


def rpc_routes(
    nodes: NodeCommands,
    fleets: FleetCommands,
    introductions: Introductions,
    *,
    callers: Callable[[], Collection[str]] = tuple,
) -> RouteTable:
    """The calls of node agents, alone or many in one process.

    `callers` gives the names of which a caller's certificate must have one; none if any caller will do.
    """

    async def register(request: RegisterNode) -> NodeRegistered:
        """Make a node known, or store what changed about it."""
        introductions.check((request.node,), request.intro_token)
        return await nodes.register(request)

    async def join(request: JoinFleet) -> FleetJoined:
        """Register nodes, as each alone would, and remember that they share a process."""
        introductions.check(request.nodes, "")
        return await fleets.join(request)

    calls: dict[str, tuple[type[Any], Callable[[Any], Awaitable[Any]]]] = {
        "register-node": (RegisterNode, register),
        "heartbeat": (Heartbeat, nodes.heartbeat),
        "watch-allocs": (WatchAllocs, nodes.watch_allocs),
        "update-allocs": (UpdateAllocs, nodes.update_allocs),
        "register-services": (RegisterServices, nodes.register_services),
        "deregister-services": (DeregisterServices, nodes.deregister_services),
        "watch-services": (WatchServices, nodes.watch_services),
        "watch-variables": (WatchVariables, nodes.watch_variables),
        "sign-identities": (SignIdentities, nodes.sign_identities),
        "sign-node-identity": (SignNodeIdentity, nodes.sign_node_identity),
        "watch-previous": (WatchPrevious, nodes.watch_previous),
        "join-fleet": (JoinFleet, join),
        "fleet-heartbeat": (FleetHeartbeat, fleets.heartbeat),
        "watch-fleet": (WatchFleet, fleets.watch),
        "report-fleet": (ReportFleet, fleets.report),
        "leave-fleet": (LeaveFleet, fleets.leave),
    }
    return RouteTable(
        Route(
            path=f"/rpc/v1/{name}",
            handlers={"POST": _handler(message, command, callers)},
            summary=(command.__doc__ or "").partition("\n")[0],
            request=message,
        )
        for name, (message, command) in calls.items()
    )


def _handler(
    message: type[Any], command: Callable[[Any], Awaitable[Any]], callers: Callable[[], Collection[str]]
) -> Handler:
    decoder = msgspec.msgpack.Decoder(message)

    async def handle(call: Call) -> Answer:
        check_caller(call, callers())
        try:
            request = decoder.decode(await call.body())
        except msgspec.MsgspecError as error:
            raise HttpError(400, f"not a {message.__name__}: {error}") from None
        try:
            answer = await command(request)
        except NodeRefused as error:
            raise HttpError(403, str(error)) from None
        return Answer(body=msgspec.msgpack.encode(answer), content_type=MSGPACK_TYPE)

    return handle

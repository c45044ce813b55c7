"""/v1/volume/host and /v1/volumes?type=host: volumes that are made on nodes at run time."""

from __future__ import annotations

import contextlib

from msgspec.structs import asdict, replace

from yurt.agent.host_volumes import VolumeFailed
from yurt.api import needs
from yurt.api.answer import Answer, text_answer
from yurt.api.call import ALL_NAMESPACES, Call
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.listing import by_id
from yurt.api.routes import WRITE, Route
from yurt.api.v1.alloc_views import AllocListStub, alloc_stub
from yurt.api.v1.node_volumes import NodeVolumes
from yurt.model.client_protocol import MakeVolume
from yurt.model.host_volume import DynamicVolume
from yurt.model.node import NODE_DOWN
from yurt.model.wire import Nanoseconds, NodeID, Wire
from yurt.server.commands.host_volumes import HostVolumeCommands, users_of


class VolumeRequest(Wire, frozen=True, kw_only=True):
    """A volume to be made or registered."""

    volume: DynamicVolume | None = None
    policy_override: bool = False


class VolumeView(DynamicVolume, frozen=True, kw_only=True):
    """A volume, and the allocations that use it."""

    allocations: tuple[AllocListStub, ...] | None = None


class VolumeResponse(Wire, frozen=True, kw_only=True):
    """What became of a request."""

    volume: VolumeView
    warnings: str = ""
    index: int = 0


class VolumeStub(Wire, frozen=True, kw_only=True):
    """A volume in a list."""

    namespace: str
    id: str
    name: str
    plugin_id: str
    node_pool: str
    node_id: NodeID
    capacity_bytes: int
    state: str
    create_index: int
    create_time: Nanoseconds
    modify_index: int
    modify_time: Nanoseconds


class HostVolumeHandlers:
    """The handlers of volumes made at run time."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps
        self._commands = HostVolumeCommands(deps.server.context)
        self._nodes = NodeVolumes(deps.node_agent, deps.peers_tls)

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/volume/host/create",
                handlers=dict.fromkeys(WRITE, self.create),
                summary="Make a volume on a node",
                needs=needs.namespace("host-volume-create"),
                request=VolumeRequest,
                response=VolumeResponse,
            ),
            Route(
                path="/v1/volume/host/register",
                handlers=dict.fromkeys(WRITE, self.register),
                summary="Make a directory of a node a volume",
                needs=needs.namespace("host-volume-register"),
                request=VolumeRequest,
                response=VolumeResponse,
            ),
            Route(
                path="/v1/volume/host/{volume_id}",
                handlers={"GET": self.read, "DELETE": self.delete},
                summary="Read or delete a volume",
                needs={
                    "GET": needs.namespace("host-volume-read"),
                    "DELETE": needs.namespace("host-volume-delete"),
                },
                response=VolumeView,
            ),
        )

    async def create(self, call: Call) -> Answer:
        """PUT /v1/volume/host/create."""
        return await self._make(self._commands.plan(await self._described(call)))

    async def register(self, call: Call) -> Answer:
        """PUT /v1/volume/host/register."""
        return await self._make(self._commands.plan_registration(await self._described(call)))

    async def read(self, call: Call) -> Answer:
        """GET /v1/volume/host/<id>."""
        volume_id, state = call.path["volume_id"], self._deps.state

        def read() -> tuple[int, VolumeView | None]:
            volume = state.host_volumes.get(volume_id)
            if volume is None or volume.namespace != call.namespace:
                return max(state.host_volumes.index, 1), None
            allocs = tuple(
                alloc_stub(state.allocs[alloc_id], with_resources=False, with_task_states=True)
                for alloc_id in users_of(state, volume)
            )
            return max(state.host_volumes.index, 1), volume_view(volume, allocs)

        answer = await self._deps.read(call, [("host-volumes", volume_id)], read)
        if answer.body is None:
            missing = text_answer(404, "volume not found")
            missing.index, missing.is_read = answer.index, True
            return missing
        return answer

    async def list(self, call: Call) -> Answer:
        """GET /v1/volumes?type=host."""
        table = self._deps.state.host_volumes
        node_id, pool = call.query.get("node_id", ""), call.query.get("node_pool", "")
        prefix = call.query.get("prefix", "")

        def wanted(volume: DynamicVolume) -> bool:
            return (
                call.namespace in (ALL_NAMESPACES, volume.namespace)
                and call.permissions.allows(volume.namespace, "host-volume-read")
                and node_id in ("", volume.node_id)
                and pool in ("", volume.node_pool)
                and volume.id.startswith(prefix)
            )

        return await self._deps.list(
            call,
            [("host-volumes", None)],
            lambda: (max(table.index, 1), table.rows()),
            _ORDER,
            where=wanted,
            view=_stub,
        )

    async def delete(self, call: Call) -> Answer:
        """DELETE /v1/volume/host/<id>; with `force`, also when its node is gone."""
        try:
            force = call.flag("force")
        except HttpError:
            raise HttpError(400, "invalid force value") from None
        volume = self._commands.check_deletion(call.path["volume_id"], call.namespace)
        node = self._deps.state.nodes.get(volume.node_id)
        if node is not None and node.status != NODE_DOWN:
            with contextlib.suppress(*((VolumeFailed,) if force else ())):
                await self._nodes.delete(node, _asked(volume))
        elif not force:
            raise HttpError(500, f"node {volume.node_id} of the volume is not there; use force to forget it")
        index = await self._commands.delete(volume.id)
        return Answer(body={"Index": index}, index=index)

    async def _described(self, call: Call) -> DynamicVolume:
        request: VolumeRequest = await call.read(VolumeRequest)
        if request.volume is None:
            raise HttpError(500, "missing volume definition")
        # What the caller may do was checked for this namespace, whatever the body says.
        return replace(request.volume, namespace=call.namespace)

    async def _make(self, planned: DynamicVolume) -> Answer:
        """Have the node make a volume, then keep it; nothing is kept of one that could not be made."""
        made = await self._nodes.create(self._deps.state.nodes[planned.node_id], _asked(planned))
        volume = replace(planned, host_path=made.path, capacity_bytes=made.bytes)
        index = await self._commands.store(volume)
        return Answer(body=VolumeResponse(volume=volume_view(volume, None), index=index), index=index)


def _asked(volume: DynamicVolume) -> MakeVolume:
    return MakeVolume(
        id=volume.id,
        name=volume.name,
        namespace=volume.namespace,
        plugin_id=volume.plugin_id,
        # Only a volume that was registered has a path before it is made.
        host_path="" if volume.plugin_id else volume.host_path,
        capacity_min_bytes=volume.requested_capacity_min_bytes,
        capacity_max_bytes=volume.requested_capacity_max_bytes,
        parameters=volume.parameters or {},
    )


def volume_view(volume: DynamicVolume, allocs: tuple[AllocListStub, ...] | None) -> VolumeView:
    """Show a volume, with the allocations that use it if they were asked for."""
    return VolumeView(**asdict(volume), allocations=allocs)


def _stub(volume: DynamicVolume) -> VolumeStub:
    return VolumeStub(**{name: getattr(volume, name) for name in VolumeStub.__struct_fields__})


_ORDER = by_id(lambda volume: volume.id)

"""What people can ask about volumes that are made on nodes at run time."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from yurt.errors import YurtError
from yurt.model.host_volume import VOLUME_PENDING, DynamicVolume, volume_problems
from yurt.model.multi_error import multi_error_text
from yurt.model.node import Node
from yurt.model.wire import ALL_NODE_POOL, AllocID, NodeID
from yurt.scheduler.feasible.constraints import holds_on
from yurt.scheduler.feasible.volumes import HOST_VOLUME, volume_source
from yurt.server.context import ServerContext
from yurt.state.state import State
from yurt.state.volume_entries import DeleteHostVolume, DeleteVolumeClaim, UpsertHostVolume


class VolumeRefused(YurtError):
    """A volume cannot be made, changed or deleted; the text says why."""


class HostVolumeCommands:
    """Makes and deletes volumes in State; whoever calls has the node do its part in between."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    def plan(self, volume: DynamicVolume) -> DynamicVolume:
        """The volume with its id and its node, ready to be made there. Raises VolumeRefused."""
        self._check(volume)
        state = self._context.state
        if volume.node_id:
            node = state.nodes[volume.node_id]
            if not _is_feasible(state, volume, node):
                raise VolumeRefused(
                    f'could not place volume "{volume.name}": node {node.id} is not feasible for volume'
                )
        else:
            node = self._choose(volume)
        return self._placed(volume, node)

    def plan_registration(self, volume: DynamicVolume) -> DynamicVolume:
        """A directory that is there already, as a volume. Raises VolumeRefused."""
        if not volume.node_id:
            raise VolumeRefused("cannot register volume: node ID is required")
        if not volume.host_path:
            raise VolumeRefused("cannot register volume: host path is required")
        self._check(volume)
        return self._placed(volume, self._context.state.nodes[volume.node_id])

    async def store(self, volume: DynamicVolume) -> int:
        """Keep a volume that its node has; returns the index."""
        entry = UpsertHostVolume(at=self._context.clock.now_ns(), volume=volume)
        return (await self._context.committer.propose(entry)).index

    def check_deletion(self, volume_id: str, namespace: str) -> DynamicVolume:
        """The volume, if it may go. Raises VolumeRefused."""
        volume = self._context.state.host_volumes.get(volume_id)
        if volume is None or volume.namespace != namespace:
            raise VolumeRefused(f"no such volume: {volume_id}")
        users = list(users_of(self._context.state, volume))
        if users:
            raise VolumeRefused(f"volume {volume_id} in use by allocations: [{' '.join(users)}]")
        return volume

    async def delete(self, volume_id: str) -> int:
        """Forget a volume; returns the index."""
        entry = DeleteHostVolume(at=self._context.clock.now_ns(), volume_id=volume_id)
        return (await self._context.committer.propose(entry)).index

    async def delete_claim(self, claim_id: str, namespace: str) -> int:
        """Forget a group's claim on a volume; returns the index. Raises VolumeRefused."""
        claim = self._context.state.volume_claims.get(claim_id)
        if claim is None or claim.namespace != namespace:
            raise VolumeRefused("task group volume claim does not exist")
        entry = DeleteVolumeClaim(at=self._context.clock.now_ns(), claim_id=claim_id)
        return (await self._context.committer.propose(entry)).index

    def _check(self, volume: DynamicVolume) -> None:
        problems = volume_problems(volume)
        if problems:
            text = problems[0] if len(problems) == 1 else multi_error_text(problems)
            raise VolumeRefused(f"volume validation failed: {text}")
        state = self._context.state
        old = state.host_volumes.get(volume.id) if volume.id else None
        if old is not None and old.namespace != volume.namespace:
            old = None
        problem = ""
        if volume.id and old is None:
            problem = f'volume "{volume.id}" does not exist'
        elif volume.node_id and volume.node_id not in state.nodes:
            problem = f'node "{volume.node_id}" does not exist'
        elif old is not None and volume.node_id and volume.node_id != old.node_id:
            problem = "node ID cannot be updated"
        elif old is not None and list(users_of(state, old)):
            problem = f"cannot update a volume in use: claimed by allocs ({', '.join(users_of(state, old))})"
        if problem:
            raise VolumeRefused(f'validating volume "{volume.name}" against state failed: {problem}')

    def _placed(self, volume: DynamicVolume, node: Node) -> DynamicVolume:
        now = self._context.clock.now_ns()
        return replace(
            volume,
            id=volume.id or self._context.new_id(),
            node_id=node.id,
            node_pool=node.node_pool,
            state=VOLUME_PENDING,
            create_time=now,
            modify_time=now,
        )

    def _choose(self, volume: DynamicVolume) -> Node:
        """The node with fewest volumes of those that can have it. Raises VolumeRefused."""
        state = self._context.state
        held: dict[NodeID, int] = {}
        taken: set[NodeID] = set()
        for other in state.host_volumes.rows():
            held[other.node_id] = held.get(other.node_id, 0) + 1
            if other.name == volume.name and other.namespace == volume.namespace:
                taken.add(other.node_id)
        in_pool = [node for node in state.nodes if volume.node_pool in ("", ALL_NODE_POOL, node.node_pool)]
        free = [node for node in in_pool if node.id not in taken]
        feasible = [node for node in free if _is_feasible(state, volume, node)]
        if not feasible:
            raise VolumeRefused(
                f'could not place volume "{volume.name}": no node meets constraints: '
                f"{len(in_pool) - len(free)} nodes had existing volume, "
                "0 nodes filtered by node pool governance, "
                f"{len(free) - len(feasible)} nodes were infeasible"
            )
        return min(feasible, key=lambda node: (held.get(node.id, 0), node.id))


def users_of(state: State, volume: DynamicVolume) -> Iterator[AllocID]:
    """The allocations that hold a volume."""
    for alloc in state.allocs.of_node(volume.node_id):
        group = alloc.job.group(alloc.task_group)
        if alloc.is_terminal or group is None or alloc.namespace != volume.namespace:
            continue
        for request in (group.volumes or {}).values():
            if request.type == HOST_VOLUME and volume_source(request, alloc.name_index) == volume.name:
                yield alloc.id
                break


def _is_feasible(state: State, volume: DynamicVolume, node: Node) -> bool:
    if not node.is_ready or f"plugins.host_volume.{volume.plugin_id}.version" not in node.attributes:
        return False
    slot = state.columns.slots[node.id]
    return all(bool(holds_on(state.columns, rule)[slot]) for rule in volume.constraints or ())

"""Node pools: made, changed and deleted."""

from __future__ import annotations

import re

from msgspec.structs import replace

from yurt.errors import YurtError
from yurt.model.job import JOB_DEAD, SERVICE
from yurt.model.multi_error import multi_error_text
from yurt.model.node_pool import NodePool
from yurt.model.wire import ALL_NODE_POOL, DEFAULT_NODE_POOL
from yurt.scheduler.rank.algorithms import AlgorithmError, algorithm_for
from yurt.server.commands.namespaces import DESCRIPTION_LENGTH_MAX, content_hash
from yurt.server.context import ServerContext
from yurt.state.entries import DeleteNodePools, UpsertNodePools
from yurt.state.state import State

NAME_PATTERN = "^[a-zA-Z0-9-_]{1,128}$"
BUILT_IN = (ALL_NODE_POOL, DEFAULT_NODE_POOL)

_NAME = re.compile(r"[a-zA-Z0-9-_]{1,128}")


class NodePoolRefused(YurtError):
    """The node pool cannot be deleted as asked."""


class NodePoolInvalid(YurtError):
    """The node pool itself is not as it must be."""


class NodePoolCommands:
    """What can be asked about node pools."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def upsert(self, pool: NodePool) -> int:
        """Store a node pool; returns the index. Raises NodePoolInvalid, NodePoolRefused."""
        problems = node_pool_problems(pool)
        if problems:
            raise NodePoolInvalid(f'invalid node pool "{pool.name}": {multi_error_text(problems)}')
        if pool.name in BUILT_IN:
            raise NodePoolInvalid(f'modifying node pool "{pool.name}" is not allowed')
        entry = UpsertNodePools(
            at=self._context.clock.now_ns(), node_pools=(replace(pool, hash=content_hash(pool)),)
        )
        return (await self._context.committer.propose(entry)).index

    async def delete(self, name: str) -> int:
        """Forget an unused node pool; returns the index. Raises NodePoolRefused."""
        state = self._context.state
        if name not in state.node_pools:
            raise NodePoolRefused(f"node pool {name} not found")
        uses = node_pool_uses(state, name, self._context.region)
        if uses:
            raise NodePoolRefused(multi_error_text(uses))
        if name in BUILT_IN:
            raise NodePoolRefused(f'deleting node pool "{name}" is not allowed')
        entry = DeleteNodePools(at=self._context.clock.now_ns(), names=(name,))
        return (await self._context.committer.propose(entry)).index


def node_pool_problems(pool: NodePool) -> list[str]:
    """Say what is wrong with a node pool."""
    problems = []
    if _NAME.fullmatch(pool.name) is None:
        problems.append(f'invalid name "{pool.name}", must match regex {NAME_PATTERN}')
    if len(pool.description) > DESCRIPTION_LENGTH_MAX:
        problems.append(f"description longer than {DESCRIPTION_LENGTH_MAX}")
    own = pool.scheduler_configuration
    if own is not None and own.scheduler_algorithm:
        try:
            algorithm_for(own.scheduler_algorithm, SERVICE)
        except AlgorithmError as error:
            problems.append(f"invalid scheduler configuration: {error}")
    return problems


def node_pool_uses(state: State, name: str, region: str) -> list[str]:
    """Say what still uses a node pool."""
    uses = []
    if any(job.node_pool == name and job.status != JOB_DEAD for job in state.jobs):
        uses.append(f'node pool "{name}" has non-terminal jobs in regions: [{region}]')
    if any(node.node_pool == name for node in state.nodes):
        uses.append(f'node pool "{name}" has nodes in regions: [{region}]')
    return uses

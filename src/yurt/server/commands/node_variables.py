"""Variables for the tasks of a node, as far as each may read them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from yurt.model.acl.caller import IdentityClaims
from yurt.model.acl.capabilities import LIST, READ
from yurt.model.acl.permissions import EVERYTHING, NOTHING, Permissions
from yurt.model.client_protocol import ClientVariable, VariablesFound, WatchVariables
from yurt.model.node import Node
from yurt.model.times import SECOND_NS
from yurt.model.variable import Variable, VariableKey
from yurt.server.auth import Authority, TokenRefused
from yurt.server.commands.node_checks import NodeRefused
from yurt.server.commands.variables import VariableCommands
from yurt.server.context import ServerContext

# A poll never waits longer: the agent's next one shows that it is still there.
WATCH_WAIT_MAX_S = 300.0


class NodeVariables:
    """Variables, as tasks see them. Callers have made sure that the node is who it says."""

    def __init__(self, context: ServerContext, authority: Authority) -> None:
        self._context = context
        self._authority = authority
        self._commands = VariableCommands(context)

    async def watch(self, node: Node, request: WatchVariables) -> VariablesFound:
        """Give variables once they differ from what the node knows. Raises NodeRefused."""
        context = self._context
        deadline = context.clock.monotonic() + min(request.wait / SECOND_NS, WATCH_WAIT_MAX_S)
        changed = asyncio.Event()
        watched = [("variables-of-namespace", request.namespace)]
        cancel = context.state.watches.add(watched, changed.set)
        try:
            while True:
                found = self._readable(node, request)
                left = deadline - context.clock.monotonic()
                is_news = {one.path: one.modify_index for one in found} != request.known
                if request.known is None or left <= 0 or is_news:
                    return self._shown(found, request)
                changed.clear()
                try:
                    async with asyncio.timeout(left):
                        await changed.wait()
                except TimeoutError:
                    return self._shown(self._readable(node, request), request)
        finally:
            cancel()

    def _readable(self, node: Node, request: WatchVariables) -> list[Variable]:
        """What there is, and the task may read or, of a list, know of. Raises NodeRefused."""
        permissions = self._permissions(node, request)
        table = self._context.state.variables
        named = table.get(VariableKey(request.namespace, request.path))
        candidates: Iterable[Variable] = () if named is None else (named,)
        if request.is_prefix:
            candidates = (
                one
                for one in table
                if one.namespace == request.namespace and one.path.startswith(request.path)
            )
        capability = LIST if request.is_prefix else READ
        return [one for one in candidates if permissions.allows_variable(one.namespace, one.path, capability)]

    def _permissions(self, node: Node, request: WatchVariables) -> Permissions:
        alloc = self._context.state.allocs.get(request.alloc_id)
        if alloc is None or alloc.node_id != node.id:
            raise NodeRefused(f"allocation {request.alloc_id} is not on node {node.id}")
        if not self._authority.is_enabled:
            return EVERYTHING
        claims = IdentityClaims(
            namespace=alloc.namespace,
            job_id=alloc.job.parent_id or alloc.job_id,
            group=alloc.task_group,
            task=request.task,
            alloc_id=alloc.id,
        )
        try:
            return self._authority.workload(claims).permissions
        except TokenRefused:
            return NOTHING

    def _shown(self, found: list[Variable], request: WatchVariables) -> VariablesFound:
        return VariablesFound(
            index=self._context.state.variables.index,
            variables=tuple(
                ClientVariable(
                    namespace=one.namespace,
                    path=one.path,
                    items={} if request.is_prefix else self._commands.items_of(one),
                    create_index=one.create_index,
                    modify_index=one.modify_index,
                    create_time=one.create_time,
                    modify_time=one.modify_time,
                )
                for one in found
            ),
        )

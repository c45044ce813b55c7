"""What a node is told about the allocation that one of its own replaces, when that is on another node."""

from __future__ import annotations

import asyncio

from yurt.model.alloc import CLIENT_LOST, CLIENT_UNKNOWN, Allocation
from yurt.model.client_protocol import PreviousAlloc, WatchPrevious
from yurt.model.migrate_token import migrate_token
from yurt.model.node import NODE_DOWN, Node
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID
from yurt.server.commands.node_checks import NodeRefused
from yurt.server.context import ServerContext

# A poll never waits longer: the agent's next one shows that it is still there.
WATCH_WAIT_MAX_S = 300.0


class PreviousAllocs:
    """Previous allocations, as nodes see them. Callers have made sure that the node is who it says."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def watch(self, node: Node, request: WatchPrevious) -> PreviousAlloc:
        """Wait for the end of the previous allocation, and tell where its data is. Raises NodeRefused."""
        state, clock = self._context.state, self._context.clock
        alloc = state.allocs.get(request.alloc_id)
        if alloc is None or alloc.node_id != node.id:
            raise NodeRefused(f"allocation {request.alloc_id} is not on node {node.id}")
        previous_id = AllocID(alloc.previous_allocation)
        previous = state.allocs.get(previous_id)
        if previous is None:
            return PreviousAlloc(is_over=True)
        deadline = clock.monotonic() + min(request.wait / SECOND_NS, WATCH_WAIT_MAX_S)
        changed = asyncio.Event()
        keys = [("allocs", previous_id), ("nodes", previous.node_id)]
        cancel = state.watches.add(keys, changed.set)
        try:
            while True:
                changed.clear()
                answer = self._judge(previous_id)
                left = deadline - clock.monotonic()
                if answer.is_over or left <= 0:
                    return answer
                try:
                    async with asyncio.timeout(left):
                        await changed.wait()
                except TimeoutError:
                    continue
        finally:
            cancel()

    def _judge(self, previous_id: AllocID) -> PreviousAlloc:
        state = self._context.state
        previous = state.allocs.get(previous_id)
        node = state.nodes.get(previous.node_id) if previous is not None else None
        if previous is None or node is None or node.status == NODE_DOWN or _is_given_up(previous):
            return PreviousAlloc(is_over=True)
        if not previous.is_client_terminal:
            return PreviousAlloc(is_over=False)
        return PreviousAlloc(
            is_over=True,
            address=node.http_addr,
            uses_tls=node.tls_enabled,
            token=migrate_token(previous_id, node.secret_id),
        )


def _is_given_up(alloc: Allocation) -> bool:
    """Whether nobody can tell any more what became of it."""
    return alloc.client_status in (CLIENT_LOST, CLIENT_UNKNOWN)

"""What operators do with nodes: drain them, keep work off them, have them looked at, forget them."""

from __future__ import annotations

import msgspec

from yurt.errors import YurtError
from yurt.model.evaluation import Evaluation
from yurt.model.job import SYSTEM
from yurt.model.node import NODE_ELIGIBLE, NODE_INELIGIBLE, DrainStrategy, Node
from yurt.model.times import time_text
from yurt.model.wire import Nanoseconds, NodeID
from yurt.server.context import ServerContext
from yurt.server.node_evals import evals_for_node
from yurt.state.entries import DeregisterNodes, SetNodeDrain, SetNodeEligibility, UpsertEvals

# Who acted, while there are no tokens to tell people apart.
ACCESSOR_WITHOUT_ACLS = "token:acls-disabled"


class NodeRefused(YurtError):
    """The node cannot be changed as asked."""


class NodeChanged(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a node, and the evaluations that follow; all empty if nothing changed."""

    index: int = 0
    node_modify_index: int = 0
    eval_ids: tuple[str, ...] = ()


class NodeOperations:
    """What operators can ask about nodes."""

    def __init__(self, context: ServerContext) -> None:
        self._context = context

    async def drain(
        self,
        node_id: NodeID,
        *,
        deadline: Nanoseconds | None,
        ignore_system_jobs: bool = False,
        mark_eligible: bool = False,
        meta: dict[str, str] | None = None,
    ) -> NodeChanged:
        """Begin or change a drain; `deadline` None ends it, 0 sets none, a negative one is now.

        Raises NodeRefused.
        """
        node = self._node(node_id)
        now = self._context.clock.now_ns()
        strategy = None
        if deadline is not None:
            strategy = drain_strategy(node, deadline, ignore_system_jobs=ignore_system_jobs, now=now)
        becomes_eligible = strategy is None and mark_eligible
        evals = self._system_evals(node) if becomes_eligible else ()
        entry = SetNodeDrain(
            at=now,
            node_id=node_id,
            drain=strategy,
            mark_eligible=mark_eligible,
            event=_drain_event(node, strategy),
            meta=meta,
            accessor_id=ACCESSOR_WITHOUT_ACLS,
            evals=evals,
        )
        index = (await self._context.committer.propose(entry)).index
        return NodeChanged(index=index, node_modify_index=index, eval_ids=tuple(one.id for one in evals))

    async def set_eligibility(self, node_id: NodeID, eligibility: str) -> NodeChanged:
        """Let new work onto a node or keep it off. Raises NodeRefused."""
        if eligibility not in (NODE_ELIGIBLE, NODE_INELIGIBLE):
            raise NodeRefused(f'invalid scheduling eligibility "{eligibility}"')
        node = self._node(node_id)
        if node.drain_strategy is not None and eligibility == NODE_ELIGIBLE:
            raise NodeRefused("can not set node's scheduling eligibility to eligible while it is draining")
        if node.scheduling_eligibility == eligibility:
            return NodeChanged()
        evals = self._system_evals(node) if eligibility == NODE_ELIGIBLE else ()
        entry = SetNodeEligibility(
            at=self._context.clock.now_ns(),
            node_id=node_id,
            eligibility=eligibility,
            event=f"Node marked as {eligibility} for scheduling",
            evals=evals,
        )
        index = (await self._context.committer.propose(entry)).index
        return NodeChanged(index=index, eval_ids=tuple(one.id for one in evals))

    async def evaluate(self, node_id: NodeID) -> NodeChanged:
        """Have every job of a node looked at again. Raises NodeRefused."""
        node = self._node(node_id)
        now = self._context.clock.now_ns()
        evals = evals_for_node(self._context.state, node, now=now, new_id=self._context.new_id)
        if not evals:
            return NodeChanged()
        index = (await self._context.committer.propose(UpsertEvals(at=now, evals=evals))).index
        return NodeChanged(index=index, eval_ids=tuple(one.id for one in evals))

    async def purge(self, node_id: NodeID) -> NodeChanged:
        """Forget a node; one that lives registers again. Raises NodeRefused."""
        node = self._node(node_id)
        now = self._context.clock.now_ns()
        evals = evals_for_node(self._context.state, node, now=now, new_id=self._context.new_id)
        entry = DeregisterNodes(at=now, node_ids=(node_id,), evals=evals)
        index = (await self._context.committer.propose(entry)).index
        return NodeChanged(index=index, node_modify_index=index, eval_ids=tuple(one.id for one in evals))

    def _node(self, node_id: NodeID) -> Node:
        node = self._context.state.nodes.get(node_id)
        if node is None:
            raise NodeRefused("node not found")
        return node

    def _system_evals(self, node: Node) -> tuple[Evaluation, ...]:
        """Evaluations of the jobs that want to be on every node that takes work."""
        context = self._context
        now = context.clock.now_ns()
        evals = evals_for_node(context.state, node, now=now, new_id=context.new_id)
        return tuple(one for one in evals if one.type == SYSTEM)


def drain_strategy(
    node: Node, deadline: Nanoseconds, *, ignore_system_jobs: bool, now: Nanoseconds
) -> DrainStrategy:
    """How a node is to be emptied; a drain that is changed keeps the time it began."""
    started = node.drain_strategy.started_at if node.drain_strategy is not None else time_text(now)
    return DrainStrategy(
        deadline=deadline,
        ignore_system_jobs=ignore_system_jobs,
        force_deadline=time_text(now + deadline) if deadline > 0 else None,
        started_at=started,
    )


def _drain_event(node: Node, strategy: DrainStrategy | None) -> str:
    if strategy is not None:
        return "Node drain strategy set" if node.drain_strategy is None else "Node drain strategy updated"
    return "Node drain disabled" if node.drain_strategy is not None else ""

"""What push nodes tell the servers: that they join, that they live, and how their allocations are."""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from yurt.errors import YurtError
from yurt.model.alloc import (
    CLIENT_FAILED,
    CLIENT_LOST,
    CLIENT_RUNNING,
    Allocation,
    AllocDeploymentStatus,
    encode_task_states,
)
from yurt.model.client_protocol import AllocUpdate, Heartbeat, RegisterNode
from yurt.model.deliveries import Delivery
from yurt.model.evaluation import EVAL_PENDING, TRIGGER_NODE_UPDATE, Evaluation
from yurt.model.node import Node
from yurt.model.push_nodes import (
    is_push_node,
    node_key,
    says_healthy,
    with_health,
)
from yurt.model.simple.push_messages import AllocSaid, NodeAmounts, PushHeartbeat, Registration
from yurt.model.simple.push_registration import push_node
from yurt.model.times import time_text
from yurt.model.wire import AllocID, EvalID, Nanoseconds, NodeID
from yurt.server.commands.nodes import NodeCommands, evals_for_reports, reports_of
from yurt.server.context import ServerContext
from yurt.server.heartbeats import HeartbeatTimers
from yurt.server.push.deliverer import Deliverer
from yurt.server.push.steps import is_unwanted
from yurt.state.entries import ReportAllocs
from yurt.state.simple_entries import RecordDeliveries

# Agents of the simple dialect beat every 5 s; three beats missed are a dead node.
PUSH_SILENCE_S = 15.0


class PushNodeUnknown(YurtError):
    """No push node of that id has registered."""

    def __init__(self, node_id: str) -> None:
        super().__init__(f'node_id: node "{node_id}" is not registered; POST /register first')


class NotAPushNode(YurtError):
    """The id belongs to a node that runs Yurt's agent."""

    def __init__(self, node_id: str) -> None:
        super().__init__(f'node_id: "{node_id}" is a node with an agent of Yurt; choose another id')


class LastSaid(msgspec.Struct):
    """What a push node said last. Kept in memory: heartbeats are not worth a disk write."""

    amounts: NodeAmounts
    healthy: bool
    at: Nanoseconds
    # When the node registered, as far as this server knows, and when it beat before the last time.
    registered_at: Nanoseconds = 0
    beat_before_at: Nanoseconds = 0


class PushNodes:
    """What push nodes can ask."""

    def __init__(
        self,
        context: ServerContext,
        nodes: NodeCommands,
        heartbeats: HeartbeatTimers,
        deliverer: Deliverer,
        *,
        datacenter: str,
    ) -> None:
        self._context = context
        self._nodes = nodes
        self._heartbeats = heartbeats
        self._deliverer = deliverer
        self._datacenter = datacenter
        self.said: dict[NodeID, LastSaid] = {}
        # By node: since when allocations have been reported as running.
        self._running_since: dict[NodeID, dict[AllocID, Nanoseconds]] = {}

    async def register(self, said: Registration) -> None:
        """Make a push node known, or take over what changed about it. Raises NotAPushNode, NodeRefused."""
        context = self._context
        node_id = node_key(said.node_id)
        old = context.state.nodes.get(node_id)
        if old is not None and not is_push_node(old):
            raise NotAPushNode(said.node_id)
        secret_id = old.secret_id if old is not None else context.new_id()
        node = push_node(said, datacenter=self._datacenter, secret_id=secret_id)
        await self._nodes.register(RegisterNode(node=node))
        now = context.clock.now_ns()
        self.said[node_id] = LastSaid(amounts=said.resources, healthy=said.healthy, at=now, registered_at=now)
        self._heard(node_id)

    async def heartbeat(self, beat: PushHeartbeat) -> None:
        """Note a sign of life, and what a node says about its allocations. Raises PushNodeUnknown."""
        context = self._context
        node = context.state.nodes.get(node_key(beat.node_id))
        if node is None or not is_push_node(node):
            raise PushNodeUnknown(beat.node_id)
        await self._nodes.heartbeat(Heartbeat(node_id=node.id, secret_id=node.secret_id))
        if says_healthy(node) != beat.healthy:
            fresh = with_health(context.state.nodes[node.id], healthy=beat.healthy)
            await self._nodes.register(RegisterNode(node=fresh))
        now = context.clock.now_ns()
        last = self.said.get(node.id)
        self.said[node.id] = LastSaid(
            amounts=beat.resources,
            healthy=beat.healthy,
            at=now,
            registered_at=last.registered_at if last is not None else 0,
            beat_before_at=last.at if last is not None else 0,
        )
        if beat.allocations is not None:
            await self._take_reports(node, beat.allocations, now)
        self._heard(node.id)

    def _heard(self, node_id: NodeID) -> None:
        self._heartbeats.allow(node_id, now=self._context.clock.monotonic(), silence_s=PUSH_SILENCE_S)
        self._deliverer.follow(node_id)

    async def _take_reports(self, node: Node, said: dict[AllocID, AllocSaid], now: Nanoseconds) -> None:
        """Store what a node says about its allocations, and find out what it has lost."""
        state = self._context.state
        known = self._running_since.get(node.id, {})
        self._running_since[node.id] = {
            alloc_id: known.get(alloc_id, now)
            for alloc_id, words in said.items()
            if words.status == CLIENT_RUNNING
        }
        deliveries = {delivery.alloc_id: delivery for delivery in state.deliveries.of_node(node.id)}
        found = [self._found(node, alloc_id, deliveries, now) for alloc_id in said]
        accepted = tuple(delivery for delivery in found if delivery is not None)
        updates = [
            update
            for alloc_id, words in said.items()
            if (alloc := state.allocs.get(alloc_id)) is not None and alloc.node_id == node.id
            for update in (self._update(alloc, words, now),)
            if update is not None
        ]
        lost, gone = [], []
        for alloc_id, delivery in deliveries.items():
            if alloc_id in said or not self._is_missing(delivery):
                continue
            alloc = state.allocs.get(alloc_id)
            if is_unwanted(alloc):
                gone.append(alloc_id)
            elif delivery.is_accepted and alloc is not None and not alloc.is_client_terminal:
                lost.append(alloc)
            elif not delivery.is_accepted:
                self._deliverer.note_absent(alloc_id)
        if accepted:
            await self._context.committer.propose(RecordDeliveries(at=now, deliveries=accepted))
        await self._report(updates, lost, now)
        for alloc_id in (*gone, *(alloc.id for alloc in lost)):
            await self._deliverer.forget(alloc_id)

    def _found(
        self, node: Node, alloc_id: AllocID, deliveries: dict[AllocID, Delivery], now: Nanoseconds
    ) -> Delivery | None:
        """The record of an allocation that the node has, if there is none yet, or none of its acceptance."""
        known = deliveries.get(alloc_id)
        if known is not None:
            return replace(known, accepted_at=now) if not known.is_accepted else None
        alloc = self._context.state.allocs.get(alloc_id)
        if alloc is None or alloc.node_id != node.id:
            return None
        # It was given up and came through after all, or State is an older one that was restored.
        return Delivery(alloc_id=alloc_id, node_id=node.id, accepted_at=now)

    def _update(self, alloc: Allocation, words: AllocSaid, now: Nanoseconds) -> AllocUpdate | None:
        """What State should hear about an allocation; None if it knows, or must not hear of it yet."""
        if alloc.is_client_terminal or not words.status:
            return None
        group = alloc.job.group(alloc.task_group)
        states = words.states(task.name for task in group.tasks) if group is not None else {}
        health = self._health(alloc, words.status, now)
        update = AllocUpdate(
            id=alloc.id, client_status=words.status, task_states=states, deployment_status=health
        )
        if words.status == CLIENT_FAILED:
            # Others of its tasks may still run: it is removed there before it is replaced elsewhere.
            self._deliverer.note_failed(update)
            return None
        is_same = words.status == alloc.client_status and encode_task_states(states) == alloc.task_states
        return None if is_same and health is None else update

    def _health(self, alloc: Allocation, status: str, now: Nanoseconds) -> AllocDeploymentStatus | None:
        """The health of an instance of a deployment, once it can be told: nobody on the node watches it."""
        if not alloc.deployment_id or (
            alloc.deployment_status is not None and alloc.deployment_status.healthy is not None
        ):
            return None
        if status == CLIENT_FAILED:
            return AllocDeploymentStatus(healthy=False, timestamp=time_text(now))
        group = alloc.job.group(alloc.task_group)
        if status != CLIENT_RUNNING or group is None or group.update is None:
            return None
        since = self._running_since.get(alloc.node_id, {}).get(alloc.id, now)
        if now - since < group.update.min_healthy_time:
            return None
        return AllocDeploymentStatus(healthy=True, timestamp=time_text(now))

    def _is_missing(self, delivery: Delivery) -> bool:
        """Whether a heartbeat that lacks an allocation was certainly sent after the node got it.

        One that was under way at that time says nothing; the next one does, and so does the first of an
        agent that has started since.
        """
        last = self.said[delivery.node_id]
        sent_at = delivery.accepted_at or self._deliverer.last_sent_at(delivery.alloc_id)
        return sent_at is not None and (last.beat_before_at > sent_at or last.registered_at > sent_at)

    async def _report(self, updates: list[AllocUpdate], lost: list[Allocation], now: Nanoseconds) -> None:
        context = self._context
        # Some may have been forgotten while others were written.
        updates = [update for update in updates if update.id in context.state.allocs]
        lost = [alloc for alloc in lost if alloc.id in context.state.allocs]
        if not (updates or lost):
            return
        texts = "the node no longer has the allocation; its agent was restarted"
        gone = [
            AllocUpdate(id=alloc.id, client_status=CLIENT_LOST, client_description=texts) for alloc in lost
        ]
        evals = evals_for_reports(context.state, tuple(updates), now=now, new_id=context.new_id)
        evals += tuple(self._evaluation(alloc, now) for alloc in {one.job_key: one for one in lost}.values())
        reports = reports_of((*updates, *gone))
        await context.committer.propose(ReportAllocs(at=now, reports=reports, evals=evals))

    def _evaluation(self, alloc: Allocation, now: Nanoseconds) -> Evaluation:
        """Have a job looked at that lost an allocation."""
        return Evaluation(
            id=EvalID(self._context.new_id()),
            namespace=alloc.namespace,
            priority=alloc.job.priority,
            type=alloc.job.type,
            triggered_by=TRIGGER_NODE_UPDATE,
            job_id=alloc.job_id,
            node_id=alloc.node_id,
            status=EVAL_PENDING,
            create_time=now,
            modify_time=now,
        )

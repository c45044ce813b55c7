"""Delivering allocations to push nodes, and having them removed.

Whatever is to be done about one allocation is done by one task at a time, from what State says: a wake-up
only means "look again". What must not be forgotten in a crash is in the log before it is done.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import msgspec
from msgspec.structs import replace

from yurt.log.errors import LogWriteFailed
from yurt.model.alloc import (
    CLIENT_COMPLETE,
    CLIENT_FAILED,
    Allocation,
    AllocDeploymentStatus,
    decode_task_states,
)
from yurt.model.client_protocol import AllocUpdate
from yurt.model.deliveries import Delivery
from yurt.model.node import Node
from yurt.model.push_nodes import endpoint_of, is_push_node
from yurt.model.simple.delivery import host_ports
from yurt.model.task_state import TASK_DEAD, TaskState
from yurt.model.times import time_text
from yurt.model.wire import AllocID, NodeID
from yurt.observe.logger import get_logger
from yurt.server.commands.nodes import evals_for_reports, reports_of
from yurt.server.context import ServerContext
from yurt.server.push.client import PushClient, Reply
from yurt.server.push.steps import Step, next_step
from yurt.state.entries import ReportAllocs
from yurt.state.simple_entries import ForgetDeliveries, RecordDeliveries

# A delivery that fails so often is given up; one of which nobody knows whether it came through gets more.
ATTEMPTS_MAX = 4
ATTEMPTS_IN_DOUBT_MAX = 8
RETRY_DELAY_S = 0.5
RETRY_DELAY_MAX_S = 5.0
RESCAN_INTERVAL_S = 5.0

logger = get_logger("push")


class _Care(msgspec.Struct):
    """What this server remembers about an allocation while it is busy with it."""

    task: asyncio.Task[None] | None = None
    attempts: int = 0
    # Whether it was sent by this server, or maybe by an earlier one, and the node has not said if it came.
    is_in_doubt: bool = True
    sent_at: int = 0
    look_again: bool = False


class Deliverer:
    """Keeps push nodes in step with State. `run` it on the leader."""

    def __init__(self, context: ServerContext, client: PushClient) -> None:
        self._context = context
        self._client = client
        self._cares: dict[AllocID, _Care] = {}
        self._waiting: dict[AllocID, NodeID] = {}
        # What nodes said about allocations that failed; State hears of it once they are gone from there.
        self._failed: dict[AllocID, AllocUpdate] = {}
        # Allocations that a node does not have, by its own word, since they were last sent there.
        self._absent: set[AllocID] = set()
        self._followed: dict[NodeID, Callable[[], None]] = {}
        self._due: dict[NodeID, None] = {}
        self._wake = asyncio.Event()
        self._tasks: asyncio.TaskGroup | None = None

    def follow(self, node_id: NodeID) -> None:
        """Look after a push node from now on."""
        if node_id not in self._followed:
            watched = [("allocs-of-node", node_id), ("deliveries-of-node", node_id)]
            self._followed[node_id] = self._context.state.watches.add(watched, lambda: self.look(node_id))
        self.look(node_id)

    def look(self, node_id: NodeID) -> None:
        """Look at a node again."""
        self._due[node_id] = None
        self._wake.set()

    def note_failed(self, update: AllocUpdate) -> None:
        """A node calls an allocation failed: have it removed, then tell State."""
        self._failed[update.id] = update

    def note_absent(self, alloc_id: AllocID) -> None:
        """A node does not have an allocation that may have been sent to it."""
        self._absent.add(alloc_id)

    def last_sent_at(self, alloc_id: AllocID) -> int | None:
        """When an allocation was last sent by this server; None while it may be on its way."""
        care = self._cares.get(alloc_id)
        if care is None:
            return 0
        return None if care.task is not None and care.attempts == 0 else care.sent_at

    async def run(self) -> None:
        """Deliver and remove until cancelled."""
        self._follow_all()
        try:
            async with asyncio.TaskGroup() as tasks:
                self._tasks = tasks
                while True:
                    await self._wait()
                    due, self._due = list(self._due), {}
                    for node_id in due:
                        self._attend_node(node_id)
        finally:
            self._tasks = None
            for cancel in self._followed.values():
                cancel()
            self._followed.clear()
            await self._client.close()

    async def _wait(self) -> None:
        try:
            async with asyncio.timeout(RESCAN_INTERVAL_S):
                await self._wake.wait()
        except TimeoutError:
            self._follow_all()
        self._wake.clear()

    def _follow_all(self) -> None:
        """Look after every push node there is, and after no other."""
        nodes = self._context.state.nodes
        for node in nodes:
            if is_push_node(node):
                self.follow(node.id)
        for node_id in [node_id for node_id in self._followed if node_id not in nodes]:
            self._followed.pop(node_id)()

    def _attend_node(self, node_id: NodeID) -> None:
        state = self._context.state
        ids = {delivery.alloc_id: None for delivery in state.deliveries.of_node(node_id)}
        ids |= {alloc.id: None for alloc in state.allocs.of_node(node_id) if not alloc.is_client_terminal}
        for alloc_id in ids:
            self._attend(alloc_id, node_id)

    def _attend(self, alloc_id: AllocID, node_id: NodeID) -> None:
        care = self._cares.get(alloc_id)
        if care is not None and care.task is not None:
            care.look_again = True
            return
        step = self._step(alloc_id, node_id)
        if step is Step.WAIT:
            self._waiting[alloc_id] = node_id
        elif step is not Step.NOTHING:
            assert self._tasks is not None
            care = self._cares.setdefault(alloc_id, _Care())
            care.task = self._tasks.create_task(
                self._care_for(alloc_id, node_id, care), name=f"push {alloc_id}"
            )

    def _step(self, alloc_id: AllocID, node_id: NodeID) -> Step:
        said_failed = alloc_id in self._failed
        return next_step(self._context.state, node_id, alloc_id, said_failed=said_failed)

    async def _care_for(self, alloc_id: AllocID, node_id: NodeID, care: _Care) -> None:
        """Do what there is to do about an allocation, one step after the other."""
        try:
            while True:
                care.look_again = False
                step = self._step(alloc_id, node_id)
                node = self._context.state.nodes.get(node_id)
                if step in (Step.NOTHING, Step.WAIT) or node is None:
                    break
                try:
                    is_done = await self._do(step, alloc_id, node, care)
                except LogWriteFailed as error:
                    logger.error("delivery.not_written", alloc_id=alloc_id, error=str(error))
                    is_done = False
                except Exception:
                    # One allocation's trouble is not the others'.
                    logger.exception("delivery.failed", alloc_id=alloc_id, node_id=node.name)
                    care.attempts += 1
                    is_done = False
                if not is_done:
                    await self._pause(care)
            if step is Step.WAIT:
                self._waiting[alloc_id] = node_id
        finally:
            care.task = None
            if alloc_id not in self._context.state.deliveries:
                self._forget_care(alloc_id)
            if care.look_again:
                self.look(node_id)

    def _forget_care(self, alloc_id: AllocID) -> None:
        self._cares.pop(alloc_id, None)
        self._failed.pop(alloc_id, None)
        self._absent.discard(alloc_id)

    async def _pause(self, care: _Care) -> None:
        delay_s = min(RETRY_DELAY_S * 2 ** max(0, care.attempts - 1), RETRY_DELAY_MAX_S)
        await self._context.clock.sleep(delay_s)

    async def _do(self, step: Step, alloc_id: AllocID, node: Node, care: _Care) -> bool:
        """Take one step; False if it has to be tried again later."""
        match step:
            case Step.BEGIN:
                await self._begin(self._context.state.allocs[alloc_id], care)
                return True
            case Step.DELIVER:
                return await self._deliver(self._context.state.allocs[alloc_id], node, care)
            case Step.REMOVE:
                return await self._remove(self._context.state.deliveries[alloc_id], node, care)
            case _:
                await self._report(self._ended(self._context.state.allocs[alloc_id]))
                return True

    # --- giving -----------------------------------------------------------------------------------

    async def _begin(self, alloc: Allocation, care: _Care) -> None:
        """Write down that a node is about to be given an allocation, before it is."""
        group = alloc.job.group(alloc.task_group)
        delivery = Delivery(
            alloc_id=alloc.id,
            node_id=alloc.node_id,
            tasks=len(group.tasks) if group is not None else 1,
            ports=host_ports(alloc),
        )
        await self._record(delivery)
        care.is_in_doubt = False

    async def _deliver(self, alloc: Allocation, node: Node, care: _Care) -> bool:
        """Send an allocation, after asking whether it is there already if that is not known."""
        endpoint = endpoint_of(node)
        if care.is_in_doubt:
            found = await self._client.find(endpoint, alloc.id)
            if found.is_ok:
                await self._accept(alloc.id, care)
                return True
            if not found.is_unknown:
                return await self._not_delivered(alloc, node, care, found)
            care.is_in_doubt = False
        # Whatever comes in between: from here on the node may have it.
        care.is_in_doubt = True
        care.sent_at = self._context.clock.now_ns()
        self._absent.discard(alloc.id)
        reply = await self._client.deliver(endpoint, alloc)
        care.sent_at = self._context.clock.now_ns()
        if reply.is_ok:
            logger.info("allocation.delivered", alloc_id=alloc.id, node_id=node.name)
            await self._accept(alloc.id, care)
            return True
        return await self._not_delivered(alloc, node, care, reply)

    async def _accept(self, alloc_id: AllocID, care: _Care) -> None:
        delivery = self._context.state.deliveries.get(alloc_id)
        care.attempts = 0
        if delivery is not None and not delivery.is_accepted:
            await self._record(replace(delivery, accepted_at=self._context.clock.now_ns()))

    async def _not_delivered(self, alloc: Allocation, node: Node, care: _Care, reply: Reply) -> bool:
        """Count a failure; after too many the allocation has failed, and is for another node."""
        care.attempts += 1
        logger.warning(
            "allocation.not_delivered",
            alloc_id=alloc.id,
            node_id=node.name,
            attempts=care.attempts,
            reason=reply.reason,
        )
        is_known_absent = reply.status != 0 or alloc.id in self._absent
        if care.attempts < (ATTEMPTS_MAX if is_known_absent else ATTEMPTS_IN_DOUBT_MAX):
            return False
        text = f"node {node.name} did not take the allocation: {reply.reason}"
        care.attempts = 0
        await self._report(
            AllocUpdate(
                id=alloc.id,
                client_status=CLIENT_FAILED,
                client_description=text,
                task_states=self._ended(alloc, failed=True).task_states,
                # Work that failed in a deployment is only replaced once somebody calls it unhealthy.
                deployment_status=AllocDeploymentStatus(
                    healthy=False, timestamp=time_text(self._context.clock.now_ns())
                )
                if alloc.deployment_id
                else None,
            )
        )
        return True

    # --- taking away ------------------------------------------------------------------------------

    async def _remove(self, delivery: Delivery, node: Node, care: _Care) -> bool:
        """Have a node stop an allocation. No answer means that it is still about it."""
        reply = await self._client.remove(endpoint_of(node), delivery.alloc_id, tasks=delivery.tasks)
        if not (reply.is_ok or reply.is_unknown):
            care.attempts += 1
            logger.warning(
                "allocation.not_removed",
                alloc_id=delivery.alloc_id,
                node_id=node.name,
                reason=reply.reason,
            )
            return False
        await self.forget(delivery.alloc_id)
        return True

    async def forget(self, alloc_id: AllocID) -> None:
        """A node no longer has an allocation: tell State how it ended, and let in who waits for that."""
        state = self._context.state
        alloc, failed = state.allocs.get(alloc_id), self._failed.get(alloc_id)
        if alloc is not None and not alloc.is_client_terminal:
            await self._report(
                failed if failed is not None and not alloc.is_server_terminal else self._ended(alloc)
            )
        now = self._context.clock.now_ns()
        await self._context.committer.propose(ForgetDeliveries(at=now, alloc_ids=(alloc_id,)))
        logger.info("allocation.removed", alloc_id=alloc_id)
        care = self._cares.get(alloc_id)
        if care is None or care.task is None:
            self._forget_care(alloc_id)
        waiting, self._waiting = self._waiting, {}
        for node_id in waiting.values():
            self.look(node_id)

    def _ended(self, alloc: Allocation, *, failed: bool = False) -> AllocUpdate:
        """An allocation whose tasks no longer run, because the servers wanted it so."""
        now = time_text(self._context.clock.now_ns())
        group = alloc.job.group(alloc.task_group)
        states = decode_task_states(alloc.task_states)
        tasks = {task.name: states.get(task.name) or TaskState() for task in (group.tasks if group else ())}
        ended = {
            name: replace(
                state, state=TASK_DEAD, failed=failed or state.failed, finished_at=state.finished_at or now
            )
            for name, state in tasks.items()
        }
        return AllocUpdate(id=alloc.id, client_status=CLIENT_COMPLETE, task_states=ended)

    # --- the log ----------------------------------------------------------------------------------

    async def _record(self, delivery: Delivery) -> None:
        now = self._context.clock.now_ns()
        await self._context.committer.propose(RecordDeliveries(at=now, deliveries=(delivery,)))

    async def _report(self, update: AllocUpdate) -> None:
        """Tell State how an allocation is, unless that was forgotten meanwhile."""
        context = self._context
        if update.id not in context.state.allocs:
            return
        now = context.clock.now_ns()
        evals = evals_for_reports(context.state, (update,), now=now, new_id=context.new_id)
        await context.committer.propose(ReportAllocs(at=now, reports=reports_of((update,)), evals=evals))

"""What node agents ask of the servers: to join, to be remembered, to get and report work."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import Callable

from msgspec.structs import replace

from yurt.model.alloc import CLIENT_FAILED, CLIENT_UNKNOWN, Allocation, encode_task_states
from yurt.model.client_protocol import (
    AllocsUpdated,
    AllocUpdate,
    ClientAlloc,
    DeregisterServices,
    Heartbeat,
    IdentitiesSigned,
    NodeAllocs,
    NodeRegistered,
    PreviousAlloc,
    RegisterNode,
    RegisterServices,
    ServicesChanged,
    ServicesFound,
    SignedIdentity,
    SignIdentities,
    SignNodeIdentity,
    UpdateAllocs,
    VariablesFound,
    WatchAllocs,
    WatchPrevious,
    WatchServices,
    WatchVariables,
)
from yurt.model.evaluation import (
    EVAL_PENDING,
    TRIGGER_ALLOC_FAILURE,
    TRIGGER_JOB_DEREGISTER,
    TRIGGER_RECONNECT,
    Evaluation,
)
from yurt.model.job import JobKey
from yurt.model.node import NODE_DISCONNECTED, NODE_DOWN, NODE_INITIALIZING, NODE_READY, Node
from yurt.model.times import SECOND_NS
from yurt.model.wire import EvalID, Nanoseconds, NodeID
from yurt.scheduler.reconcile.alloc_facts import is_expired, lost_after
from yurt.scheduler.reconcile.reschedule_delay import may_reschedule
from yurt.server import node_evals
from yurt.server.auth import Authority
from yurt.server.commands.node_checks import NodeRefused, check_node, check_node_status, check_updates
from yurt.server.commands.node_services import NodeServices
from yurt.server.commands.node_variables import NodeVariables
from yurt.server.commands.previous_allocs import PreviousAllocs
from yurt.server.context import ServerContext
from yurt.server.heartbeats import HeartbeatTimers
from yurt.server.identities import Identities
from yurt.server.peers import Peers
from yurt.state import entries
from yurt.state.state import State

# A poll never waits longer: the agent's next one shows that it is still there.
WATCH_WAIT_MAX_S = 300.0


# How long after a node fell silent it is asked again whether its work may still come back.
SILENCE_JUDGED_AGAIN_S = 10.0

# How long a node that is back may take to report on its work before it gets new work all the same.
REPORTS_AWAITED_S = 30
# It beats so often meanwhile, for a beat makes it ready.
RETURNING_BEAT_S = 1.0


class NodeCommands:
    """What node agents can ask."""

    def __init__(
        self,
        context: ServerContext,
        heartbeats: HeartbeatTimers,
        identities: Identities,
        authority: Authority,
    ) -> None:
        self._context = context
        self._identities = identities
        self._heartbeats = heartbeats
        self._services = NodeServices(context)
        self._previous = PreviousAllocs(context)
        self._peers = Peers(context)
        self._variables = NodeVariables(context, authority)

    async def register(self, request: RegisterNode) -> NodeRegistered:
        """Make a node known, or store what changed about it. Raises NodeRefused."""
        check_node(request.node)
        context = self._context
        old = context.state.nodes.get(request.node.id)
        if old is not None:
            self._check_secret(old, request.node.secret_id)
        now = context.clock.now_ns()
        node = request.node
        evals: tuple[Evaluation, ...] = ()
        if node.status == NODE_DOWN or (
            node_evals.status_change_matters("initializing", node.status)
            if old is None
            else node_evals.registration_change_matters(old, node)
        ):
            evals = node_evals.evals_for_node(context.state, node, now=now, new_id=context.new_id)
        committed = await context.committer.propose(entries.RegisterNode(at=now, node=node, evals=evals))
        return self._answer(node.id, committed.index)

    async def heartbeat(self, request: Heartbeat) -> NodeRegistered:
        """Note a sign of life; one from a node that was given up makes it ready again.

        A node that was disconnected first reports on its work. Raises NodeRefused.
        """
        check_node_status(request.status)
        context = self._context
        node = context.state.nodes.get(request.node_id)
        if node is None:
            return NodeRegistered(index=context.state.index, heartbeat_ttl=SECOND_NS, is_known=False)
        self._check_secret(node, request.secret_id)
        now = context.clock.now_ns()
        status = request.status
        if status == NODE_READY and node.status in (NODE_DISCONNECTED, NODE_INITIALIZING):
            status = _status_of_returning(context.state, node, now)
        if node.status != status:
            evals: tuple[Evaluation, ...] = ()
            if node_evals.status_change_matters(node.status, status):
                evals = node_evals.evals_for_node(context.state, node, now=now, new_id=context.new_id)
            came_back = node.status in (NODE_DOWN, NODE_DISCONNECTED) and request.status == NODE_READY
            await context.committer.propose(
                entries.SetNodeStatus(
                    at=now,
                    node_id=node.id,
                    status=status,
                    event="Node reregistered by heartbeat" if came_back else "",
                    evals=evals,
                )
            )
        return self._answer(node.id, context.state.index)

    async def watch_allocs(self, request: WatchAllocs) -> NodeAllocs:
        """Give a node its allocations, once they differ from what it knows."""
        state = self._context.state
        self._known(request.node_id, request.secret_id)
        deadline = self._context.clock.monotonic() + min(request.wait / SECOND_NS, WATCH_WAIT_MAX_S)
        changed = asyncio.Event()
        cancel = state.watches.add([("allocs-of-node", request.node_id)], changed.set)
        try:
            while True:
                answer = node_allocs(state, request)
                if answer.changed or answer.modify_indexes.keys() != request.known.keys():
                    return answer
                left = deadline - self._context.clock.monotonic()
                if left <= 0:
                    return answer
                changed.clear()
                try:
                    async with asyncio.timeout(left):
                        await changed.wait()
                except TimeoutError:
                    return node_allocs(state, request)
        finally:
            cancel()

    async def update_allocs(self, request: UpdateAllocs) -> AllocsUpdated:
        """Store what a node reports about its allocations. Raises NodeRefused."""
        check_updates(request.updates)
        context = self._context
        node = self._known(request.node_id, request.secret_id)
        if node.status in (NODE_DOWN, NODE_DISCONNECTED):
            raise NodeRefused(f"node {node.id} is {node.status}; it must be heard from before it reports")
        now = context.clock.now_ns()
        own = tuple(
            update
            for update in request.updates
            if (alloc := context.state.allocs.get(update.id)) is not None and alloc.node_id == node.id
        )
        if not own:
            return AllocsUpdated(index=context.state.index)
        evals = evals_for_reports(context.state, own, now=now, new_id=context.new_id)
        committed = await context.committer.propose(
            entries.ReportAllocs(at=now, reports=reports_of(own), evals=evals)
        )
        return AllocsUpdated(index=committed.index)

    async def register_services(self, request: RegisterServices) -> ServicesChanged:
        """Make services of a node's allocations findable. Raises NodeRefused."""
        return await self._services.register(self._known(request.node_id, request.secret_id), request)

    async def deregister_services(self, request: DeregisterServices) -> ServicesChanged:
        """Make services of a node unfindable. Raises NodeRefused."""
        return await self._services.deregister(self._known(request.node_id, request.secret_id), request)

    async def watch_services(self, request: WatchServices) -> ServicesFound:
        """Give a node the instances of services, once they differ from what it knows. Raises NodeRefused."""
        self._known(request.node_id, request.secret_id)
        return await self._services.watch(request)

    async def watch_variables(self, request: WatchVariables) -> VariablesFound:
        """Give a node variables for one of its tasks, once they differ from what it knows.

        Raises NodeRefused.
        """
        return await self._variables.watch(self._known(request.node_id, request.secret_id), request)

    async def sign_identities(self, request: SignIdentities) -> IdentitiesSigned:
        """Sign identities of a node's allocations. Raises NodeRefused."""
        return await self._identities.sign_workloads(self._known(request.node_id, request.secret_id), request)

    async def sign_node_identity(self, request: SignNodeIdentity) -> SignedIdentity:
        """Sign the identity of a node. Raises NodeRefused."""
        return await self._identities.sign_node(self._known(request.node_id, request.secret_id))

    async def watch_previous(self, request: WatchPrevious) -> PreviousAlloc:
        """Tell a node when the allocation that one of its own replaces has ended. Raises NodeRefused."""
        return await self._previous.watch(self._known(request.node_id, request.secret_id), request)

    async def declare_silent(self, node_id: NodeID) -> None:
        """Give up on a node that was not heard from in time, once none of its work may outlast that."""
        context = self._context
        node = context.state.nodes.get(node_id)
        if node is None or node.status == NODE_DOWN:
            return
        now = context.clock.now_ns()
        status = NODE_DOWN
        if node.status != NODE_INITIALIZING and _tolerates_silence(context.state, node_id, now):
            status = NODE_DISCONNECTED
            self._heartbeats.expect(node_id, now=context.clock.monotonic(), within_s=SILENCE_JUDGED_AGAIN_S)
        if status == node.status:
            return
        evals = node_evals.evals_for_node(context.state, node, now=now, new_id=context.new_id)
        await context.committer.propose(
            entries.SetNodeStatus(
                at=now, node_id=node_id, status=status, event="Node heartbeat missed", evals=evals
            )
        )

    def _answer(self, node_id: NodeID, index: int) -> NodeRegistered:
        ttl = self._heartbeats.beat(node_id, now=self._context.clock.monotonic())
        node = self._context.state.nodes.get(node_id)
        if node is not None and node.status == NODE_INITIALIZING:
            ttl = min(ttl, RETURNING_BEAT_S)
        return NodeRegistered(
            index=index, heartbeat_ttl=int(ttl * SECOND_NS), peers=self._peers.draw(node_id)
        )

    def _known(self, node_id: NodeID, secret_id: str) -> Node:
        node = self._context.state.nodes.get(node_id)
        if node is None:
            raise NodeRefused(f"node {node_id} is not registered; register it first")
        self._check_secret(node, secret_id)
        return node

    def _check_secret(self, node: Node, secret_id: str) -> None:
        if not hmac.compare_digest(node.secret_id.encode(), secret_id.encode()):
            raise NodeRefused(
                f"node {node.id} is known with another secret; it keeps its identity in its data_dir"
            )


def node_allocs(state: State, request: WatchAllocs) -> NodeAllocs:
    """A node's allocations as they are: all by number, those it does not know in whole."""
    allocs = state.allocs.of_node(request.node_id)
    return NodeAllocs(
        index=state.allocs.index,
        modify_indexes={alloc.id: alloc.alloc_modify_index for alloc in allocs},
        changed=tuple(
            client_alloc(alloc) for alloc in allocs if request.known.get(alloc.id) != alloc.alloc_modify_index
        ),
    )


def client_alloc(alloc: Allocation) -> ClientAlloc:
    """An allocation as its node needs it."""
    return ClientAlloc(
        id=alloc.id,
        name=alloc.name,
        namespace=alloc.namespace,
        node_id=alloc.node_id,
        eval_id=alloc.eval_id,
        job=alloc.job,
        task_group=alloc.task_group,
        resources=alloc.resources,
        desired_status=alloc.desired_status,
        desired_transition=alloc.desired_transition,
        client_status=alloc.client_status,
        previous_allocation=alloc.previous_allocation,
        preempted_allocations=alloc.preempted_allocations,
        deployment_id=alloc.deployment_id,
        deployment_status=alloc.deployment_status,
        create_time=alloc.create_time,
        alloc_modify_index=alloc.alloc_modify_index,
    )


def reports_of(updates: tuple[AllocUpdate, ...]) -> tuple[entries.AllocReport, ...]:
    """What nodes said, as the log keeps it."""
    return tuple(
        entries.AllocReport(
            id=update.id,
            client_status=update.client_status,
            client_description=update.client_description,
            task_states=encode_task_states(update.task_states),
            deployment_status=update.deployment_status,
            network_status=update.network_status,
        )
        for update in updates
    )


def evals_for_reports(
    state: State,
    updates: tuple[AllocUpdate, ...],
    *,
    now: Nanoseconds,
    new_id: Callable[[], str],
) -> tuple[Evaluation, ...]:
    """One evaluation for each job that must react to what a node reports."""
    triggers: dict[JobKey, tuple[Allocation, str]] = {}
    for update in updates:
        alloc = state.allocs[update.id]
        trigger = _trigger(state, alloc, update, now)
        if trigger and alloc.job_key not in triggers:
            triggers[alloc.job_key] = (alloc, trigger)
    return tuple(
        Evaluation(
            id=EvalID(new_id()),
            namespace=key.namespace,
            priority=job.priority,
            type=job.type,
            triggered_by=trigger,
            job_id=job.id,
            status=EVAL_PENDING,
            create_time=now,
            modify_time=now,
        )
        for key, (alloc, trigger) in triggers.items()
        for job in (state.jobs.get(key) or alloc.job,)
    )


def _trigger(state: State, alloc: Allocation, update: AllocUpdate, now: Nanoseconds) -> str:
    reported = replace(alloc, client_status=update.client_status)
    if not reported.is_client_terminal and alloc.client_status != CLIENT_UNKNOWN:
        return ""
    job = state.jobs.get(alloc.job_key)
    if job is None:
        return TRIGGER_JOB_DEREGISTER
    if alloc.client_status == CLIENT_UNKNOWN:
        return TRIGGER_RECONNECT
    group = job.group(alloc.task_group)
    if (
        update.client_status == CLIENT_FAILED
        # Said once; a node may repeat it before anybody has dealt with it.
        and alloc.client_status != CLIENT_FAILED
        and not alloc.followup_eval_id
        and group is not None
        # One that has used up its attempts stays failed; nobody need look at it.
        and may_reschedule(alloc, group.reschedule_policy, now)
    ):
        return TRIGGER_ALLOC_FAILURE
    return ""


def _status_of_returning(state: State, node: Node, now: Nanoseconds) -> str:
    """Whether a node that beats again is ready: once it has told what became of its work."""
    if node.status == NODE_DISCONNECTED:
        return NODE_INITIALIZING
    awaited = now < (node.status_updated_at + REPORTS_AWAITED_S) * SECOND_NS
    silent = any(alloc.client_status == CLIENT_UNKNOWN for alloc in state.allocs.of_node(node.id))
    return NODE_INITIALIZING if awaited and silent else NODE_READY


def _tolerates_silence(state: State, node_id: NodeID, now: Nanoseconds) -> bool:
    """Whether work on the node may still come back from a silence of it."""
    return any(
        lost_after(alloc) > 0 and not alloc.is_terminal and not is_expired(alloc, now)
        for alloc in state.allocs.of_node(node_id)
    )

"""What node agents ask: joining, beating, watching, reporting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from tests.server.running import SETTINGS, ScriptedNode
from tests.server.virtual_time import VirtualClock, run_virtual
from tests.state.builders import Cluster, a_group, a_job, a_node, key, node_id
from yurt.clock import Clock, SystemClock
from yurt.log import MemoryLog
from yurt.model.alloc import AllocDeploymentStatus
from yurt.model.client_protocol import AllocUpdate, Heartbeat, RegisterNode, UpdateAllocs, WatchAllocs
from yurt.model.evaluation import Evaluation
from yurt.model.job import SYSTEM
from yurt.model.node import NodeCpu, NodeMemory, NodeResources
from yurt.model.plan import StopAllocs, UpdateAlloc
from yurt.model.policies import ReschedulePolicy
from yurt.model.task_state import TaskState
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID
from yurt.server.commands.node_checks import AMOUNT_MAX, NodeRefused, check_node, check_updates
from yurt.server.commands.nodes import RETURNING_BEAT_S
from yurt.server.server import Server
from yurt.state.entries import DeregisterJob, SetNodeStatus
from yurt.state.state import State

RESCHEDULES = ReschedulePolicy(unlimited=True)


async def _server(state: State, clock: Clock | None = None) -> Server:
    """A server that answers, and does nothing by itself."""
    log = MemoryLog()
    await log.reset(state.index + 1)
    return Server(SETTINGS, log, state, clock or SystemClock(), Random(1))


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    server = await _server(State())
    yield server
    await server.close()


def _evals(server: Server) -> list[Evaluation]:
    return server.state.evals.rows()


async def test_a_node_joins_and_hears_when_to_beat(server: Server) -> None:
    answer = await ScriptedNode(server).join()
    assert answer.index == 1
    assert answer.heartbeat_ttl == SETTINGS.min_heartbeat_ttl_s * 1e9
    assert answer.is_known
    assert server.state.nodes[node_id(1)].name == "n1"


async def test_system_jobs_hear_of_a_new_node(server: Server) -> None:
    await server.jobs.register(a_job(type=SYSTEM))
    await ScriptedNode(server).join()
    assert [one.triggered_by for one in _evals(server)] == ["job-register", "node-update"]
    await ScriptedNode(server).join()
    assert len(_evals(server)) == 2, "the same once more concerns nobody"
    await ScriptedNode(server, meta={"rack": "r2"}).join()
    assert len(_evals(server)) == 3


@pytest.mark.parametrize("call", ["join", "beat", "look", "report"])
async def test_another_secret_is_refused(server: Server, call: str) -> None:
    await ScriptedNode(server).join()
    stranger = ScriptedNode(server, secret_id="guessed")
    with pytest.raises(NodeRefused, match="another secret"):
        await (stranger.report("a1", "running") if call == "report" else getattr(stranger, call)())


async def test_an_unknown_node_is_told_to_register(server: Server) -> None:
    stranger = ScriptedNode(server)
    assert not (await stranger.beat()).is_known
    for call in (stranger.look(), stranger.report("a1", "running")):
        with pytest.raises(NodeRefused, match="not registered"):
            await call


@pytest.mark.parametrize("given_up", ["down", "initializing"])
async def test_a_beat_makes_a_node_ready(server: Server, given_up: str) -> None:
    node = ScriptedNode(server, status=given_up)
    await node.join()
    await server.jobs.register(a_job(type=SYSTEM))
    await node.beat()
    stored = server.state.nodes[node_id(1)]
    assert stored.status == "ready"
    assert stored.events is not None
    assert (stored.events[-1].message == "Node reregistered by heartbeat") is (given_up == "down")
    assert _evals(server)[-1].triggered_by == "node-update"
    index = server.state.index
    await node.beat()
    assert server.state.index == index, "a beat that changes nothing is not written"


async def test_a_node_that_was_disconnected_reports_before_it_is_ready() -> None:
    cluster = _working()
    cluster.commit(updates=(UpdateAlloc(id=AllocID("a1"), client_status="unknown"),))
    cluster.apply(SetNodeStatus(at=1, node_id=node_id(1), status="disconnected"))
    server = await _server(cluster.state)
    node = ScriptedNode(server)
    for _ in range(2):
        answer = await node.beat()
        assert server.state.nodes[node_id(1)].status == "initializing"
        assert answer.heartbeat_ttl <= RETURNING_BEAT_S * SECOND_NS, "so that it is ready soon"
    await node.report("a1", "running")
    await node.beat()
    assert server.state.nodes[node_id(1)].status == "ready"


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"id": ""}, "id and a secret_id"),
        ({"secret_id": ""}, "id and a secret_id"),
        ({"status": "bored"}, "'bored' is no status of a node"),
        ({"node_resources": NodeResources(cpu=NodeCpu(cpu_shares=-1))}, "cpu_shares = -1"),
        ({"node_resources": NodeResources(memory=NodeMemory(memory_mb=AMOUNT_MAX + 1))}, "memory_mb"),
        ({"countables": {"tokens": 1 << 63}}, "tokens"),
        ({"node_max_allocs": -5}, "node_max_allocs"),
    ],
)
async def test_a_node_that_makes_no_sense_is_refused(
    server: Server, changes: dict[str, Any], text: str
) -> None:
    with pytest.raises(NodeRefused, match=text):
        await server.nodes.register(RegisterNode(node=replace(a_node(), **changes)))
    assert server.state.index == 0


async def test_a_beat_with_an_unknown_status_is_refused(server: Server) -> None:
    await ScriptedNode(server).join()
    beat = Heartbeat(node_id=node_id(1), secret_id="secret-1", status="bored")
    with pytest.raises(NodeRefused, match="no status of a node"):
        await server.nodes.heartbeat(beat)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"client_status": "bored"}, "'bored'"),
        ({"client_status": ""}, "''"),
        ({"deployment_status": AllocDeploymentStatus(timestamp="yesterday")}, "bad deployment status time"),
        ({"deployment_status": AllocDeploymentStatus(timestamp="9999-01-01T00:00:00Z")}, "1678 and 2262"),
        ({"task_states": {"t": TaskState(finished_at="2024-01-01")}}, "bad finished_at"),
    ],
)
def test_a_report_that_makes_no_sense_is_refused(changes: dict[str, Any], text: str) -> None:
    update = AllocUpdate(**{"id": AllocID("a1"), "client_status": "running", **changes})
    with pytest.raises(NodeRefused, match=f"allocation a1 is reported .*{text}"):
        check_updates((update,))


def test_what_real_nodes_say_is_taken() -> None:
    check_node(a_node())
    states = {"t": TaskState(started_at="2024-01-01T10:00:00.123456789Z", finished_at=None)}
    check_updates((AllocUpdate(id=AllocID("a1"), client_status="failed", task_states=states),))


def _working(**group: Any) -> Cluster:
    """Node 1 with a running allocation `a1` of the job `web`, node 2 with `b1`."""
    cluster = Cluster()
    job = cluster.add_job(a_job("web", a_group(**group)))
    for alloc_id, number in (("a1", 1), ("b1", 2)):
        cluster.place(job, alloc_id, node=cluster.add_node(a_node(number)))
        cluster.report(alloc_id)
    return cluster


async def test_a_node_reports_on_its_own_allocations_only() -> None:
    server = await _server(_working().state)
    index = server.state.index
    assert await ScriptedNode(server, 1).report("b1", "failed") == index
    assert await ScriptedNode(server, 1).report("unknown", "failed") == index
    assert server.state.index == index


@pytest.mark.parametrize(
    ("stored", "reported", "group", "trigger"),
    [
        pytest.param("running", "failed", {"reschedule_policy": RESCHEDULES}, "alloc-failure", id="failed"),
        pytest.param("running", "failed", {}, "", id="no policy"),
        pytest.param("running", "failed", {"reschedule_policy": ReschedulePolicy()}, "", id="no attempts"),
        pytest.param("running", "complete", {"reschedule_policy": RESCHEDULES}, "", id="complete"),
        pytest.param("running", "running", {"reschedule_policy": RESCHEDULES}, "", id="still running"),
        pytest.param("unknown", "running", {}, "reconnect", id="back"),
        pytest.param("unknown", "failed", {"reschedule_policy": RESCHEDULES}, "reconnect", id="back, failed"),
    ],
)
async def test_reports_call_for_evaluations(
    stored: str, reported: str, group: dict[str, Any], trigger: str
) -> None:
    cluster = _working(**group)
    if stored == "unknown":
        cluster.commit(updates=(UpdateAlloc(id=AllocID("a1"), client_status="unknown"),))
    server = await _server(cluster.state)
    await ScriptedNode(server, 1).report("a1", reported)
    assert [one.triggered_by for one in _evals(server)] == ([trigger] if trigger else [])


async def test_a_failure_with_a_follow_up_on_its_way_calls_for_none() -> None:
    cluster = _working(reschedule_policy=RESCHEDULES)
    cluster.commit(updates=(UpdateAlloc(id=AllocID("a1"), followup_eval_id="later"),))
    server = await _server(cluster.state)
    await ScriptedNode(server, 1).report("a1", "failed")
    assert _evals(server) == []


async def test_a_job_is_evaluated_once_for_many_failures() -> None:
    cluster = _working(reschedule_policy=RESCHEDULES)
    cluster.place(cluster.state.jobs[key()], "a2", node=cluster.state.nodes[node_id(1)])
    server = await _server(cluster.state)
    failures = tuple(AllocUpdate(id=AllocID(name), client_status="failed") for name in ("a1", "a2"))
    await server.nodes.update_allocs(UpdateAllocs(node_id=node_id(1), secret_id="secret-1", updates=failures))
    assert len(_evals(server)) == 1


async def test_a_watch_answers_at_once_with_what_is_new() -> None:
    server = await _server(_working().state)
    node = ScriptedNode(server, 1)
    (alloc,) = await node.look(wait_s=60)
    assert (alloc.id, alloc.name, alloc.node_id) == ("a1", "web.g[0]", node_id(1))
    assert alloc.job.id == "web"
    assert await node.look() == []


def test_a_watch_is_woken_by_its_own_allocations_only() -> None:
    async def scenario() -> None:
        cluster = _working()
        server = await _server(cluster.state, VirtualClock())
        node = ScriptedNode(server, 1)
        await node.look()
        looking = asyncio.ensure_future(node.look(wait_s=60))
        await asyncio.sleep(1)
        cluster.stop("b1")
        cluster.state.watches.flush()
        await asyncio.sleep(1)
        assert not looking.done()
        cluster.commit(stops=(StopAllocs(ids=[AllocID("a1")], description="enough"),))
        cluster.state.watches.flush()
        (alloc,) = await looking
        assert alloc.desired_status == "stop"
        assert server.clock.monotonic() == pytest.approx(2)

    run_virtual(scenario())


def test_a_watch_ends_when_its_time_is_up_or_an_allocation_is_gone() -> None:
    async def scenario() -> None:
        cluster = _working()
        server = await _server(cluster.state, VirtualClock())
        node = ScriptedNode(server, 1)
        await node.look()
        assert await node.look(wait_s=60) == []
        assert server.clock.monotonic() == pytest.approx(60)
        looking = asyncio.ensure_future(node.look(wait_s=60))
        await asyncio.sleep(1)
        cluster.apply(DeregisterJob(at=cluster.now, namespace="default", job_id="web", purge=True))
        cluster.state.watches.flush()
        assert await looking == []
        assert node.allocs == {}
        assert server.clock.monotonic() == pytest.approx(61)

    run_virtual(scenario())


def test_a_report_does_not_wake_the_node_that_made_it() -> None:
    async def scenario() -> None:
        cluster = _working()
        server = await _server(cluster.state, VirtualClock())
        node = ScriptedNode(server, 1)
        await node.look()
        looking = asyncio.ensure_future(node.look(wait_s=60))
        await asyncio.sleep(1)
        await node.report("a1", "complete")
        assert await looking == []
        assert server.clock.monotonic() == pytest.approx(60)

    run_virtual(scenario())


def test_no_watch_waits_for_ever() -> None:
    async def scenario() -> None:
        server = await _server(_working().state, VirtualClock())
        await server.nodes.watch_allocs(
            WatchAllocs(
                node_id=node_id(1),
                secret_id="secret-1",
                min_index=0,
                wait=10**18,
                known={AllocID("a1"): server.state.allocs[AllocID("a1")].alloc_modify_index},
            )
        )
        assert server.clock.monotonic() == pytest.approx(300)

    run_virtual(scenario())

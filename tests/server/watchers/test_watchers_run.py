"""Watchers at work in a whole server: deployments come to their end, drained nodes become empty."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from tests.server.running import ScriptedNode, a_server, placed, register, until
from tests.server.virtual_time import run_virtual
from tests.state.builders import a_group, a_job, key
from yurt.model.job import BATCH
from yurt.model.node import DrainStrategy
from yurt.model.policies import MigrateStrategy, UpdateStrategy
from yurt.model.times import HOUR_NS, MINUTE_NS
from yurt.server.commands.deployments import DeploymentCommands
from yurt.server.server import Server
from yurt.server.settings import GC_INTERVAL_S
from yurt.state import entries

UPDATE = UpdateStrategy(max_parallel=1, progress_deadline=10 * MINUTE_NS)


async def serve(node: ScriptedNode) -> None:
    """Run whatever the node is given, healthy, until cancelled."""
    while True:
        for alloc in await node.look(wait_s=60):
            if alloc.desired_status != "run":
                await node.report(alloc.id, "complete")
            elif alloc.client_status == "pending":
                await node.report(alloc.id, "running", healthy=True)


async def with_nodes(server: Server, count: int, story: Callable[[Server], Awaitable[None]]) -> None:
    """Let nodes serve while something happens."""
    nodes = [ScriptedNode(server, number + 1) for number in range(count)]
    async with asyncio.TaskGroup() as tasks:
        serving = []
        for node in nodes:
            await node.join()
            serving.append(tasks.create_task(serve(node)))
        await story(server)
        for one in serving:
            one.cancel()


def test_a_rolling_update_comes_to_its_end() -> None:
    async def story(server: Server) -> None:
        group = a_group(count=3, update=UPDATE)
        job = await register(server, a_job("web", group))
        await until(server, lambda state: state.jobs[key()].stable)
        (task,) = group.tasks
        changed = replace(group, tasks=(replace(task, env={"V": "2"}),))
        await register(server, replace(job, task_groups=(changed,)))
        await until(server, lambda state: state.jobs[key()].version == 1 and state.jobs[key()].stable)
        running = [server.state.allocs[alloc_id].job.version for alloc_id in placed(server.state)]
        assert running == [1, 1, 1]
        statuses = [deployment.status for deployment in server.state.deployments]
        assert statuses == ["successful", "successful"]

    async def scenario() -> None:
        async with a_server() as server:
            await with_nodes(server, 2, story)

    run_virtual(scenario())


def test_an_operator_promotes_canaries() -> None:
    async def story(server: Server) -> None:
        group = a_group(count=2, update=replace(UPDATE, canary=1))
        job = await register(server, a_job("web", group))
        await until(server, lambda state: state.jobs[key()].stable)
        (task,) = group.tasks
        await register(
            server, replace(job, task_groups=(replace(group, tasks=(replace(task, env={"V": "2"}),)),))
        )
        await until(server, lambda state: state.deployments.rows()[-1].task_groups["g"].healthy_allocs == 1)
        deployment = server.state.deployments.rows()[-1]
        assert deployment.job_version == 1
        assert len(placed(server.state)) == 3
        commands = DeploymentCommands(server.context)
        await commands.promote(deployment.id, None)
        await until(server, lambda state: state.jobs[key()].stable)
        assert len(placed(server.state)) == 2

    async def scenario() -> None:
        async with a_server() as server:
            await with_nodes(server, 2, story)

    run_virtual(scenario())


def test_a_drained_node_becomes_empty() -> None:
    async def story(server: Server) -> None:
        await register(server, a_job("web", a_group(count=4, migrate=MigrateStrategy(max_parallel=1))))
        await until(server, lambda state: len(placed(state)) == 4)
        node_id = server.state.allocs.rows()[0].node_id
        await server.committer.propose(
            entries.SetNodeDrain(
                at=server.clock.now_ns(), node_id=node_id, drain=DrainStrategy(deadline=HOUR_NS)
            )
        )
        await until(server, lambda state: state.nodes[node_id].drain_strategy is None)
        assert all(alloc.is_client_terminal for alloc in server.state.allocs.of_node(node_id))
        await until(server, lambda state: len(placed(state)) == 4)

    async def scenario() -> None:
        async with a_server() as server:
            await with_nodes(server, 2, story)

    run_virtual(scenario())


def test_a_finished_job_is_forgotten_in_time() -> None:
    async def scenario() -> None:
        async with a_server() as server:
            node = ScriptedNode(server)
            await node.join()
            async with node.beating():
                await register(server, a_job("web", type=BATCH))
                await until(server, lambda state: len(placed(state)) == 1)
                await node.look()
                await node.report(placed(server.state)[0], "complete")
                await asyncio.sleep(4 * 3600 + 2 * GC_INTERVAL_S)
                assert key() not in server.state.jobs
                assert not server.state.allocs.rows()
                assert not server.state.evals.of_job(key())

    run_virtual(scenario())

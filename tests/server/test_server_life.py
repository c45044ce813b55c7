"""A whole server, with nodes that follow a script, in virtual time."""

from __future__ import annotations

import asyncio

import pytest

from tests.server.logs import FailingLog
from tests.server.running import ScriptedNode, a_server, placed, register, until
from tests.server.virtual_time import run_virtual
from tests.state.builders import a_group, a_job, key
from tests.state.comparing import assert_counts_agree
from yurt.log import LogWriteFailed
from yurt.model.group import TaskGroup
from yurt.model.job import BATCH
from yurt.model.job_summary import TaskGroupSummary
from yurt.model.policies import DisconnectStrategy
from yurt.model.resources import Resources
from yurt.model.task import Task
from yurt.model.times import MINUTE_NS, SECOND_NS
from yurt.model.wire import EvalID
from yurt.scheduler.schedule import FOLLOW_UP_WAIT_MIN_S
from yurt.server.broker import DELIVERY_LIMIT
from yurt.server.commands.node_checks import NodeRefused


def _a_big_group(cpu: int) -> TaskGroup:
    task = Task(name="t", driver="raw_exec", resources=Resources(cpu=cpu, memory_mb=256))
    return a_group("g", tasks=(task,))


def test_a_batch_job_from_its_registration_to_its_end() -> None:
    async def scenario() -> None:
        async with a_server() as server:
            node = ScriptedNode(server)
            await node.join()
            done = await server.jobs.register(a_job("web", a_group(count=3), type=BATCH))
            looking = asyncio.ensure_future(node.look(wait_s=60))
            await until(server, lambda state: len(placed(state)) == 3)
            assert len(await looking) == 3
            await until(server, lambda state: state.evals[EvalID(done.eval_id)].status == "complete")
            assert server.state.jobs[key()].status == "running"
            for alloc_id in node.allocs:
                await node.report(alloc_id, "running")
            summary = server.state.job_summaries[key()].summary["g"]
            assert summary == TaskGroupSummary(running=3)
            for alloc_id in node.allocs:
                index = await node.report(alloc_id, "complete")
            assert index == server.state.index == server.log.last_index
            assert server.state.jobs[key()].status == "dead"
            assert_counts_agree(server.state)

    run_virtual(scenario())


def test_a_stopped_job_is_stopped_on_its_node() -> None:
    async def scenario() -> None:
        async with a_server() as server:
            node = ScriptedNode(server)
            await node.join()
            await register(server, a_job("web", a_group(count=2)))
            await until(server, lambda state: len(placed(state)) == 2)
            await node.look()
            await server.jobs.deregister(key())
            changed = await node.look(wait_s=60)
            assert [alloc.desired_status for alloc in changed] == ["stop", "stop"]
            await server.jobs.deregister(key(), purge=True)
            await node.look(wait_s=60)
            assert node.allocs == {}
            assert key() not in server.state.jobs

    run_virtual(scenario())


def test_work_that_fits_nowhere_waits_for_room() -> None:
    async def scenario() -> None:
        async with a_server() as server:
            small = ScriptedNode(server)
            await small.join()
            await register(server, a_job("first", _a_big_group(3000), type=BATCH))
            await until(server, lambda state: placed(state, "first"))
            await register(server, a_job("second", _a_big_group(3000)))
            await until(server, lambda state: state.evals.blocked_of_job(key("second")))
            assert server.state.jobs[key("second")].status == "pending"
            assert server.state.job_summaries[key("second")].summary["g"].queued == 1
            (first,) = placed(server.state, "first")
            await small.report(first, "complete")
            await until(server, lambda state: placed(state, "second"))
            await until(server, lambda state: not state.evals.blocked_of_job(key("second")))

    run_virtual(scenario())


def test_a_new_node_takes_what_waited() -> None:
    async def scenario() -> None:
        async with a_server() as server:
            await register(server, a_job())
            await until(server, lambda state: state.evals.blocked_of_job(key()))
            await ScriptedNode(server).join()
            await until(server, placed)

    run_virtual(scenario())


def test_a_silent_nodes_work_moves_to_another() -> None:
    async def scenario() -> None:
        async with a_server() as server:
            silent, other = ScriptedNode(server, 1), ScriptedNode(server, 2)
            await silent.join()
            await register(server, a_job())
            await until(server, placed)
            (lost,) = placed(server.state)
            await other.join()
            async with other.beating():
                await until(server, lambda state: state.allocs[lost].client_status == "lost")
                node = server.state.nodes[silent.node.id]
                assert node.status == "down"
                assert node.events is not None
                assert node.events[-1].message == "Node heartbeat missed"
                await until(server, placed)
                (moved,) = placed(server.state)
                assert server.state.allocs[moved].node_id == other.node.id
                with pytest.raises(NodeRefused, match="must be heard from"):
                    await silent.report(lost, "running")
                await silent.beat()
                assert server.state.nodes[silent.node.id].status == "ready"

    run_virtual(scenario())


def test_a_disconnected_node_goes_down_once_its_work_is_given_up() -> None:
    async def scenario() -> None:
        async with a_server() as server:
            node = ScriptedNode(server)
            await node.join()
            patient = a_group(disconnect=DisconnectStrategy(lost_after=5 * MINUTE_NS))
            await register(server, a_job("web", patient))
            await until(server, placed)
            (alloc_id,) = placed(server.state)
            await node.report(alloc_id, "running")
            await until(server, lambda state: state.nodes[node.node.id].status == "disconnected")
            began = server.clock.monotonic()
            await until(server, lambda state: state.nodes[node.node.id].status == "down")
            assert server.clock.monotonic() - began > 5 * MINUTE_NS / SECOND_NS - 1

    run_virtual(scenario())


def test_what_cannot_be_written_is_refused_and_changes_nothing() -> None:
    async def scenario() -> None:
        log = FailingLog()
        async with a_server(log) as server:
            node = ScriptedNode(server)
            await node.join()
            before = server.state.index
            log.fails = True
            with pytest.raises(LogWriteFailed, match="disk full"):
                await server.jobs.register(a_job())
            with pytest.raises(LogWriteFailed):
                await ScriptedNode(server, 2).join()
            assert (server.state.index, len(server.state.jobs), len(server.state.nodes)) == (before, 0, 1)
            log.fails = False
            await register(server, a_job())
            await until(server, placed)

    run_virtual(scenario())


def test_work_resumes_when_writes_succeed_again() -> None:
    async def scenario() -> None:
        log = FailingLog()
        async with a_server(log) as server:
            node = ScriptedNode(server)
            await node.join()
            async with node.beating():
                log.appends_left = 1
                await register(server, a_job())
                index = server.state.index
                await asyncio.sleep(10)
                assert log.refused > 1
                assert server.state.index == index
                assert placed(server.state) == []
                log.appends_left, log.fails = None, False
                await until(server, placed, patience_s=60)

    run_virtual(scenario())


def test_a_silent_node_is_given_up_when_writes_succeed_again() -> None:
    async def scenario() -> None:
        log = FailingLog()
        async with a_server(log) as server:
            node = ScriptedNode(server)
            await node.join()
            log.fails = True
            await asyncio.sleep(60)
            assert server.state.nodes[node.node.id].status == "ready"
            log.fails = False
            await until(server, lambda state: state.nodes[node.node.id].status == "down", patience_s=5)

    run_virtual(scenario())


def test_an_evaluation_that_nobody_can_schedule_fails_and_is_followed_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    attempts = 0

    def broken(*_arguments: object, **_more: object) -> None:
        nonlocal attempts
        attempts += 1
        raise RuntimeError("a bug")

    async def scenario() -> None:
        async with a_server() as server:
            monkeypatch.setattr("yurt.server.worker.schedule", broken)
            done = await server.jobs.register(a_job())
            other = await server.jobs.register(a_job("other"))
            eval_id = EvalID(done.eval_id)
            await until(server, lambda state: state.evals[eval_id].status == "failed")
            failed = server.state.evals[eval_id]
            assert failed.status_description == f"evaluation reached delivery limit ({DELIVERY_LIMIT})"
            later = server.state.evals[EvalID(failed.next_eval)]
            assert (later.triggered_by, later.previous_eval) == ("failed-follow-up", failed.id)
            assert later.wait >= FOLLOW_UP_WAIT_MIN_S * SECOND_NS
            await until(server, lambda state: state.evals[EvalID(other.eval_id)].status == "failed")
            assert attempts == 2 * DELIVERY_LIMIT
            monkeypatch.undo()
            node = ScriptedNode(server)
            await node.join()
            async with node.beating():
                await until(server, placed)

    run_virtual(scenario())


def test_evaluations_that_newer_ones_made_needless_are_cancelled() -> None:
    async def scenario() -> None:
        async with a_server() as server:
            await ScriptedNode(server).join()
            # All within one turn of the loop: the first is taken, the others wait for it.
            evals = await asyncio.gather(
                *(server.jobs.register(a_job(priority=priority)) for priority in (10, 20, 30, 40))
            )
            await until(server, lambda state: not state.evals.has_open(key()))
            statuses = [server.state.evals[EvalID(one.eval_id)].status for one in evals]
            assert statuses[-1] == "complete"
            assert "canceled" in statuses
            (cancelled, *_) = [one for one in server.state.evals if one.status == "canceled"]
            assert cancelled.status_description == "canceled after more recent eval was processed"
            assert len(placed(server.state)) == 1

    run_virtual(scenario())


def test_a_job_that_blocks_twice_keeps_one_blocked_evaluation() -> None:
    async def scenario() -> None:
        async with a_server() as server:
            await register(server, a_job())
            await until(server, lambda state: state.evals.blocked_of_job(key()))
            await server.jobs.evaluate(key())
            await until(server, lambda state: any(one.status == "canceled" for one in state.evals))
            assert len(server.state.evals.blocked_of_job(key())) == 1
            (cancelled,) = [one for one in server.state.evals if one.status == "canceled"]
            assert cancelled.status_description == 'existing blocked evaluation exists for job "web"'

    run_virtual(scenario())

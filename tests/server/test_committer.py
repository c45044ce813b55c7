"""Committing: durable first, in order, all or nothing."""

from __future__ import annotations

import asyncio

import pytest

from tests.server.logs import FailingLog
from tests.state.builders import a_job, a_node, an_eval, key, node_id
from yurt.log import LogBusy, LogWriteFailed
from yurt.server.committer import Committer, StateReplaced
from yurt.state.apply_jobs import JobOutcome
from yurt.state.entries import RegisterJob, RegisterNode, UpsertEvals, decode_entry
from yurt.state.state import News, State


def _job(job_id: str) -> RegisterJob:
    return RegisterJob(at=1, job=a_job(job_id))


async def test_an_entry_is_durable_and_applied_when_it_is_answered() -> None:
    log = FailingLog()
    committer = Committer(State(), log)
    committed = await committer.propose(_job("web"))
    assert committed.index == log.last_index == committer.state.index == 1
    assert isinstance(committed.outcome, JobOutcome)
    assert committed.outcome.job is committer.state.jobs[key()]
    ((_, encoded),) = log.read(1)
    assert decode_entry(encoded) == _job("web")


async def test_entries_of_one_proposal_follow_each_other() -> None:
    committer = Committer(State(), FailingLog())
    committed = await committer.propose(_job("a"), _job("b"), UpsertEvals(at=1, evals=(an_eval("e1", "b"),)))
    assert committed.index == 3
    assert len(committed.outcomes) == 3
    assert committer.state.jobs[key("b")].create_index == 2


async def test_proposals_are_applied_in_the_order_they_were_made() -> None:
    committer = Committer(State(), FailingLog())
    done = await asyncio.gather(*(committer.propose(_job(f"j{number}")) for number in range(20)))
    assert [one.index for one in done] == list(range(1, 21))
    assert [job.id for job in committer.state.jobs] == [f"j{number}" for number in range(20)]


@pytest.mark.parametrize("fault", ["fails", "is_busy"])
async def test_a_failure_changes_nothing_and_what_comes_after_works(fault: str) -> None:
    log = FailingLog()
    committer = Committer(State(), log)
    heard: list[News] = []
    committer.listen(heard.append)
    setattr(log, fault, True)
    with pytest.raises(LogWriteFailed if fault == "fails" else LogBusy):
        await committer.propose(_job("web"))
    assert (committer.state.index, len(committer.state.jobs), heard) == (0, 0, [])
    setattr(log, fault, False)
    assert (await committer.propose(_job("web"))).index == 1
    async with asyncio.timeout(1), committer.standstill():
        pass


async def test_listeners_hear_the_news_before_watchers_wake() -> None:
    committer = Committer(State(), FailingLog())
    order: list[str] = []
    committer.listen(lambda news: order.append(f"{len(news.evals)} evals, {len(news.ready_nodes)} nodes"))
    committer.state.watches.add([("jobs", None), ("nodes", None)], lambda: order.append("woken"))
    await committer.propose(
        RegisterJob(at=1, job=a_job(), evals=(an_eval("e1"),)), RegisterNode(at=1, node=a_node())
    )
    assert order == ["1 evals, 1 nodes", "woken"]


async def test_who_is_cancelled_only_loses_the_answer() -> None:
    committer = Committer(State(), FailingLog())
    proposal = asyncio.ensure_future(committer.propose(_job("web")))
    await asyncio.sleep(0)
    proposal.cancel()
    with pytest.raises(asyncio.CancelledError):
        await proposal
    await committer.propose(_job("other"))
    assert key() in committer.state.jobs


async def test_a_cancelled_proposal_that_fails_complains_to_nobody() -> None:
    log = FailingLog()
    committer = Committer(State(), log)
    log.fails = True
    proposal = asyncio.ensure_future(committer.propose(_job("web")))
    await asyncio.sleep(0)
    proposal.cancel()
    with pytest.raises(asyncio.CancelledError):
        await proposal
    log.fails = False
    await committer.propose(_job("other"))
    assert key() not in committer.state.jobs


async def test_a_standstill_waits_for_what_is_under_way_and_holds_back_the_rest() -> None:
    committer = Committer(State(), FailingLog())
    early = asyncio.ensure_future(committer.propose(_job("early")))
    await asyncio.sleep(0)
    async with committer.standstill():
        assert key("early") in committer.state.jobs
        late = asyncio.ensure_future(committer.propose(_job("late")))
        for _ in range(5):
            await asyncio.sleep(0)
        assert key("late") not in committer.state.jobs
    assert (await early).index == 1
    assert (await late).index == 2


async def test_nothing_slips_between_two_standstills() -> None:
    committer = Committer(State(), FailingLog())
    indexes: list[int] = []

    async def hold() -> None:
        async with committer.standstill():
            indexes.append(committer.state.index)
            for _ in range(5):
                await asyncio.sleep(0)
            indexes.append(committer.state.index)

    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(hold())
        tasks.create_task(hold())
        await asyncio.sleep(0)
        tasks.create_task(committer.propose(_job("between")))
    assert indexes[:2] == [0, 0]
    assert indexes[2] == indexes[3], "State changed during a standstill"


async def test_a_cancelled_standstill_opens_the_door_again() -> None:
    committer = Committer(State(), FailingLog())

    async def hold() -> None:
        async with committer.standstill():
            await asyncio.Event().wait()

    holding = asyncio.ensure_future(hold())
    await asyncio.sleep(0)
    holding.cancel()
    with pytest.raises(asyncio.CancelledError):
        await holding
    async with asyncio.timeout(1):
        await committer.propose(_job("web"))


async def test_what_was_made_from_a_replaced_state_is_refused() -> None:
    log = FailingLog()
    committer = Committer(State(), log)
    async with committer.standstill():
        stale = asyncio.ensure_future(committer.propose(_job("stale")))
        await asyncio.sleep(0)
        other = State()
        other.nodes.put(node_id(1), a_node(), 1)
        committer.replace_state(other)
    with pytest.raises(StateReplaced, match="retry"):
        await stale
    assert len(committer.state.nodes) == 1
    await committer.propose(_job("fresh"))
    assert [job.id for job in committer.state.jobs] == ["fresh"]

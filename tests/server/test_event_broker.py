"""Following events: where a follower starts, and what it gets."""

from __future__ import annotations

import asyncio
from random import Random

from yurt.clock import SystemClock
from yurt.log.memory import MemoryLog
from yurt.model.namespace import Namespace
from yurt.model.node_pool import NodePool
from yurt.server.committer import Committer
from yurt.server.context import ServerContext
from yurt.server.event_broker import EventBroker
from yurt.state.entries import DeleteNodePools, UpsertNamespaces, UpsertNodePools
from yurt.state.journal import Changed
from yurt.state.state import State


class Followed:
    """A State, changed by the number of pools that are made, and its broker."""

    def __init__(self, kept: int = 100) -> None:
        self.context = ServerContext(
            Committer(State(), MemoryLog()), SystemClock(), Random(1), region="global"
        )
        self.broker = EventBroker(self.context, kept)

    async def make(self, *names: str) -> None:
        for name in names:
            pools = (NodePool(name=name),)
            await self.context.committer.propose(UpsertNodePools(at=1, node_pools=pools))

    async def told(self, from_index: int, count: int) -> list[Changed]:
        follower = self.broker.follow(from_index)
        async with asyncio.timeout(5):
            return [await anext(follower) for _ in range(count)]


def names(batches: list[Changed]) -> list[object]:
    return [key for batch in batches for key in batch.tables["node-pools"]]


async def test_a_follower_starts_where_it_says() -> None:
    followed = Followed()
    await followed.make("a", "b", "c")
    assert names(await followed.told(0, 3)) == ["a", "b", "c"]
    assert names(await followed.told(2, 2)) == ["b", "c"]


async def test_an_index_that_is_gone_starts_with_the_oldest_that_is_kept() -> None:
    followed = Followed(kept=2)
    await followed.make("a", "b", "c")
    assert names(await followed.told(1, 2)) == ["b", "c"]


async def test_an_index_still_to_come_starts_with_the_newest() -> None:
    followed = Followed()
    await followed.make("a", "b")
    assert names(await followed.told(99, 1)) == ["b"]


async def test_a_follower_gets_what_comes_later() -> None:
    followed = Followed()
    await followed.make("a")
    waiting = asyncio.ensure_future(followed.told(1, 2))
    await asyncio.sleep(0)
    await followed.make("b")
    assert names(await waiting) == ["a", "b"]


async def test_a_slow_follower_misses_what_no_longer_fits() -> None:
    followed = Followed(kept=2)
    await followed.make("a")
    follower = followed.broker.follow(0)
    first = await anext(follower)
    await followed.make("b", "c", "d")
    assert names([first, await anext(follower), await anext(follower)]) == ["a", "c", "d"]


async def test_each_entry_of_one_append_is_told_apart_and_what_is_deleted_is_shown() -> None:
    followed = Followed()
    await followed.context.committer.propose(
        UpsertNodePools(at=1, node_pools=(NodePool(name="a"),)),
        UpsertNamespaces(at=1, namespaces=(Namespace(name="team"),)),
        DeleteNodePools(at=1, names=("a",)),
    )
    made, named, deleted = await followed.told(0, 3)
    assert [batch.kind for batch in (made, named, deleted)] == [
        "UpsertNodePools",
        "UpsertNamespaces",
        "DeleteNodePools",
    ]
    assert [batch.index for batch in (made, named, deleted)] == [1, 2, 3]
    gone = deleted.tables["node-pools"]["a"]
    assert gone.is_deleted
    assert gone.row.name == "a"

"""A node joins, runs what it is given, reports it, and tidies up."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random

import msgspec
import pytest

from tests.agent.alloc_harness import destroy_all
from tests.agent.builders import a_job, a_task, an_alloc
from tests.agent.fake_servers import FakeServers
from tests.agent.virtual_clock import VirtualClock, settle
from yurt.agent.agent import NodeAgent
from yurt.agent.alloc_errors import AllocUnknown
from yurt.agent.alloc_runner.runner import AllocNotToRun
from yurt.agent.alloc_runner.signals import TaskUnknown
from yurt.agent.drivers.driver import DriverFingerprint
from yurt.agent.drivers.mock import MockDriver, MockOptions, MockTask
from yurt.agent.node_meta import BadMetaKey
from yurt.agent.settings import ClientSettings, GcSettings
from yurt.agent.task_runner.hook import TaskNotRunning
from yurt.errors import YurtError
from yurt.model.client_protocol import ClientAlloc
from yurt.model.policies import DisconnectStrategy
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID

FOREVER = {"run_for": "1000h"}


class Cluster:
    """One agent with the mock driver, servers that a test moves, and time that a test moves."""

    def __init__(self, root: Path) -> None:
        self.clock = VirtualClock()
        self.servers = FakeServers()
        self.driver = FlakyDriver(self.clock, MockOptions())
        self.settings = ClientSettings(
            state_dir=str(root / "client"), alloc_dir=str(root / "alloc"), node_name="node1"
        )
        self.agent: NodeAgent

    @asynccontextmanager
    async def running(self, **settings: object) -> AsyncIterator[Cluster]:
        """Run the agent for the length of a block; it can be run again afterwards."""
        self.settings = msgspec.structs.replace(self.settings, **settings)
        self.agent = await NodeAgent.open(
            self.settings,
            self.servers,
            self.clock,
            Random(1),
            drivers={"mock_driver": self.driver},
        )
        run = asyncio.create_task(self.agent.run())
        try:
            yield self
        finally:
            run.cancel()
            await asyncio.wait({run})
            await self.agent.close()
        assert run.cancelled()

    async def place(self, alloc: ClientAlloc, status: str = "running") -> AllocID:
        self.servers.place(alloc)
        await self.servers.until_status(alloc.id, status)
        return alloc.id


class FlakyDriver(MockDriver):
    """A driver whose health the test sets."""

    is_healthy = True
    loses_tasks = False

    async def recover(self, state: bytes) -> MockTask | None:
        return None if self.loses_tasks else await super().recover(state)

    async def fingerprint(self) -> DriverFingerprint:
        found = await super().fingerprint()
        return msgspec.structs.replace(found, healthy=self.is_healthy)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that happens partly in threads."""
    while not condition():  # noqa: ASYNC110 - nobody tells when it has
        await asyncio.sleep(0.001)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(tmp_path)
    yield made
    destroy_all(tmp_path / "alloc")


def lasting(number: int = 1, **changes: object) -> ClientAlloc:
    """An allocation that runs until it is stopped."""
    alloc = an_alloc(a_job(a_task(config=FOREVER)), id=AllocID(f"a{number}"))
    return msgspec.structs.replace(alloc, **changes)


def brief(number: int = 1, **config: object) -> ClientAlloc:
    """An allocation that ends at once."""
    return an_alloc(a_job(a_task(config=config)), id=AllocID(f"a{number}"))


async def test_a_node_registers_and_gives_signs_of_life(cluster: Cluster) -> None:
    async with cluster.running():
        await cluster.servers.until(lambda: bool(cluster.servers.heartbeats))
        node = cluster.servers.nodes[0]
        assert (node.name, node.status, node.id) == ("node1", "initializing", cluster.agent.node_id)
        assert node.attributes["driver.mock_driver"] == "1"
        assert cluster.servers.heartbeats[0].status == "ready"
        assert cluster.agent.node.status == "ready"

        await cluster.clock.advance(30)
        assert 3 < len(cluster.servers.heartbeats) < 10
        assert len(cluster.servers.nodes) == 1


async def test_a_node_the_servers_forgot_registers_again(cluster: Cluster) -> None:
    async with cluster.running():
        await cluster.servers.until(lambda: bool(cluster.servers.heartbeats))
        cluster.servers.knows_node = False
        await cluster.clock.advance(10)

        assert [node.status for node in cluster.servers.nodes] == ["initializing", "ready"]


async def test_an_allocation_runs_and_its_end_is_reported(cluster: Cluster) -> None:
    async with cluster.running():
        alloc_id = await cluster.place(brief(exit_code=0), "complete")
        report = cluster.servers.reports[alloc_id]

        assert report.client_description == "All tasks have completed"
        assert report.task_states["t"].finished_at
        assert [e.type for e in report.task_states["t"].events or ()][-1] == "Terminated"
        assert report.network_status is not None


async def test_a_failed_task_fails_its_allocation_only(cluster: Cluster) -> None:
    async with cluster.running():
        await cluster.place(brief(1, exit_code=3), "failed")
        await cluster.place(lasting(2))

        assert cluster.agent.alloc(AllocID("a1")).is_over
        assert not cluster.agent.alloc(AllocID("a2")).is_over


async def test_an_allocation_is_stopped_then_dropped(cluster: Cluster) -> None:
    async with cluster.running():
        alloc_id = await cluster.place(lasting())
        assert cluster.agent.alloc_dir(alloc_id) is not None
        cluster.servers.change(alloc_id, desired_status="stop")
        await cluster.servers.until_status(alloc_id, "complete")

        cluster.servers.drop(alloc_id)
        await until(lambda: alloc_id not in cluster.agent.allocs)
        assert cluster.agent.alloc_dir(alloc_id) is None
        with pytest.raises(AllocUnknown, match='Unknown allocation "a1"'):
            cluster.agent.alloc(alloc_id)


async def test_a_dropped_allocation_is_killed_first(cluster: Cluster) -> None:
    async with cluster.running():
        alloc_id = await cluster.place(lasting())
        runner = cluster.agent.alloc(alloc_id)
        cluster.servers.drop(alloc_id)
        await runner.wait_until_over()

        assert runner.status.status == "complete"


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        pytest.param({"desired_status": "stop"}, "complete", id="stopped before it came"),
        pytest.param({"task_group": "gone"}, "failed", id="its job has no such group"),
    ],
)
async def test_an_allocation_that_must_not_run_is_reported(
    cluster: Cluster, changes: dict[str, object], status: str
) -> None:
    async with cluster.running():
        alloc_id = await cluster.place(lasting(1, **changes), status)

        started = [
            e.type for s in cluster.servers.reports[alloc_id].task_states.values() for e in s.events or ()
        ]
        assert "Started" not in started


async def test_what_ended_before_is_not_run_again(cluster: Cluster) -> None:
    async with cluster.running():
        cluster.servers.place(lasting(1, client_status="complete"))
        await cluster.place(lasting(2))

        assert list(cluster.agent.allocs) == ["a2"]


async def test_status_changes_are_sent_at_once_and_other_news_wait_for_company(
    cluster: Cluster,
) -> None:
    async with cluster.running():
        alloc_id = await cluster.place(lasting())
        sent = len(cluster.servers.requests)
        await cluster.agent.signal_task(alloc_id, task="t", signal="SIGHUP")
        await settle()
        assert len(cluster.servers.requests) == sent

        await cluster.clock.advance(1)
        assert len(cluster.servers.requests) == sent + 1
        last = cluster.servers.reports[alloc_id].task_states["t"].events or ()
        assert last[-1].type == "Signaling"


async def test_changes_during_a_report_go_together_in_the_next(cluster: Cluster) -> None:
    async with cluster.running():
        await cluster.place(lasting(1))
        sent = len(cluster.servers.requests)
        cluster.servers.answers_updates.clear()
        for number in range(2, 12):
            cluster.servers.place(brief(number))
        await until(lambda: sum(runner.is_over for runner in cluster.agent.allocs.values()) == 10)
        cluster.servers.answers_updates.set()
        for number in range(2, 12):
            await cluster.servers.until_status(AllocID(f"a{number}"), "complete")

        assert len(cluster.servers.requests) - sent <= 3


async def test_reports_survive_servers_that_are_away(cluster: Cluster) -> None:
    async with cluster.running():
        alloc_id = await cluster.place(lasting())
        cluster.servers.is_away = True
        await cluster.agent.restart_task(alloc_id, task="t")
        await cluster.clock.advance(30)
        assert cluster.servers.reports[alloc_id].task_states["t"].restarts == 0

        cluster.servers.is_away = False
        await cluster.clock.advance(30)
        assert cluster.servers.reports[alloc_id].task_states["t"].restarts == 1


async def test_allocations_go_on_while_servers_are_away_unless_they_must_not(cluster: Cluster) -> None:
    bound = an_alloc(
        a_job(
            a_task(config=FOREVER),
            group={"disconnect": DisconnectStrategy(stop_on_client_after=60 * SECOND_NS)},
        ),
        id=AllocID("a2"),
    )
    async with cluster.running():
        await cluster.place(lasting(1))
        await cluster.place(bound)
        cluster.servers.is_away = True
        await cluster.clock.advance(50)
        assert not cluster.agent.alloc(AllocID("a2")).is_over
        await cluster.clock.advance(30)

        assert cluster.agent.alloc(AllocID("a2")).is_over
        assert not cluster.agent.alloc(AllocID("a1")).is_over


async def test_an_allocation_given_up_by_the_servers_tells_that_it_is_back(cluster: Cluster) -> None:
    async with cluster.running():
        alloc_id = await cluster.place(lasting())
        cluster.servers.change(alloc_id, client_status="unknown")
        await settle()

        events = cluster.agent.alloc(alloc_id).states["t"].events or ()
        assert events[-1].type == "Reconnected"


async def test_a_driver_that_falls_ill_is_reported(cluster: Cluster) -> None:
    async with cluster.running():
        await cluster.servers.until(lambda: bool(cluster.servers.heartbeats))
        cluster.driver.is_healthy = False
        await cluster.clock.advance(31)

        newest = cluster.servers.nodes[-1]
        assert len(cluster.servers.nodes) == 2
        assert not (newest.drivers or {})["mock_driver"].healthy
        assert newest.attributes["driver.mock_driver"] == "1"
        assert newest.status == "ready"


async def test_the_oldest_ended_allocations_make_room(cluster: Cluster) -> None:
    gc = GcSettings(allocs_max=2, disk_usage_percent_max=100, inode_usage_percent_max=100)
    async with cluster.running(gc=gc):
        for number in range(1, 5):
            await cluster.place(brief(number), "complete")
            await cluster.clock.advance(1)
        await until(lambda: len(cluster.agent.allocs) == 2)

        assert sorted(cluster.agent.allocs) == ["a3", "a4"]


async def test_ended_allocations_can_be_collected_by_hand(cluster: Cluster) -> None:
    async with cluster.running():
        await cluster.place(brief(1), "complete")
        await cluster.place(brief(2), "complete")
        await cluster.place(lasting(3))

        assert await cluster.agent.collect(AllocID("a1"))
        assert not await cluster.agent.collect(AllocID("a3"))
        await cluster.agent.collect_all()
        assert list(cluster.agent.allocs) == ["a3"]


async def test_requests_that_cannot_be_met_say_why(cluster: Cluster) -> None:
    async with cluster.running():
        alloc_id = await cluster.place(lasting())
        with pytest.raises(TaskUnknown, match="Could not find task runner for task: zz"):
            await cluster.agent.restart_task(alloc_id, task="zz")
        with pytest.raises(YurtError, match="task name cannot be set when restarting all tasks"):
            await cluster.agent.restart_task(alloc_id, task="t", all_tasks=True)
        with pytest.raises(TaskUnknown, match="Task not found"):
            await cluster.agent.signal_task(alloc_id, task="zz", signal="SIGHUP")

        cluster.servers.change(alloc_id, desired_status="stop")
        await cluster.servers.until_status(alloc_id, "complete")
        with pytest.raises(TaskNotRunning, match="Task not running"):
            await cluster.agent.restart_task(alloc_id, task="t")
        with pytest.raises(TaskNotRunning, match="Task not running"):
            await cluster.agent.signal_task(alloc_id, task="t", signal="SIGHUP")
        with pytest.raises(AllocNotToRun, match="restart of an alloc that should not run"):
            await cluster.agent.restart_task(alloc_id, all_tasks=True)


async def test_a_dev_agent_ends_its_tasks(cluster: Cluster) -> None:
    async with cluster.running(dev=True, state_dir=""):
        alloc_id = await cluster.place(lasting())
        runner = cluster.agent.alloc(alloc_id)

    assert runner.is_over
    assert alloc_id not in os.listdir(cluster.settings.alloc_dir)


async def test_another_agent_finds_the_tasks_again(cluster: Cluster) -> None:
    async with cluster.running():
        node_id = cluster.agent.node_id
        await cluster.place(lasting(1))
        await cluster.place(brief(2, exit_code=0), "complete")
        await cluster.place(an_alloc(a_job(a_task(config={"run_for": "10s"})), id=AllocID("a3")))
    requests = len(cluster.servers.requests)

    await cluster.clock.jump(20)
    async with cluster.running():
        assert cluster.agent.node_id == node_id
        ended = await cluster.servers.until_status(AllocID("a3"), "complete")
        assert [e.type for e in ended.task_states["t"].events or ()] == [
            "Received",
            "Task Setup",
            "Started",
            "Terminated",
        ]
        assert cluster.agent.alloc(AllocID("a2")).is_over
        assert not cluster.agent.alloc(AllocID("a1")).is_over
        again = {u.id for r in cluster.servers.requests[requests:] for u in r.updates}
        assert "a2" not in again


async def test_a_restored_allocation_takes_the_servers_news(cluster: Cluster) -> None:
    async with cluster.running():
        alloc_id = await cluster.place(lasting())
    cluster.servers.change(alloc_id, desired_status="stop")

    async with cluster.running():
        report = await cluster.servers.until_status(alloc_id, "complete")
        assert [e.type for e in report.task_states["t"].events or ()][-3:] == [
            "Killing",
            "Terminated",
            "Killed",
        ]


async def test_a_lost_task_waits_for_the_servers_then_starts_again(cluster: Cluster) -> None:
    async with cluster.running():
        alloc_id = await cluster.place(lasting())

    cluster.driver.loses_tasks = True
    cluster.servers.is_away = True
    async with cluster.running():
        await cluster.clock.advance(20)
        state = cluster.agent.alloc(alloc_id).states["t"]
        assert state.state == "pending"
        cluster.servers.is_away = False
        await cluster.clock.advance(20)

        events = cluster.servers.reports[alloc_id].task_states["t"].events or ()
        assert [event.type for event in events][-2:] == ["Failed Restoring Task", "Started"]
        assert cluster.servers.reports[alloc_id].task_states["t"].restarts == 0


async def test_an_allocation_whose_directory_is_gone_fails(cluster: Cluster) -> None:
    async with cluster.running():
        alloc_id = await cluster.place(lasting())
        cluster.agent._node.dirs.destroy(alloc_id)

    async with cluster.running():
        report = await cluster.servers.until_status(alloc_id, "failed")
        events = [event.type for event in report.task_states["t"].events or ()]
        assert events[-3:] == ["Setup Failure", "Terminated", "Killed"]


async def test_an_end_the_servers_do_not_know_is_not_collected(cluster: Cluster) -> None:
    gc = GcSettings(allocs_max=0, disk_usage_percent_max=100, inode_usage_percent_max=100)
    async with cluster.running(gc=gc):
        alloc_id = await cluster.place(an_alloc(a_job(a_task(config={"run_for": "5s"}))))
        cluster.servers.answers_updates.clear()
        await cluster.clock.advance(61)
        assert cluster.agent.alloc(alloc_id).is_over
        assert not await cluster.agent.collect(alloc_id)

        cluster.servers.answers_updates.set()
        await cluster.servers.until_status(alloc_id, "complete")
        while cluster.agent.allocs:
            await cluster.clock.advance(1)


async def test_metadata_is_changed_hidden_and_kept(cluster: Cluster) -> None:
    async with cluster.running(meta={"rack": "r1", "old": "x"}):
        await cluster.servers.until(lambda: bool(cluster.servers.heartbeats))
        meta = cluster.agent.change_meta({"rack": "r2", "old": None, "new.key": "n", "none": None})
        assert meta.dynamic == {"rack": "r2", "old": None, "new.key": "n"}
        await cluster.servers.until(lambda: len(cluster.servers.nodes) == 2)
        with pytest.raises(BadMetaKey, match="1bad"):
            cluster.agent.change_meta({"1bad": "x"})

    async with cluster.running():
        shown = cluster.agent.node.meta or {}
        assert (shown["rack"], shown["new.key"]) == ("r2", "n")
        assert "old" not in shown
        assert cluster.agent.meta.static["old"] == "x"

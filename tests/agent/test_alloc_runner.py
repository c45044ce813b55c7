"""What recordings do not show about the life of an allocation."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import msgspec
import pytest

from tests.agent.alloc_harness import a_node_context, running
from tests.agent.builders import a_job, a_task, an_alloc
from tests.agent.virtual_clock import VirtualClock, settle
from yurt.agent.alloc_runner.runner import AllocNotToRun
from yurt.agent.drivers import DriverError, ExitResult, TaskSpec
from yurt.agent.drivers.mock import MockDriver, MockOptions, MockTask
from yurt.agent.node_context import NodeContext
from yurt.agent.state_db import AllocRecord, StoredAlloc, TaskRecord
from yurt.agent.task_runner.hook import TaskNotRunning
from yurt.model.alloc import DesiredTransition
from yurt.model.client_protocol import ClientAlloc
from yurt.model.job import Job
from yurt.model.multi_error import MultiError
from yurt.model.policies import EphemeralDisk, UpdateStrategy
from yurt.model.resources import NetworkResource
from yurt.model.task_parts import DispatchPayload, RestartPolicy, TaskLifecycle
from yurt.model.task_state import TaskState
from yurt.model.times import SECOND_NS
from yurt.model.wire import AllocID

FOREVER = {"run_for": "1000h"}
UPDATE = UpdateStrategy(
    max_parallel=1,
    health_check="checks",
    min_healthy_time=10 * SECOND_NS,
    healthy_deadline=60 * SECOND_NS,
)
HELLO_SNAPPY = b"\x0b\x28hello world"


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
async def node(tmp_path: Path, clock: VirtualClock) -> NodeContext:
    return a_node_context(tmp_path, clock)


def service(**group: object) -> Job:
    return a_job(a_task(config=FOREVER), type="service", group={"update": UPDATE, **group})


def stopped(alloc: ClientAlloc, **changes: object) -> ClientAlloc:
    return msgspec.structs.replace(alloc, desired_status="stop", **changes)


async def test_an_allocation_that_cannot_be_set_up_fails_all_its_tasks(node: NodeContext) -> None:
    job = a_job(a_task("one"), a_task("two"), group={"networks": (NetworkResource(mode="bridge"),)})
    async with running(an_alloc(job), node) as run:
        await run.until_over()

    expected = (
        'Setup Failure: failed to setup alloc: pre-run hook "network" failed: '
        'task "one": its driver mock_driver cannot join a network of mode "bridge"; '
        'use mode "host" or another driver'
    )
    assert run.events("one")[-1] == run.events("two")[-1] == expected
    assert run.status == ("failed", "Failed tasks")


async def test_a_driver_that_is_not_there_is_named(node: NodeContext) -> None:
    async with running(an_alloc(a_job(a_task(driver="nosuch"))), node) as run:
        await run.until_over()

    assert run.events()[-2] == 'Driver Failure: this node has no driver "nosuch"; it has: mock_driver'
    assert run.state().failed


async def test_health_is_told_once_the_tasks_were_up_long_enough(
    node: NodeContext, clock: VirtualClock
) -> None:
    async with running(an_alloc(service(), deployment_id="d"), node) as run:
        await run.until_state("t", "running")
        await clock.advance(9)
        assert run.runner.report().deployment_status is None
        await clock.advance(1)
        report = run.runner.report()

    assert report.deployment_status is not None
    assert report.deployment_status.healthy is True


async def test_a_task_that_does_not_come_up_in_time_is_unhealthy(
    node: NodeContext, clock: VirtualClock
) -> None:
    job = a_job(a_task(config=FOREVER | {"start_block_for": "1h"}), type="service", group={"update": UPDATE})
    async with running(an_alloc(job, deployment_id="d"), node) as run:
        await clock.advance(60)

        assert run.runner.health is False
        assert run.events()[-1] == "Alloc Unhealthy: Task not running by healthy_deadline of 1m0s"


async def test_a_new_deployment_judges_the_health_anew(node: NodeContext, clock: VirtualClock) -> None:
    async with running(an_alloc(service(), deployment_id="d1"), node) as run:
        await run.until_state("t", "running")
        await clock.advance(10)
        run.runner.update(msgspec.structs.replace(run.runner.alloc, deployment_id="d2"))
        assert run.runner.health is None
        await clock.advance(10)

        assert run.runner.health is True


async def test_a_stop_without_delays_skips_them(node: NodeContext, clock: VirtualClock) -> None:
    task = a_task(config=FOREVER, shutdown_delay=10 * SECOND_NS)
    alloc = an_alloc(a_job(task, group={"shutdown_delay": 10 * SECOND_NS}))
    async with running(alloc, node) as run:
        await run.until_state("t", "running")
        run.runner.update(stopped(alloc, desired_transition=DesiredTransition(no_shutdown_delay=True)))
        await run.until_over()

    assert run.kinds()[-4:] == ["Killing", "Skipping shutdown delay", "Terminated", "Killed"]


async def test_a_task_that_ends_during_its_shutdown_delay_is_not_waited_for(
    node: NodeContext, clock: VirtualClock
) -> None:
    alloc = an_alloc(a_job(a_task(config={"run_for": "5s"}, shutdown_delay=60 * SECOND_NS)))
    async with running(alloc, node) as run:
        await run.until_state("t", "running")
        run.runner.update(stopped(alloc))
        await settle()
        assert run.state().state == "pending"
        await clock.advance(5)
        await run.until_over()

    assert run.events()[-2] == "Terminated: Exit Code: 0"


async def test_a_task_is_not_restarted_while_it_is_killed(node: NodeContext, clock: VirtualClock) -> None:
    policy = RestartPolicy(attempts=3, interval=60 * SECOND_NS, delay=30 * SECOND_NS)
    alloc = an_alloc(a_job(a_task(config={"exit_code": 1}, restart_policy=policy)))
    async with running(alloc, node) as run:
        await run.until(lambda: run.kinds()[-1] == "Restarting")
        run.runner.update(stopped(alloc))
        await run.until_over()

    assert run.kinds()[-2:] == ["Restarting", "Killing"]
    assert run.status == ("complete", "All tasks have completed")


async def test_a_task_killed_while_it_is_being_started_is_ended(
    node: NodeContext, clock: VirtualClock
) -> None:
    alloc = an_alloc(a_job(a_task(config=FOREVER | {"start_block_for": "5s"})))
    async with running(alloc, node) as run:
        await settle()
        run.runner.update(stopped(alloc))
        await clock.advance(5)
        await run.until_over()

    assert run.kinds()[-4:] == ["Killing", "Started", "Terminated", "Killed"]
    assert run.status[0] == "complete"


async def test_an_in_place_update_shows_with_the_next_start(node: NodeContext) -> None:
    alloc = an_alloc(a_job(a_task(config=FOREVER, env={"V": "1"})))
    async with running(alloc, node) as run:
        await run.until_state("t", "running")
        newer = a_job(a_task(config=FOREVER, env={"V": "2"}))
        run.runner.update(msgspec.structs.replace(alloc, job=newer))
        assert run.runner.tasks["t"].env().variables["V"] == "2"
        assert run.state().restarts == 0


async def test_restarting_all_runs_prestart_tasks_first(node: NodeContext, clock: VirtualClock) -> None:
    pre = a_task("pre", config={"run_for": "5s"}, lifecycle=TaskLifecycle(hook="prestart"))
    async with running(an_alloc(a_job(pre, a_task("main", config=FOREVER))), node) as run:
        await clock.advance(5)
        await run.until_state("main", "running")
        run.runner.restart_all()
        await run.until_state("pre", "running")
        assert run.state("main").state == "pending"
        await clock.advance(5)
        await run.until_state("main", "running")

        assert (run.state("pre").restarts, run.state("main").restarts) == (1, 1)


async def test_restarting_all_of_what_runs_leaves_the_health_open(node: NodeContext) -> None:
    async with running(an_alloc(a_job(a_task(config=FOREVER))), node) as run:
        await run.until_state("t", "running")
        run.runner.restart_all()
        await run.until(lambda: run.state().restarts == 1)

        assert run.runner.health is None


async def test_only_running_tasks_can_be_restarted(node: NodeContext) -> None:
    post = a_task("stop", lifecycle=TaskLifecycle(hook="poststop"))
    async with running(an_alloc(a_job(a_task(config=FOREVER), post)), node) as run:
        await run.until_state("t", "running")
        with pytest.raises(TaskNotRunning):
            run.runner.restart_task("stop")
        run.runner.restart_running()
        await run.until(lambda: run.state().restarts == 1)

        assert run.state("stop").restarts == 0


async def test_what_is_over_cannot_be_restarted_or_signalled(node: NodeContext) -> None:
    async with running(an_alloc(a_job(a_task())), node) as run:
        await run.until_over()
        for restart in (run.runner.restart_running, run.runner.restart_all):
            with pytest.raises(AllocNotToRun):
                restart()
        with pytest.raises(TaskNotRunning):
            run.runner.restart_task("t")
        with pytest.raises(MultiError, match="Failed to signal task: t, err: Task not running"):
            await run.runner.signal("", "SIGHUP")


async def test_a_signal_without_a_task_reaches_all_that_run(node: NodeContext) -> None:
    job = a_job(
        a_task("one", config=FOREVER),
        a_task("two", config=FOREVER),
        a_task("stop", lifecycle=TaskLifecycle(hook="poststop")),
    )
    async with running(an_alloc(job), node) as run:
        await run.until_state("two", "running")
        await run.runner.signal("", "SIGHUP")

        assert run.kinds("one")[-1] == run.kinds("two")[-1] == "Signaling"
        assert run.kinds("stop") == ["Received"]


async def test_a_dispatch_payload_becomes_a_file(node: NodeContext) -> None:
    task = a_task(config=FOREVER, dispatch_payload=DispatchPayload(file="in/put.txt"))
    alloc = an_alloc(a_job(task, payload=HELLO_SNAPPY, dispatched=True))
    async with running(alloc, node) as run:
        await run.until_state("t", "running")
        path = f"{run.runner.tasks['t'].dir.local}/in/put.txt"
        assert read(path) == "hello world"
        assert os.stat(path).st_mode & 0o777 == 0o777 & ~umask()


def read(path: str) -> str:
    return Path(path).read_text()


def umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


@pytest.mark.parametrize(
    ("file", "payload", "problem"),
    [
        ("../../x", HELLO_SNAPPY, "leads out of the task's directory"),
        ("x", b"\x05\x00a", "failed to write dispatch payload: damaged Snappy block"),
    ],
)
async def test_a_payload_that_cannot_be_written_fails_the_task(
    node: NodeContext, file: str, payload: bytes, problem: str
) -> None:
    task = a_task(dispatch_payload=DispatchPayload(file=file))
    async with running(an_alloc(a_job(task, payload=payload, dispatched=True)), node) as run:
        await run.until_over()

    assert run.events()[-2].startswith("Task hook failed: dispatch_payload: ")
    assert problem in run.events()[-2]


async def test_a_replacement_waits_for_its_predecessor_and_takes_its_data(
    node: NodeContext, clock: VirtualClock
) -> None:
    sticky: dict[str, object] = {"ephemeral_disk": EphemeralDisk(sticky=True)}
    old = an_alloc(a_job(a_task(config=FOREVER), group=sticky), id=AllocID("old"))
    new = an_alloc(a_job(a_task(config=FOREVER), group=sticky), id=AllocID("new"), previous_allocation="old")
    async with running(old, node) as first:
        runners = {"old": first.runner}

        async def wait_until_over(alloc_id: AllocID) -> bool:
            await runners[alloc_id].wait_until_over()
            return True

        node.wait_until_over = wait_until_over
        await first.until_state("t", "running")
        write(f"{first.runner.tasks['t'].dir.local}/state", "precious")
        async with running(new, node) as second:
            await settle()
            assert second.kinds() == ["Received"]
            first.runner.update(stopped(old))
            await second.until_state("t", "running")

            assert read(f"{second.runner.tasks['t'].dir.local}/state") == "precious"


def write(path: str, text: str) -> None:
    Path(path).write_text(text)


async def test_an_allocation_waiting_for_its_predecessor_can_be_stopped(node: NodeContext) -> None:
    async def never(_alloc_id: AllocID) -> bool:
        await asyncio.Event().wait()
        return True

    node.wait_until_over = never
    alloc = an_alloc(previous_allocation="old")
    async with running(alloc, node) as run:
        await settle()
        run.runner.update(stopped(alloc))
        await run.until_over()

    assert run.kinds() == ["Received", "Killing"]
    assert run.status[0] == "complete"


class Stubborn(MockDriver):
    """A driver that refuses to kill some times, and remembers how it was started."""

    def __init__(self, clock: VirtualClock, *, refusals: int = 0) -> None:
        super().__init__(clock, MockOptions())
        self.refusals = refusals
        self.specs: list[TaskSpec] = []

    async def start(self, spec: TaskSpec) -> MockTask:
        self.specs.append(spec)
        task = await super().start(spec)
        kill = task.kill

        async def refuse(signal: str, timeout_s: float) -> ExitResult:
            if self.refusals:
                self.refusals -= 1
                raise DriverError("not now")
            return await kill(signal, timeout_s)

        task.kill = refuse  # type: ignore[method-assign]
        return task


async def test_a_refused_kill_is_tried_again(tmp_path: Path, clock: VirtualClock) -> None:
    node = a_node_context(tmp_path, clock, drivers={"mock_driver": Stubborn(clock, refusals=3)})
    alloc = an_alloc(a_job(a_task(config=FOREVER)))
    async with running(alloc, node) as run:
        await run.until_state("t", "running")
        run.runner.update(stopped(alloc))
        await clock.advance(104)
        assert run.state().state == "running"
        await clock.advance(1)
        await run.until_over()

    assert run.kinds()[-1] == "Killed"


async def test_each_start_has_its_number_and_all_the_task_asked_for(
    tmp_path: Path, clock: VirtualClock
) -> None:
    driver = Stubborn(clock)
    node = a_node_context(tmp_path, clock, drivers={"mock_driver": driver})
    async with running(an_alloc(a_job(a_task(config=FOREVER, user="me"))), node) as run:
        await run.until_state("t", "running")
        run.runner.restart_running()
        await run.until(lambda: run.kinds().count("Started") == 2)

    assert [spec.attempt for spec in driver.specs] == [1, 2]
    spec = driver.specs[0]
    assert (spec.user, spec.resources.memory_mb, spec.resources.cpu_shares) == ("me", 300, 100)
    assert spec.log_dir.endswith("/alloc/logs")
    assert spec.env["NOMAD_TASK_NAME"] == "t"


async def test_a_start_cut_short_by_the_agents_death_is_repeated_with_the_same_number(
    tmp_path: Path, clock: VirtualClock
) -> None:
    driver = Stubborn(clock)
    node = a_node_context(tmp_path, clock, drivers={"mock_driver": driver})
    alloc = an_alloc(a_job(a_task(config=FOREVER)))
    node.dirs.create(alloc.id, {"t": 0})
    record = TaskRecord(state=TaskState(), attempt=4, is_starting=True)
    async with running(alloc, node, StoredAlloc(AllocRecord(alloc=alloc), {"t": record})) as run:
        await run.until_state("t", "running")

    assert [spec.attempt for spec in driver.specs] == [4]


async def test_a_failing_runner_is_a_failed_task_not_a_failed_agent(
    tmp_path: Path, clock: VirtualClock
) -> None:
    class Broken(MockDriver):
        async def start(self, spec: TaskSpec) -> MockTask:
            raise ZeroDivisionError(spec.task)

    node = a_node_context(tmp_path, clock, drivers={"mock_driver": Broken(clock, MockOptions())})
    async with running(an_alloc(), node) as run:
        await run.until_over()

    assert run.events()[-1] == "Driver Failure: ZeroDivisionError: t"
    assert run.status[0] == "failed"


async def test_nothing_is_said_twice_when_nothing_changes(node: NodeContext) -> None:
    async with running(an_alloc(a_job(a_task(config=FOREVER))), node) as run:
        await run.until_state("t", "running")
        await settle()
        changes = run.changes
        await settle()

        assert run.changes == changes

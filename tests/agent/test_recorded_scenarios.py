"""Recorded lives of allocations happen again: the same events, in the same order, with the same texts.

Tasks are real processes; where a recording waited for a policy's delay, the clock is moved instead.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from tests.agent.alloc_harness import RunningAlloc, a_node_context, running
from tests.agent.builders import a_task, an_alloc
from tests.agent.recorded_lives import (
    LOOP,
    NO_RESTARTS,
    RECORDED,
    UNTIL_INT,
    batch,
    expected_tasks,
    pass_until_over,
    policy,
    service,
    shell,
    shown,
    until_up,
)
from tests.agent.virtual_clock import VirtualClock
from yurt.agent.drivers.raw_exec import RawExecDriver, RawExecOptions
from yurt.agent.launcher import LauncherClient
from yurt.model.job import Job
from yurt.model.task_parts import VolumeMount
from yurt.model.times import SECOND_NS

Action = Callable[[RunningAlloc, VirtualClock], Awaitable[None]]


def after(*names: str, then: str = "exit 0") -> str:
    """A script that waits for other tasks to be up."""
    waits = [f'until [ -e "$NOMAD_ALLOC_DIR/{name}.up" ]; do sleep 0.02; done' for name in names]
    return "; ".join([*waits, then])


async def nothing(_alloc: RunningAlloc, _clock: VirtualClock) -> None:
    """The allocation ends by itself."""


async def go_on(alloc: RunningAlloc, _clock: VirtualClock) -> None:
    """Let a task that waits for `go` end, once the agent has seen the lasting ones start.

    A process is there a little before its driver tells, and a task killed in between is `Killing` before
    it is `Started`.
    """
    await until_up(alloc, *lasting(alloc))
    if "post" in alloc.runner.tasks:
        await alloc.until_state("post", "dead")
    waiting_task = next(iter(alloc.runner.tasks.values()))
    os.close(os.open(f"{waiting_task.dir.shared}/go.up", os.O_CREAT | os.O_WRONLY))


def lasting(alloc: RunningAlloc) -> list[str]:
    """The tasks that run until they are told to end."""
    scripts = {name: (runner.task.config or {})["args"][1] for name, runner in alloc.runner.tasks.items()}
    return [name for name, script in scripts.items() if "while" in script]


async def stop(alloc: RunningAlloc, _clock: VirtualClock) -> None:
    await until_up(alloc, *lasting(alloc))
    alloc.runner.update(msgspec.structs.replace(alloc.runner.alloc, desired_status="stop"))


async def stop_after_delays(alloc: RunningAlloc, clock: VirtualClock) -> None:
    await stop(alloc, clock)
    await clock.advance(1)
    await alloc.until_event("t", "Waiting for shutdown delay: " + WAITING)
    await clock.advance(2)


WAITING = "Waiting for shutdown_delay of 2s before killing the task."


async def pass_restart_delays(alloc: RunningAlloc, clock: VirtualClock) -> None:
    """Move the clock once for each time a task waits to be restarted."""
    for passed in itertools.count():
        await alloc.until(functools.partial(is_over_or_restarted, alloc, passed + 1))
        if alloc.runner.is_over:
            return
        await clock.advance((waiting(alloc) or 0) / SECOND_NS)


def is_over_or_restarted(alloc: RunningAlloc, times: int) -> bool:
    return alloc.runner.is_over or sum(s.restarts for s in alloc.runner.states.values()) >= times


async def pass_five_restart_delays(alloc: RunningAlloc, clock: VirtualClock) -> None:
    for restarts in range(1, 6):
        await alloc.until(functools.partial(is_over_or_restarted, alloc, restarts))
        # A window ends after its last moment, so the restart must come a little later than that.
        await clock.jump((waiting(alloc) or 0) / SECOND_NS + 0.001)
    await alloc.until(functools.partial(is_over_or_restarted, alloc, 6))


def waiting(alloc: RunningAlloc) -> int | None:
    """How long a task waits for its restart now."""
    for runner in alloc.runner.tasks.values():
        last = (runner.state.events or (None,))[-1]
        if last is not None and last.type == "Restarting" and last.start_delay and runner.is_active:
            return last.start_delay
    return None


async def stop_by_force(alloc: RunningAlloc, clock: VirtualClock) -> None:
    await alloc.until_state("t", "running")
    alloc.runner.update(msgspec.structs.replace(alloc.runner.alloc, desired_status="stop"))
    await clock.advance(2)


async def expire(alloc: RunningAlloc, clock: VirtualClock) -> None:
    await until_up(alloc, "t")
    await clock.advance(3)


async def pass_time(alloc: RunningAlloc, clock: VirtualClock) -> None:
    """Move the clock until a pretended task has ended."""
    while not alloc.runner.is_over:
        await clock.advance_to_next()


async def restart_twice(alloc: RunningAlloc, _clock: VirtualClock) -> None:
    await until_up(alloc, "t")
    alloc.runner.restart_task("t")
    await alloc.until(lambda: alloc.kinds().count("Started") == 2)
    alloc.runner.restart_all()
    await alloc.until(lambda: alloc.kinds().count("Started") == 3)


async def restart_running_then_all(alloc: RunningAlloc, _clock: VirtualClock) -> None:
    await alloc.until_state("post", "dead")
    await until_up(alloc, "main")
    os.unlink(f"{alloc.runner.tasks['main'].dir.shared}/main.up")
    alloc.runner.restart_running()
    await alloc.until(lambda: alloc.state("main").restarts == 1)
    await until_up(alloc, "main")
    alloc.runner.restart_all()
    await alloc.until(lambda: alloc.kinds("post").count("Terminated") == 2)


async def send_hup(alloc: RunningAlloc, _clock: VirtualClock) -> None:
    await until_up(alloc, "t")
    await alloc.runner.signal("t", "SIGHUP")


async def send_nonsense(alloc: RunningAlloc, _clock: VirtualClock) -> None:
    await alloc.until_state("t", "running")
    await alloc.runner.signal("t", "SIGFOO")


SCENARIOS: dict[str, tuple[Job, Action]] = {
    "bad-config": (
        batch(
            a_task(
                driver="raw_exec",
                config={"command": "/bin/true", "nosuch": "x"},
                restart_policy=policy(2, 1),
            )
        ),
        nothing,
    ),
    "bad-user": (batch(shell("true", user="nosuchuser")), nothing),
    "batch-exit-0": (batch(shell("exit 0")), nothing),
    "batch-exit-1": (batch(shell("exit 1")), nothing),
    "exit1-restart": (batch(shell("exit 7", restart_policy=policy(2, 2))), pass_restart_delays),
    "kill-force": (
        service(
            a_task(config={"run_for": "1h", "kill_after": "1m"}, kill_timeout=2 * SECOND_NS),
        ),
        stop_by_force,
    ),
    "kill-graceful": (service(shell(f'trap "exit 0" INT; {LOOP}')), stop),
    "kill-usr1": (service(shell(f'trap "exit 9" USR1; {LOOP}', kill_signal="SIGUSR1")), stop),
    "leader": (batch(shell(after("go"), "lead", leader=True), shell(UNTIL_INT, "other")), go_on),
    "lifecycle": (
        batch(
            shell("exit 0", "pre", hook="prestart"),
            shell(UNTIL_INT, "preside", hook="prestart", sidecar=True),
            shell(after("go"), "main"),
            shell("exit 0", "post", hook="poststart"),
            shell(UNTIL_INT, "postside", hook="poststart", sidecar=True),
            shell("exit 0", "stop", hook="poststop"),
        ),
        go_on,
    ),
    "lifecycle-fail": (
        batch(
            shell("exit 4", "pre", hook="prestart"),
            shell("sleep 3", "main"),
            shell("echo cleanup", "stop", hook="poststop"),
        ),
        nothing,
    ),
    "max-run": (
        batch(
            shell(UNTIL_INT),
            shell("echo x", "stop", hook="poststop"),
            max_run_duration=3 * SECOND_NS,
        ),
        expire,
    ),
    "missing-config": (
        batch(a_task(driver="raw_exec", config={"args": ["x"]}, restart_policy=NO_RESTARTS)),
        nothing,
    ),
    "mock-exit-err": (
        batch(
            a_task(
                config={
                    "run_for": "500ms",
                    "exit_code": 2,
                    "exit_signal": 9,
                    "exit_err_msg": "bad thing",
                },
                restart_policy=NO_RESTARTS,
            )
        ),
        pass_time,
    ),
    "mock-start-error": (
        batch(a_task(config={"start_error": "boom"}, restart_policy=policy(2, 1))),
        nothing,
    ),
    "mock-start-recoverable": (
        batch(
            a_task(
                config={"start_error": "boom", "start_error_recoverable": True},
                restart_policy=policy(1, 1),
            )
        ),
        pass_restart_delays,
    ),
    "no-command": (
        batch(a_task(driver="raw_exec", config={"command": "/no/such/bin"}, restart_policy=policy(2, 1))),
        nothing,
    ),
    "no-command-rel": (
        batch(a_task(driver="raw_exec", config={"command": "nosuchbin"}, restart_policy=NO_RESTARTS)),
        nothing,
    ),
    "poststart-fails": (
        service(shell(UNTIL_INT, "main"), shell(after("main", then="exit 3"), "post", hook="poststart")),
        nothing,
    ),
    "poststop-fails": (
        batch(
            shell(after("go"), "main"),
            shell(UNTIL_INT, "side", hook="poststart", sidecar=True),
            shell("exit 6", "stop", hook="poststop"),
        ),
        go_on,
    ),
    "prestart-restart": (
        service(
            shell("exit 1", "pre", hook="prestart", restart_policy=policy(1, 1)),
            shell("sleep 3", "main"),
        ),
        pass_restart_delays,
    ),
    "restart-all-tasks": (
        service(
            shell("echo pre", "pre", hook="prestart"),
            shell(UNTIL_INT, "main"),
            shell("echo post", "post", hook="poststart"),
        ),
        restart_running_then_all,
    ),
    "restart-api": (service(shell(LOOP), update=None), restart_twice),
    "restart-delay-mode": (
        service(shell("exit 3", restart_policy=policy(1, 1, interval_s=8, mode="delay")), update=None),
        pass_five_restart_delays,
    ),
    "reschedule-once": (batch(shell("exit 2")), nothing),
    "self-kill": (batch(shell("kill -9 $$")), nothing),
    "self-term": (batch(shell("kill -15 $$")), nothing),
    "service-exit-0": (service(shell("exit 0", restart_policy=policy(1, 1))), pass_restart_delays),
    "shutdown-delay": (
        service(shell(UNTIL_INT, shutdown_delay=2 * SECOND_NS), shutdown_delay=SECOND_NS),
        stop_after_delays,
    ),
    "sibling": (service(shell(after("go", then="exit 5"), "bad"), shell(UNTIL_INT, "good")), go_on),
    "signal": (service(shell(f'trap "echo hup" HUP; {LOOP}')), send_hup),
    "signal-bad": (service(shell(LOOP)), send_nonsense),
    "stop-order": (
        service(
            shell(UNTIL_INT, "lead", leader=True),
            shell(UNTIL_INT, "b"),
            shell(UNTIL_INT, "side", hook="prestart", sidecar=True),
            shell("echo s", "stop", hook="poststop"),
        ),
        stop,
    ),
    "unresolved": (
        batch(
            a_task(
                driver="raw_exec",
                config={"command": "/bin/echo", "args": ["${nope.foo}", "${NOMAD_META_zz}"]},
                restart_policy=NO_RESTARTS,
            )
        ),
        nothing,
    ),
    "volume-unsupported-driver": (
        batch(shell("ls", volume_mounts=(VolumeMount(volume="v", destination="/v"),))),
        nothing,
    ),
}

# The recording was taken before these were written; ours are there at once.
UNRECORDED_EVENTS = {"sibling": {"Alloc Unhealthy"}}


@pytest.fixture
async def launcher(tmp_path: Path) -> AsyncIterator[LauncherClient]:
    client = LauncherClient(tmp_path / "launcher")
    yield client
    await client.shutdown(kill_tasks=True)


@pytest.mark.parametrize("name", SCENARIOS)
async def test_scenario(name: str, tmp_path: Path, launcher: LauncherClient) -> None:
    job, act = SCENARIOS[name]
    recorded = RECORDED[name]
    clock = VirtualClock()
    raw_exec = RawExecDriver(launcher, RawExecOptions(enabled=True), cgroups=None)
    node = a_node_context(tmp_path, clock, drivers={"raw_exec": raw_exec})
    alloc = an_alloc(
        job,
        create_time=clock.now_ns(),
        deployment_id="d" if job.type == "service" and job.task_groups[0].update else "",
    )

    async with running(alloc, node) as run:
        await act(run, clock)
        if recorded["ClientStatus"] in ("complete", "failed"):
            await run.until_over()
        left_out = UNRECORDED_EVENTS.get(name, set())
        seen = {task: shown(state, left_out=left_out) for task, state in run.runner.states.items()}
        status, health = run.status, run.runner.health
        run.runner.stop()
        await asyncio.wait_for(pass_until_over(run, clock), 60)

    assert seen == expected_tasks(recorded)
    assert status == (recorded["ClientStatus"], recorded["ClientDescription"])
    if "Healthy" in recorded:
        assert health is recorded["Healthy"]

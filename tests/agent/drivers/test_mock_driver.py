"""The mock_driver under a clock that the test moves."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.agent.drivers.manual_clock import ManualClock, settle
from tests.agent.drivers.specs import a_spec, as_recorded, event, stdout, terminated
from yurt.agent.drivers import DriverError, DriverNetwork, ExitResult, FsIsolation
from yurt.agent.drivers.mock import MockDriver, MockOptions, MockTask


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def driver(clock: ManualClock) -> MockDriver:
    return MockDriver(clock, MockOptions())


def soon(task: MockTask) -> asyncio.Task[ExitResult]:
    return asyncio.create_task(task.wait())


async def test_a_task_ends_at_once_unless_told_otherwise(driver: MockDriver, task_dir: Path) -> None:
    result = await (await driver.start(a_spec(task_dir, {}))).wait()

    assert result.is_success


async def test_a_task_runs_for_its_time_and_ends_as_recorded(
    driver: MockDriver, clock: ManualClock, recorded_events: dict[str, Any], task_dir: Path
) -> None:
    config = {"run_for": "500ms", "exit_code": 2, "exit_signal": 9, "exit_err_msg": "bad thing"}
    ending = soon(await driver.start(a_spec(task_dir, config)))

    await clock.advance(0.499)
    assert not ending.done()
    await clock.advance(0.001)

    assert as_recorded(await ending) == terminated(recorded_events, "mock-exit-err")
    assert (await ending).ended_ns == clock.now_ns()


@pytest.mark.parametrize(
    ("scenario", "config", "recoverable"),
    [
        ("mock-start-error", {"start_error": "boom"}, False),
        ("mock-start-recoverable", {"start_error": "boom", "start_error_recoverable": True}, True),
    ],
)
async def test_a_start_fails_as_recorded(
    driver: MockDriver,
    recorded_events: dict[str, Any],
    task_dir: Path,
    scenario: str,
    config: dict[str, Any],
    recoverable: bool,
) -> None:
    with pytest.raises(DriverError) as raised:
        await driver.start(a_spec(task_dir, config))

    assert str(raised.value) == event(recorded_events, scenario, "Driver Failure")["DriverError"]
    assert raised.value.recoverable == recoverable


async def test_a_start_can_take_its_time(driver: MockDriver, clock: ManualClock, task_dir: Path) -> None:
    starting = asyncio.create_task(driver.start(a_spec(task_dir, {"start_block_for": "10s"})))

    await clock.advance(9.9)
    assert not starting.done()
    await clock.advance(0.1)

    assert (await (await starting).wait()).is_success


async def test_output_is_said_again_and_again(driver: MockDriver, clock: ManualClock, task_dir: Path) -> None:
    config = {
        "run_for": "10s",
        "stdout_string": "hello\n",
        "stdout_repeat": 3,
        "stdout_repeat_duration": "2s",
    }
    task = await driver.start(a_spec(task_dir, config))
    ending = soon(task)
    await clock.advance(5)
    assert stdout(task_dir) == "hello\n" * 3

    await clock.advance(5)
    await ending

    assert stdout(task_dir) == "hello\n" * 4
    assert (task_dir.parent / "logs" / "t.stderr.0").read_text() == ""


async def test_a_kill_is_heeded_at_once(driver: MockDriver, task_dir: Path) -> None:
    task = await driver.start(a_spec(task_dir, {"run_for": "1h"}))

    result = await task.kill("SIGTERM", 5.0)

    assert (result.exit_code, result.signal) == (143, 15)


@pytest.mark.parametrize(("kill_after", "ends_s", "number"), [("3s", 3.0, 2), ("8s", 5.0, 9)])
async def test_a_kill_is_heeded_late_or_forced(
    driver: MockDriver, clock: ManualClock, task_dir: Path, kill_after: str, ends_s: float, number: int
) -> None:
    task = await driver.start(a_spec(task_dir, {"run_for": "1h", "kill_after": kill_after}))
    killing = asyncio.create_task(task.kill("", 5.0))

    await clock.advance(ends_s - 0.1)
    assert not killing.done()
    await clock.advance(0.1)

    assert (await killing).signal == number


async def test_a_task_that_ends_by_itself_while_it_is_killed_keeps_its_code(
    driver: MockDriver, clock: ManualClock, task_dir: Path
) -> None:
    config = {"run_for": "1s", "exit_code": 7, "kill_after": "3s"}
    task = await driver.start(a_spec(task_dir, config))
    killing = asyncio.create_task(task.kill("", 5.0))

    await clock.advance(1)

    assert (await killing).exit_code == 7


async def test_a_signal_fails_when_told_to(driver: MockDriver, task_dir: Path) -> None:
    quiet = await driver.start(a_spec(task_dir, {"run_for": "1h"}))
    await quiet.signal("SIGHUP")
    failing = await driver.start(a_spec(task_dir, {"run_for": "1h", "signal_error": "no"}, attempt=1))

    with pytest.raises(DriverError, match="no"):
        await failing.signal("SIGHUP")


async def test_a_plugin_that_exits_takes_its_task_along(
    driver: MockDriver, clock: ManualClock, task_dir: Path
) -> None:
    ending = soon(await driver.start(a_spec(task_dir, {"run_for": "1h", "plugin_exit_after": "1m"})))

    await clock.advance(60)

    assert "plugin exited" in (await ending).error


async def test_a_task_goes_on_while_no_agent_is_there(
    driver: MockDriver, clock: ManualClock, task_dir: Path
) -> None:
    config = {
        "run_for": "10s",
        "exit_code": 4,
        "stdout_string": "x",
        "stdout_repeat": 9,
        "stdout_repeat_duration": "1s",
    }
    task = await driver.start(a_spec(task_dir, config))
    await clock.advance(3)
    task._acting.cancel()  # the agent is gone
    await clock.advance(4)

    recovered = await MockDriver(clock, MockOptions()).recover(task.state)

    assert recovered is not None
    ending = soon(recovered)
    await clock.advance(2.9)
    assert not ending.done()
    await clock.advance(0.1)
    assert (await ending).exit_code == 4
    assert stdout(task_dir) == "xxxx" + "xx", "what it would have said meanwhile is lost"


async def test_a_state_of_another_make_is_a_lost_task(driver: MockDriver) -> None:
    assert await driver.recover(b"nonsense") is None


async def test_the_same_start_twice_is_one_task(driver: MockDriver, task_dir: Path) -> None:
    spec = a_spec(task_dir, {"run_for": "1h"})
    task = await driver.start(spec)

    assert await driver.start(spec) is task

    await task.destroy()
    assert await driver.start(spec) is not task


async def test_a_task_has_the_address_it_is_given(driver: MockDriver, task_dir: Path) -> None:
    config = {"driver_ip": "10.0.0.9", "driver_advertise": True, "driver_port_map": "http:8080"}

    task = await driver.start(a_spec(task_dir, config))

    assert task.network == DriverNetwork(ip="10.0.0.9", port_map={"http": 8080}, auto_advertise=True)
    assert (await driver.start(a_spec(task_dir, {}, attempt=1))).network is None


async def test_it_goes_away_periodically(clock: ManualClock) -> None:
    options = MockOptions(shutdown_periodic_after=10, shutdown_periodic_duration=5)
    driver = MockDriver(clock, options)
    seen = []

    for _ in range(6):
        seen.append((await driver.fingerprint()).healthy)
        await clock.advance(5)

    assert seen == [True, True, False, True, True, False]


def test_isolation_is_what_the_operator_says(clock: ManualClock) -> None:
    driver = MockDriver(clock, MockOptions(fs_isolation=FsIsolation.IMAGE))

    assert driver.capabilities.fs_isolation is FsIsolation.IMAGE


def test_every_option_is_known(driver: MockDriver) -> None:
    run = {
        "run_for": "1s",
        "exit_code": 1,
        "exit_signal": "9",
        "exit_err_msg": "x",
        "signal_error": "x",
        "stdout_string": "x",
        "stdout_repeat": 1,
        "stdout_repeat_duration": "1s",
        "stderr_string": "x",
        "stderr_repeat": 1,
        "stderr_repeat_duration": "1s",
    }
    start = {"start_error": "x", "start_error_recoverable": "true", "start_block_for": "1s"}
    address = {"driver_ip": "1.2.3.4", "driver_advertise": False, "driver_port_map": "a:1"}
    others = {"kill_after": "1s", "plugin_exit_after": "1s", "exec_command": [run]}

    assert driver.validate_config({**run, **start, **address, **others}) == []
    assert driver.validate_config({"exec_command": {"nosuch": 1}}) == [
        'Invalid label: No argument or block type is named "nosuch".'
    ]


async def test_waiting_can_be_given_up(driver: MockDriver, task_dir: Path) -> None:
    task = await driver.start(a_spec(task_dir, {"run_for": "1h"}))
    waiting = soon(task)
    await settle()
    waiting.cancel()

    assert (await task.kill("", 1.0)).signal == 2

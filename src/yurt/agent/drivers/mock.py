"""The mock_driver: tasks that only pretend to run, for tests and simulations."""

from __future__ import annotations

import asyncio
import signal as signals
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from yurt.agent.drivers.config_schema import Seconds, decode_config
from yurt.agent.drivers.context import BadPluginConfig, DriverContext
from yurt.agent.drivers.driver import (
    UNDETECTED,
    Capabilities,
    DriverError,
    DriverFingerprint,
    DriverNetwork,
    FsIsolation,
    NetworkIsolation,
    TaskSpec,
    config_error_text,
    healthy_fingerprint,
)
from yurt.agent.drivers.mock_session import MockRun, MockSession, script
from yurt.agent.drivers.session import SessionRequest
from yurt.agent.drivers.signals import signal_number
from yurt.agent.launcher import ExitResult
from yurt.agent.launcher.daemon.logs import RotatedLog
from yurt.clock import Clock
from yurt.model.times import SECOND_NS

NAME = "mock_driver"
_MIB = 1 << 20


class MockOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The operator's settings: `plugin "mock_driver" { config { } }`.

    The driver goes away `shutdown_periodic_after` seconds after it came, for `shutdown_periodic_duration`
    seconds, again and again.
    """

    enabled: bool = True
    fs_isolation: FsIsolation = FsIsolation.NONE
    shutdown_periodic_after: int = 0
    shutdown_periodic_duration: int = 0


class MockConfig(MockRun, frozen=True, kw_only=True):
    """A task's `config { }`."""

    start_error: str = ""
    start_error_recoverable: bool = False
    start_block_for: Seconds = Seconds(0.0)
    kill_after: Seconds = Seconds(0.0)
    plugin_exit_after: Seconds = Seconds(0.0)
    driver_ip: str = ""
    driver_advertise: bool = False
    driver_port_map: str = ""
    exec_command: MockRun = MockRun()


class MockState(msgspec.Struct, frozen=True, kw_only=True):
    """What a handle keeps: enough to pretend that the task ran on while no agent was there."""

    task: str
    log_dir: str
    log_files_max: int
    log_file_mb_max: int
    config: MockConfig
    started_ns: int


class MockDriver:
    """Runs nothing, for as long as it is told."""

    name = NAME

    def __init__(self, clock: Clock, options: MockOptions) -> None:
        self._clock = clock
        self._options = options
        self._came_at = clock.monotonic()
        self._running: dict[tuple[str, str, int], MockTask] = {}

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            send_signals=True,
            exec=True,
            fs_isolation=self._options.fs_isolation,
            networks=(NetworkIsolation.HOST,),
        )

    async def fingerprint(self) -> DriverFingerprint:
        if not self._options.enabled or self._is_away():
            return UNDETECTED
        return healthy_fingerprint(NAME)

    def _is_away(self) -> bool:
        after, duration = self._options.shutdown_periodic_after, self._options.shutdown_periodic_duration
        if not after or not duration:
            return False
        return (self._clock.monotonic() - self._came_at) % (after + duration) >= after

    def validate_config(self, config: Mapping[str, Any]) -> list[str]:
        return decode_config(config, MockConfig)[1]

    async def start(self, spec: TaskSpec) -> MockTask:
        key = (spec.alloc_id, spec.task, spec.attempt)
        if key in self._running:
            return self._running[key]
        config, problems = decode_config(spec.config, MockConfig)
        if config is None:
            raise DriverError(config_error_text(problems))
        if config.start_block_for:
            await self._clock.sleep(config.start_block_for)
        if config.start_error:
            raise DriverError(config.start_error, recoverable=config.start_error_recoverable)
        state = MockState(
            task=spec.task,
            log_dir=spec.log_dir,
            log_files_max=spec.log_files_max,
            log_file_mb_max=spec.log_file_mb_max,
            config=config,
            started_ns=self._clock.now_ns(),
        )
        task = MockTask(self._clock, state, forget=lambda: self._running.pop(key, None))
        self._running[key] = task
        return task

    async def recover(self, state: bytes) -> MockTask | None:
        try:
            decoded = msgspec.msgpack.decode(state, type=MockState)
        except msgspec.DecodeError:
            return None
        return MockTask(self._clock, decoded, is_resumed=True)


class MockTask:
    """A pretended task, as a `TaskHandle`. Takes up its part where the clock says it would be by now."""

    def __init__(
        self,
        clock: Clock,
        state: MockState,
        *,
        is_resumed: bool = False,
        forget: Callable[[], object] = lambda: None,
    ) -> None:
        self.state = msgspec.msgpack.encode(state)
        self.network = _network(state.config)
        self._clock = clock
        self._task = state
        self._forget = forget
        # Up to when its output was written; a task that starts now has said nothing.
        self._said_s = self._elapsed_s() if is_resumed else -1.0
        self._ended: asyncio.Future[ExitResult] = asyncio.get_running_loop().create_future()
        self._acting = asyncio.create_task(self._act(), name=f"mock-{state.task}")

    async def _act(self) -> None:
        config = self._task.config
        plugin_exits = 0.0 < config.plugin_exit_after < config.run_for
        end_s = config.plugin_exit_after if plugin_exits else config.run_for
        for at_s, stream, text in script(config):
            if self._said_s < at_s <= end_s:
                await self._sleep_until(at_s)
                _write_log(self._task, stream, text)
        await self._sleep_until(end_s)
        if plugin_exits:
            self._end(ExitResult(exit_code=1, error="the driver's plugin exited"))
        else:
            result = ExitResult(exit_code=config.exit_code, signal=config.exit_signal)
            self._end(msgspec.structs.replace(result, error=config.exit_err_msg))

    def _elapsed_s(self) -> float:
        return (self._clock.now_ns() - self._task.started_ns) / SECOND_NS

    async def _sleep_until(self, at_s: float) -> None:
        left_s = at_s - self._elapsed_s()
        if left_s > 0:
            await self._clock.sleep(left_s)

    def _end(self, result: ExitResult) -> None:
        if not self._ended.done():
            self._ended.set_result(msgspec.structs.replace(result, ended_ns=self._clock.now_ns()))

    async def wait(self) -> ExitResult:
        return await asyncio.shield(self._ended)

    async def kill(self, signal: str, timeout_s: float) -> ExitResult:
        """End as a process does that takes `kill_after` to heed the signal."""
        kill_after_s = self._task.config.kill_after
        if kill_after_s:
            pause: asyncio.Future[Any] = asyncio.ensure_future(
                self._clock.sleep(min(kill_after_s, timeout_s))
            )
            ended: asyncio.Future[Any] = self._ended
            await asyncio.wait({pause, ended}, return_when=asyncio.FIRST_COMPLETED)
            pause.cancel()
        number = signal_number(signal) if kill_after_s <= timeout_s else signals.SIGKILL
        self._acting.cancel()
        self._end(ExitResult(exit_code=128 + number, signal=number))
        return await self.wait()

    async def signal(self, signal: str) -> None:
        if self._task.config.signal_error:
            raise DriverError(self._task.config.signal_error)

    async def open_session(self, request: SessionRequest) -> MockSession:
        """Pretend to run a command: the one that `exec_command` describes."""
        return MockSession(self._clock, self._task.config.exec_command, tty=request.tty)

    async def destroy(self) -> None:
        if not self._ended.done():
            await self.kill("SIGKILL", 0.0)
        self._forget()


def _write_log(state: MockState, stream: str, text: str) -> None:
    if not state.log_dir:
        return
    try:
        log = RotatedLog(
            state.log_dir, f"{state.task}.{stream}", state.log_files_max, state.log_file_mb_max * _MIB
        )
    except OSError:  # the alloc's directory is gone, and its output with it
        return
    log.open()
    log.append(text.encode())
    log.close()


def _network(config: MockConfig) -> DriverNetwork | None:
    if not config.driver_ip:
        return None
    label, _, port = config.driver_port_map.partition(":")
    port_map = {label: int(port)} if port.isdecimal() else {}
    return DriverNetwork(ip=config.driver_ip, port_map=port_map, auto_advertise=config.driver_advertise)


class _Plugin(msgspec.Struct, frozen=True, kw_only=True):
    fs_isolation: str = FsIsolation.NONE
    shutdown_periodic_after: int = 0
    shutdown_periodic_duration: int = 0


def make(context: DriverContext) -> MockDriver:
    """On in dev mode and where the operator asks for it by a plugin block: elsewhere it is in the way."""
    plugin = context.plugin(NAME, _Plugin)
    kinds = [kind.value for kind in FsIsolation]
    if plugin.fs_isolation not in kinds:
        raise BadPluginConfig(NAME, [f"fs_isolation must be one of {', '.join(kinds)}."])
    return MockDriver(
        context.clock,
        MockOptions(
            enabled=context.dev or context.config is not None,
            fs_isolation=FsIsolation(plugin.fs_isolation),
            shutdown_periodic_after=plugin.shutdown_periodic_after,
            shutdown_periodic_duration=plugin.shutdown_periodic_duration,
        ),
    )

"""A task that runs as a Docker container."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Sequence

import msgspec

from yurt.agent.drivers.docker.answers import Container, ContainerState, ContainerStats, Created, Exec
from yurt.agent.drivers.docker.engine import CALL_LIMIT_S, Engine, EngineError, EngineUnreachable
from yurt.agent.drivers.docker.logs import Followed, LogFollower
from yurt.agent.drivers.docker.session import DockerSession, open_in_container
from yurt.agent.drivers.docker.usage import container_usage
from yurt.agent.drivers.driver import DriverError, DriverNetwork
from yurt.agent.drivers.session import SessionRequest
from yurt.agent.drivers.usage import CpuRates
from yurt.agent.launcher import ExitResult, LauncherClient
from yurt.clock import Clock
from yurt.model.resource_usage import TaskResourceUsage
from yurt.model.times import time_ns
from yurt.observe.logger import get_logger

RETRY_S = 1.0
RETRY_S_MAX = 30.0
_NOT_FOUND, _CONFLICT = 404, 409
_GONE = "the Docker container was removed by somebody else; its exit code is unknown"
_OOM = "OOM Killed"
logger = get_logger("docker")


class DockerState(msgspec.Struct, frozen=True, kw_only=True):
    """What a handle keeps: enough to find the container again."""

    image_id: str
    followed: Followed
    network: DriverNetwork | None = None


class DockerTask:
    """A `TaskHandle` of a container. `on_destroy` is told when the container is no longer this task's."""

    def __init__(
        self,
        engine: Engine,
        launcher: LauncherClient,
        clock: Clock,
        task: DockerState,
        *,
        keeps_container: bool,
        on_destroy: Callable[[DockerState], None],
    ) -> None:
        self.state = msgspec.msgpack.encode(task)
        self.network = task.network
        self.container_id = task.followed.container_id
        self._engine = engine
        self._clock = clock
        self._task = task
        self._keeps_container = keeps_container
        self._on_destroy = on_destroy
        self._follower = LogFollower(launcher, engine, task.followed)
        self._path = f"/containers/{self.container_id}"
        self._result: ExitResult | None = None
        self._started_ns: int | None = None
        self._rates = CpuRates()

    async def follow_logs(self) -> None:
        """See to it that output is kept."""
        await self._follower.start()

    async def wait(self) -> ExitResult:
        if self._result is None:
            self._result = await self._wait()
        return self._result

    async def _wait(self) -> ExitResult:
        """Ask until there is an answer: a daemon that is away may come back with the container running."""
        pause_s = RETRY_S
        while True:
            try:
                await self._engine.post(f"{self._path}/wait", limit_s=None)
                container = await self._engine.get(f"{self._path}/json", Container)
            except EngineError as error:
                if error.status == _NOT_FOUND:
                    return ExitResult(exit_code=1, error=_GONE, ended_ns=self._clock.now_ns())
                reason = str(error)
            except EngineUnreachable as error:
                reason = str(error)
            else:
                if not container.state.running:
                    await self._follower.drain()
                    return exit_result(container.state)
                reason = "it still runs"
            logger.warning("docker.wait_failed", container_id=self.container_id, reason=reason)
            await self._clock.sleep(pause_s)
            pause_s = min(pause_s * 2, RETRY_S_MAX)

    async def kill(self, signal: str, timeout_s: float) -> ExitResult:
        """Without a signal the image's own is sent, and the time is Docker's to measure, in seconds."""
        if signal:
            await self.signal(signal)
            try:
                async with asyncio.timeout(timeout_s):
                    return await self.wait()
            except TimeoutError:
                timeout_s = 0.0
        seconds = math.ceil(timeout_s)
        await self._ask(f"{self._path}/stop", limit_s=seconds + CALL_LIMIT_S, t=str(seconds))
        return await self.wait()

    async def signal(self, signal: str) -> None:
        await self._ask(f"{self._path}/kill", signal=signal)

    async def run_command(self, command: str, args: Sequence[str], *, timeout_s: float) -> int:
        """Run another command in the container; returns its exit code. Raises DriverError.

        One that is not done in time goes on: Docker offers no way to end it.
        """
        try:
            body = {"Cmd": [command, *args], "AttachStdout": True, "AttachStderr": True}
            created = msgspec.json.decode(
                await self._engine.post(f"{self._path}/exec", body=body), type=Created
            )
            async with asyncio.timeout(timeout_s):
                # The answer is the command's output, and ends with it.
                await self._engine.post(f"/exec/{created.id}/start", body={"Detach": False}, limit_s=None)
            return (await self._engine.get(f"/exec/{created.id}/json", Exec)).exit_code or 0
        except TimeoutError:
            raise DriverError(f"{command} was not done within {timeout_s:g} s") from None
        except (EngineError, EngineUnreachable) as error:
            raise DriverError(f"cannot run {command} in the container: {error}") from error

    async def open_session(self, request: SessionRequest) -> DockerSession:
        """Run another command in the container, with its streams open. Raises DriverError."""
        return await open_in_container(self._engine, self.container_id, request)

    async def usage(self) -> TaskResourceUsage | None:
        """What the container uses; None when the daemon cannot tell."""
        try:
            if self._started_ns is None:
                container = await self._engine.get(f"{self._path}/json", Container)
                self._started_ns = time_ns(container.state.started_at)
            told = await self._engine.get(
                f"{self._path}/stats", ContainerStats, **{"stream": "false", "one-shot": "true"}
            )
        except (EngineError, EngineUnreachable):
            return None
        return container_usage(told, self._rates, now=self._clock.now_ns(), since=self._started_ns)

    async def _ask(self, path: str, *, limit_s: float = CALL_LIMIT_S, **params: str) -> None:
        try:
            await self._engine.post(path, limit_s=limit_s, **params)
        except EngineError as error:
            # A container that has ended, or is gone, needs nothing more.
            if error.status not in (_NOT_FOUND, _CONFLICT):
                raise DriverError(
                    f"Failed to signal container {self.container_id}: {error}", recoverable=error.is_passing
                ) from error
        except EngineUnreachable as error:
            raise DriverError(str(error), recoverable=True) from error

    async def destroy(self) -> None:
        """End it if it runs. A container that cannot be removed now is removed as one of no task later."""
        try:
            if self._keeps_container:
                await self._engine.post(f"{self._path}/stop", t="0")
            else:
                await self._engine.delete(self._path, force="true", v="true")
        except (EngineError, EngineUnreachable) as error:
            if not (isinstance(error, EngineError) and error.status == _NOT_FOUND):
                logger.warning("docker.remove_failed", container_id=self.container_id, error=str(error))
        await self._follower.stop()
        self._on_destroy(self._task)


def exit_result(state: ContainerState) -> ExitResult:
    """How a container ended, told as Docker tells it: with a code, and without the signal behind it."""
    error = ""
    if state.oom_killed:
        error = _OOM
    elif state.exit_code:
        error = f"Docker container exited with non-zero exit code: {state.exit_code}"
    return ExitResult(
        exit_code=state.exit_code,
        oom_killed=state.oom_killed,
        error=error,
        ended_ns=time_ns(state.finished_at),
    )

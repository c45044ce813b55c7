"""Keeping a container's output in its alloc's log files, by a process that needs no agent."""

from __future__ import annotations

import asyncio
import contextlib
import os

import msgspec

from yurt.agent.drivers.docker.engine import Engine, Tls
from yurt.agent.launcher import (
    LauncherClient,
    LauncherUnavailable,
    LaunchFailed,
    LaunchSpec,
    LogLimits,
    TaskKey,
    TaskLost,
)
from yurt.agent.launcher.daemon.docker_logs import NAME as DOCKER_LOGS
from yurt.observe.logger import get_logger

DRAIN_LIMIT_S = 2.0
_POSITIONS = "docker"
logger = get_logger("docker")


class Followed(msgspec.Struct, frozen=True, kw_only=True):
    """Whose output goes where; without `limits` it is thrown away."""

    key: TaskKey
    container_id: str
    limits: LogLimits | None
    has_terminal: bool = False


class LogFollower:
    """Copies the output of one container. Goes on without an agent, and where it was when started again."""

    def __init__(self, launcher: LauncherClient, engine: Engine, followed: Followed) -> None:
        self._launcher = launcher
        self._engine = engine
        self._followed = followed
        self._position = f"{launcher.directory}/{_POSITIONS}/{followed.key.record}"

    async def start(self) -> None:
        """Begin, unless it runs already. A follower that cannot run costs output, but not the task."""
        followed = self._followed
        if followed.limits is None or await self._launcher.attach(followed.key):
            return
        self._launcher.forget(followed.key)
        os.makedirs(os.path.dirname(self._position), mode=0o700, exist_ok=True)
        tls = self._engine.tls or Tls()
        kind = "tty" if followed.has_terminal else "frames"
        spec = LaunchSpec(
            key=followed.key,
            path="",
            argv=(
                *(followed.container_id, self._position, kind),
                *(self._engine.endpoint, tls.ca, tls.cert, tls.key),
            ),
            env={},
            logs=followed.limits,
            builtin=DOCKER_LOGS,
        )
        try:
            await self._launcher.start(spec)
        except (LaunchFailed, LauncherUnavailable, TaskLost) as error:
            logger.warning("docker.logs_lost", container_id=followed.container_id, error=str(error))

    async def drain(self) -> None:
        """Wait, though not for long, until all that an ended container wrote is in the files."""
        task = await self._launcher.attach(self._followed.key)
        if task is not None:
            try:
                async with asyncio.timeout(DRAIN_LIMIT_S):
                    await task.wait()
            except TimeoutError:
                logger.warning("docker.logs_cut", container_id=self._followed.container_id)

    async def stop(self) -> None:
        """End it, and forget how far it was."""
        key = self._followed.key
        task = await self._launcher.attach(key)
        if task is not None:
            await task.kill_now()
        self._launcher.forget(key)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._position)

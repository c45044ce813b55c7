"""The docker driver: tasks as containers of a Docker daemon."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import msgspec

from yurt.agent.drivers.config_schema import decode_config
from yurt.agent.drivers.context import DriverContext
from yurt.agent.drivers.docker.answers import Container, Created, Info
from yurt.agent.drivers.docker.config import DockerConfig
from yurt.agent.drivers.docker.container import Facts, container_body, container_name
from yurt.agent.drivers.docker.dangling import DanglingContainers
from yurt.agent.drivers.docker.engine import Engine, EngineError, EngineUnreachable
from yurt.agent.drivers.docker.fingerprint import fingerprint_docker
from yurt.agent.drivers.docker.images import Images
from yurt.agent.drivers.docker.logs import Followed
from yurt.agent.drivers.docker.options import NAME, DockerOptions, docker_options
from yurt.agent.drivers.docker.pause import PauseContainers
from yurt.agent.drivers.docker.ports import driver_network, published
from yurt.agent.drivers.docker.task import DockerState, DockerTask
from yurt.agent.drivers.driver import (
    Capabilities,
    DriverError,
    DriverFingerprint,
    FsIsolation,
    NetworkIsolation,
    TaskSpec,
    config_error_text,
)
from yurt.agent.drivers.launched import log_limits, task_key
from yurt.agent.launcher import LauncherClient
from yurt.clock import Clock
from yurt.observe.logger import get_logger

CREATE_RETRY_S = 0.05
ENGINE_TRIES_MAX = 5
_NOT_FOUND, _CONFLICT = 404, 409
logger = get_logger("docker")


class DockerDriver:
    """Runs containers through the daemon that the operator names. Its upkeep happens when it is asked how
    it is, which the agent does every now and then.
    """

    name = NAME
    capabilities = Capabilities(
        send_signals=True,
        exec=True,
        host_volumes=True,
        fs_isolation=FsIsolation.IMAGE,
        networks=(NetworkIsolation.HOST, NetworkIsolation.GROUP, NetworkIsolation.TASK),
    )

    def __init__(self, launcher: LauncherClient, clock: Clock, options: DockerOptions) -> None:
        tls = options.tls if any((options.tls.ca, options.tls.cert, options.tls.key)) else None
        self._engine = Engine(options.endpoint, tls)
        self._launcher = launcher
        self._clock = clock
        self._options = options
        self._images = Images(self._engine, options, clock)
        self._dangling = DanglingContainers(self._engine, options.gc.dangling_containers, clock)
        self._pauses = PauseContainers(self._engine, self._images, options)
        self._was_seen = False
        self._has_swappiness: bool | None = None

    async def fingerprint(self) -> DriverFingerprint:
        try:
            found = await fingerprint_docker(self._engine, self._options)
            self._was_seen = True
            await self._images.remove_unused()
            await self._dangling.remove()
        except (EngineUnreachable, EngineError):
            return DriverFingerprint(
                detected=self._was_seen, healthy=False, description="Failed to connect to docker daemon"
            )
        return found

    def validate_config(self, config: Mapping[str, Any]) -> list[str]:
        return decode_config(config, DockerConfig)[1]

    async def start(self, spec: TaskSpec) -> DockerTask:
        config, problems = decode_config(spec.config, DockerConfig)
        if config is None:
            raise DriverError(config_error_text(problems))
        if spec.config.get("command") is not None and not config.command.strip():
            raise DriverError("command is blank; leave it out to run the image's own")
        image_id = await self._images.provide(
            config, local_dir=f"{spec.task_dir}/local", announce=spec.announce
        )
        try:
            body = await self._body(spec, config, image_id)
            container_id = await self._create(container_name(spec), body, config)
            self._images.use(image_id, container_id)
            self._dangling.track(container_id)
            task = await self._run(spec, config, image_id, container_id)
        except EngineUnreachable as error:
            raise DriverError(str(error), recoverable=True) from error
        await task.follow_logs()
        return task

    async def recover(self, state: bytes) -> DockerTask | None:
        try:
            known = msgspec.msgpack.decode(state, type=DockerState)
        except (msgspec.DecodeError, ValueError):
            return None
        task = self._task(known)
        try:
            await self._engine.get(f"/containers/{task.container_id}/json", Container)
        except EngineError as error:
            if error.status == _NOT_FOUND:
                await task.destroy()
                return None
        except EngineUnreachable as error:
            # The daemon may come back, and the container with it; `wait` asks until it does.
            logger.warning("docker.recovered_unseen", container_id=task.container_id, reason=str(error))
        self._images.use(known.image_id, task.container_id)
        self._dangling.track(task.container_id)
        await task.follow_logs()
        return task

    async def create_network(self, alloc_id: str, *, hostname: str = "") -> str:
        """Make the network namespace of an alloc's group, and return its path. Raises DriverError.

        Docker can only share namespaces that a container of its own holds. Safe to call again.
        """
        return await self._pauses.create(alloc_id, hostname=hostname)

    async def destroy_network(self, alloc_id: str) -> None:
        """Let go of an alloc's namespace; its tasks must have ended. Raises DriverError."""
        await self._pauses.destroy(alloc_id)

    async def _body(self, spec: TaskSpec, config: DockerConfig, image_id: str) -> dict[str, Any]:
        if self._has_swappiness is None or spec.devices:
            info = await self._engine.get("/info", Info)
            self._has_swappiness = info.cgroup_version != "2"
            wanted = self._options.nvidia_runtime
            if spec.devices and not config.runtime and wanted not in (info.runtimes or {}):
                raise DriverError(
                    f'Docker has no runtime "{wanted}" for GPUs; '
                    "install nvidia-container-toolkit on this node and restart Docker"
                )
        facts = Facts(
            image_id=image_id,
            group_network=self._pauses.network_mode(spec.alloc_id) if spec.network_namespace else "",
            has_swappiness=self._has_swappiness,
        )
        try:
            return await asyncio.to_thread(container_body, spec, config, self._options, facts)
        except DriverError as error:
            raise DriverError(
                f'Failed to create container configuration for image "{config.image}" ("{image_id}"): {error}'
            ) from error

    async def _create(self, name: str, body: dict[str, Any], config: DockerConfig) -> str:
        """Make the container, or find it: one of that name that runs is of an earlier try at this start."""
        tries = config.container_exists_attempts or self._options.container_exists_attempts
        pause_s = CREATE_RETRY_S
        for tries_left in reversed(range(max(tries, ENGINE_TRIES_MAX))):
            try:
                answer = await self._engine.post("/containers/create", body=body, name=name)
                return msgspec.json.decode(answer, type=Created).id
            except EngineError as error:
                if not tries_left or not (error.is_passing or error.status == _CONFLICT):
                    text = f"Failed to create container: {error}"
                    raise DriverError(text, recoverable=error.is_passing) from error
                if error.status == _CONFLICT and (running := await self._clear_name(name)):
                    return running
            await self._clock.sleep(pause_s)
            pause_s *= 2
        raise AssertionError("the last try returns or raises")

    async def _clear_name(self, name: str) -> str | None:
        """The id of the container that has the name, if it runs; any other is removed."""
        try:
            container = await self._engine.get(f"/containers/{name}/json", Container)
            if container.state.running:
                return container.id
            await self._engine.delete(f"/containers/{container.id}", force="true", v="true")
        except EngineError as error:  # it is going away by itself
            logger.info("docker.name_not_cleared", name=name, reason=str(error))
        return None

    async def _run(
        self, spec: TaskSpec, config: DockerConfig, image_id: str, container_id: str
    ) -> DockerTask:
        followed = Followed(
            key=task_key(spec),
            container_id=container_id,
            limits=None if self._options.disable_log_collection else log_limits(spec),
            has_terminal=config.tty,
        )
        state = DockerState(image_id=image_id, followed=followed)
        try:
            await self._engine.post(f"/containers/{container_id}/start")
            container = await self._engine.get(f"/containers/{container_id}/json", Container)
        except EngineError as error:
            await self._task(state).destroy()
            text = f"Failed to start container {container_id}: {error}"
            raise DriverError(text, recoverable=error.is_passing) from error
        network = driver_network(
            container.network_settings,
            port_map={port.label: to for port, to in published(spec, config)},
            wants_ipv6=config.advertise_ipv6_address,
        )
        return self._task(msgspec.structs.replace(state, network=network))

    def _task(self, state: DockerState) -> DockerTask:
        return DockerTask(
            self._engine,
            self._launcher,
            self._clock,
            state,
            keeps_container=not self._options.gc.container,
            on_destroy=self._let_go,
        )

    def _let_go(self, state: DockerState) -> None:
        self._images.release(state.image_id, state.followed.container_id)
        self._dangling.untrack(state.followed.container_id)


def make(context: DriverContext) -> DockerDriver:
    """On wherever a daemon answers."""
    return DockerDriver(context.launcher, context.clock, docker_options(context))

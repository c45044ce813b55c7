"""Containers that do nothing but hold the network namespace of an alloc's group."""

from __future__ import annotations

from contextlib import aclosing

import msgspec

from yurt.agent.drivers.docker import pause_image
from yurt.agent.drivers.docker.answers import Container, Created, Progress
from yurt.agent.drivers.docker.config import DockerConfig
from yurt.agent.drivers.docker.container import LABEL_PREFIX
from yurt.agent.drivers.docker.engine import Engine, EngineError, EngineUnreachable
from yurt.agent.drivers.docker.images import Images
from yurt.agent.drivers.docker.options import DockerOptions
from yurt.agent.drivers.driver import DriverError

_NOT_FOUND = 404


def _no_announcement(_message: str, _details: dict[str, str]) -> None:
    """The image is for the whole group, so no task is told of its download."""


class PauseContainers:
    """One for each group that shares a network; Docker starts them again when it restarts."""

    def __init__(self, engine: Engine, images: Images, options: DockerOptions) -> None:
        self._engine = engine
        self._images = images
        self._options = options

    def network_mode(self, alloc_id: str) -> str:
        """What a container says to join the group's network."""
        return f"container:{_name(alloc_id)}"

    async def create(self, alloc_id: str, *, hostname: str) -> str:
        """Make the container unless it is there; returns the path of its namespace. Raises DriverError."""
        try:
            container = await self._find(alloc_id)
            if container is None:
                await self._make(alloc_id, hostname)
            if container is None or not container.state.running:
                await self._engine.post(f"/containers/{_name(alloc_id)}/start")
            container = await self._find(alloc_id)
        except (EngineError, EngineUnreachable) as error:
            raise DriverError(f"failed to create network for alloc: {error}", recoverable=True) from error
        if container is None:
            raise DriverError("failed to create network for alloc: its container is gone", recoverable=True)
        return container.network_settings.sandbox_key

    async def destroy(self, alloc_id: str) -> None:
        """Remove the container, if it is there. Raises DriverError."""
        try:
            await self._engine.delete(f"/containers/{_name(alloc_id)}", force="true", v="true")
        except EngineError as error:
            if error.status != _NOT_FOUND:
                raise DriverError(f"failed to destroy network of alloc: {error}", recoverable=True) from error
        except EngineUnreachable as error:
            raise DriverError(f"failed to destroy network of alloc: {error}", recoverable=True) from error

    async def _find(self, alloc_id: str) -> Container | None:
        try:
            return await self._engine.get(f"/containers/{_name(alloc_id)}/json", Container)
        except EngineError as error:
            if error.status == _NOT_FOUND:
                return None
            raise

    async def _make(self, alloc_id: str, hostname: str) -> None:
        image_id = await self._provide_image()
        body = {
            "Image": image_id,
            "Hostname": hostname,
            # Not the label of tasks' containers: these belong to no task, yet are not dangling.
            "Labels": {f"{LABEL_PREFIX}alloc_id": alloc_id},
            "HostConfig": {"NetworkMode": "none", "RestartPolicy": {"Name": "unless-stopped"}},
        }
        answer = await self._engine.post("/containers/create", body=body, name=_name(alloc_id))
        # Never released: the next group needs it again.
        self._images.use(image_id, msgspec.json.decode(answer, type=Created).id)

    async def _provide_image(self) -> str:
        """The operator's image, or one that is made here: then no registry has to be reached."""
        name = self._options.infra_image or (pause_image.NAME if pause_image.is_possible() else "")
        if not name:
            raise DriverError('set infra_image in plugin "docker": no image is known for this machine')
        if name == pause_image.NAME and not await self._images.has(name):
            stream = self._engine.stream(
                "/images/create",
                data=pause_image.chunks(),
                fromSrc="-",
                repo=pause_image.REPOSITORY,
                tag=pause_image.TAG,
                changes=pause_image.ENTRYPOINT,
            )
            async with aclosing(stream) as lines:
                async for line in lines:
                    told = msgspec.json.decode(line, type=Progress)
                    if told.error:
                        raise DriverError(f"failed to make the image {name}: {told.error}")
        image = DockerConfig(image=name, image_pull_timeout=self._options.infra_image_pull_timeout)
        return await self._images.provide(image, local_dir="", announce=_no_announcement)


def _name(alloc_id: str) -> str:
    return f"nomad_init_{alloc_id}"

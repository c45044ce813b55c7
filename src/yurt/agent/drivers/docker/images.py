"""Getting images, and removing those that no task uses any more."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import msgspec

from yurt.agent.drivers.docker.answers import Image, Progress
from yurt.agent.drivers.docker.config import DockerConfig
from yurt.agent.drivers.docker.credentials import Credentials, CredentialsUnavailable, find_credentials
from yurt.agent.drivers.docker.engine import Engine, EngineError, EngineUnreachable
from yurt.agent.drivers.docker.image_names import ImageName, parse_image_name
from yurt.agent.drivers.docker.options import DockerOptions
from yurt.agent.drivers.docker.pull_progress import PullProgress
from yurt.agent.drivers.driver import Announce, DriverError
from yurt.clock import Clock
from yurt.errors import YurtError
from yurt.observe.logger import get_logger

PROGRESS_INTERVAL_S = 60.0
_LOAD_CHUNK_BYTES = 1 << 20
_NOT_FOUND, _SERVER_ERROR = 404, 500
logger = get_logger("docker")


class PullStalled(YurtError):
    """A pull made no progress."""


class Images:
    """The images of one daemon, as far as this agent's tasks use them."""

    def __init__(self, engine: Engine, options: DockerOptions, clock: Clock) -> None:
        self._engine = engine
        self._options = options
        self._clock = clock
        self._pulls: dict[str, asyncio.Lock] = {}
        self._users: dict[str, set[str]] = {}
        self._unused_since: dict[str, float] = {}

    async def provide(self, config: DockerConfig, *, local_dir: str, announce: Announce) -> str:
        """The id of a task's image, which is loaded or pulled when it must be. Raises DriverError."""
        name = parse_image_name(config.image)
        if config.load:
            await self._load(config.load, local_dir)
            image_id = await self._find(name)
            if image_id is None:
                raise DriverError(
                    f'Failed to load image "{name}" from "{config.load}": it is not in the archive'
                )
            return image_id
        # One pull of an image at a time: who waits finds it there.
        async with self._pulls.setdefault(str(name), asyncio.Lock()):
            image_id = None if config.force_pull or name.moves else await self._find(name)
            return image_id or await self._pull(name, config, announce)

    async def has(self, image: str) -> bool:
        """Whether the daemon has an image of that name. Raises DriverError."""
        return await self._find(parse_image_name(image)) is not None

    def use(self, image_id: str, user: str) -> None:
        """Keep an image for `user`, a container's id."""
        self._users.setdefault(image_id, set()).add(user)
        self._unused_since.pop(image_id, None)

    def release(self, image_id: str, user: str) -> None:
        """Let go of an image; without users it is removed after the operator's delay."""
        users = self._users.get(image_id, set())
        users.discard(user)
        if not users:
            self._users.pop(image_id, None)
            self._unused_since[image_id] = self._clock.monotonic()

    async def remove_unused(self) -> None:
        """Remove the images whose time has come."""
        if not self._options.gc.image:
            return
        now = self._clock.monotonic()
        for image_id, since in list(self._unused_since.items()):
            if now - since < self._options.gc.image_delay:
                continue
            del self._unused_since[image_id]
            try:
                await self._engine.delete(f"/images/{image_id}", force="true")
            except EngineError as error:
                # Somebody else's container uses it, or it is gone.
                logger.info("docker.image_kept", image_id=image_id, reason=str(error))
            else:
                logger.info("docker.image_removed", image_id=image_id)

    async def _find(self, name: ImageName) -> str | None:
        try:
            return (await self._engine.get(f"/images/{name}/json", Image)).id
        except EngineError as error:
            if error.status == _NOT_FOUND:
                return None
            raise DriverError(f"Failed to inspect image `{name}`: {error}", recoverable=True) from error
        except EngineUnreachable as error:
            raise DriverError(str(error), recoverable=True) from error

    async def _pull(self, name: ImageName, config: DockerConfig, announce: Announce) -> str:
        announce("Downloading image", {"image": str(name)})
        limit_s = config.image_pull_timeout or self._options.image_pull_timeout
        try:
            credentials = await find_credentials(name, config.auth, self._options.auth)
        except CredentialsUnavailable as error:
            if not config.auth_soft_fail:
                raise DriverError(f"Failed to find docker auth for image `{name}`: {error}") from error
            credentials = None
        try:
            async with asyncio.timeout(limit_s):
                await self._pull_with(name, credentials, announce)
        except TimeoutError:
            raise DriverError(
                f"Failed to pull `{name}`: it took longer than image_pull_timeout, {limit_s:.0f} s",
                recoverable=True,
            ) from None
        except EngineError as error:
            is_final = error.status == _NOT_FOUND or _is_unknown(str(error))
            raise DriverError(f"Failed to pull `{name}`: {error}", recoverable=not is_final) from error
        except (EngineUnreachable, PullStalled) as error:
            raise DriverError(f"Failed to pull `{name}`: {error}", recoverable=True) from error
        image_id = await self._find(name)
        if image_id is None:
            raise DriverError(f"Failed to pull `{name}`: it was pulled, but is not there", recoverable=True)
        return image_id

    async def _pull_with(self, name: ImageName, credentials: Credentials | None, announce: Announce) -> None:
        progress = PullProgress()
        reported_at = self._clock.monotonic()
        headers = credentials.header() if credentials else {}
        stream = self._engine.stream(
            "/images/create", headers=headers, fromImage=name.repository, tag=name.digest or name.tag
        )
        async with aclosing(stream) as lines:
            async for line in _in_time(lines, self._options.pull_activity_timeout):
                told = msgspec.json.decode(line, type=Progress)
                if told.error:
                    raise EngineError(_SERVER_ERROR, told.error)
                progress.note(told)
                if self._clock.monotonic() - reported_at >= PROGRESS_INTERVAL_S:
                    reported_at = self._clock.monotonic()
                    announce(f"Docker image pull progress: {progress}", {"image": str(name)})

    async def _load(self, archive: str, local_dir: str) -> None:
        path = await asyncio.to_thread(_archive_path, archive, local_dir)
        try:
            async with aclosing(self._engine.stream("/images/load", data=_chunks(path))) as lines:
                async for line in lines:
                    told = msgspec.json.decode(line, type=Progress)
                    if told.error:
                        raise DriverError(f'Failed to load image from "{archive}": {told.error}')
        except EngineError as error:
            raise DriverError(f'Failed to load image from "{archive}": {error}') from error
        except EngineUnreachable as error:
            raise DriverError(f'Failed to load image from "{archive}": {error}', recoverable=True) from error


async def _in_time(lines: AsyncIterator[bytes], limit_s: float) -> AsyncIterator[bytes]:
    """The lines, as long as each comes in time. Raises PullStalled."""
    while True:
        try:
            async with asyncio.timeout(limit_s):
                line = await anext(lines, None)
        except TimeoutError:
            raise PullStalled(f"no progress for {limit_s:.0f} s (pull_activity_timeout)") from None
        if line is None:
            return
        yield line


def _archive_path(archive: str, local_dir: str) -> Path:
    """The file of an archive, which must lie in the task's own directory. Blocks."""
    local = Path(local_dir).resolve()
    path = (local / archive).resolve()
    if not path.is_relative_to(local) or not path.is_file():
        raise DriverError(
            f'Failed to load image from "{archive}": there is no such file in the task\'s local'
        )
    return path


async def _chunks(path: Path) -> AsyncIterator[bytes]:
    file = await asyncio.to_thread(path.open, "rb")
    try:
        while chunk := await asyncio.to_thread(file.read, _LOAD_CHUNK_BYTES):
            yield chunk
    finally:
        file.close()


def _is_unknown(error: str) -> bool:
    """Whether the registry answered that it has no such image."""
    return any(text in error for text in ("manifest unknown", "not found", "repository does not exist"))

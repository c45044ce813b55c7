"""Removing containers that were made for tasks, but belong to none."""

from __future__ import annotations

import json

from yurt.agent.drivers.docker.answers import ListedContainer
from yurt.agent.drivers.docker.container import OWN_LABEL
from yurt.agent.drivers.docker.engine import Engine, EngineError
from yurt.agent.drivers.docker.options import DanglingOptions
from yurt.clock import Clock
from yurt.model.times import SECOND_NS
from yurt.observe.logger import get_logger

logger = get_logger("docker")


class DanglingContainers:
    """Knows the containers of tasks, and looks for others now and then.

    The first look comes after a whole period: by then an agent that starts has found its tasks again.
    """

    def __init__(self, engine: Engine, options: DanglingOptions, clock: Clock) -> None:
        self._engine = engine
        self._options = options
        self._clock = clock
        self._tracked: set[str] = set()
        self._looked_at = clock.monotonic()

    def track(self, container_id: str) -> None:
        """A task has this container."""
        self._tracked.add(container_id)

    def untrack(self, container_id: str) -> None:
        """It has it no more."""
        self._tracked.discard(container_id)

    async def remove(self) -> None:
        """Remove what belongs to no task, when it is time to look. Raises EngineUnreachable, EngineError."""
        now = self._clock.monotonic()
        if not self._options.enabled or now - self._looked_at < self._options.period:
            return
        self._looked_at = now
        listed = await self._engine.get(
            "/containers/json",
            list[ListedContainer],
            all="true",
            filters=json.dumps({"label": [OWN_LABEL]}),
        )
        born_before_s = self._clock.now_ns() / SECOND_NS - self._options.creation_grace
        for container in listed:
            if container.id in self._tracked or container.created > born_before_s:
                continue
            logger.info(
                "docker.dangling_container",
                container_id=container.id,
                alloc_id=(container.labels or {}).get(OWN_LABEL, ""),
                removed=not self._options.dry_run,
            )
            if not self._options.dry_run:
                await self._remove(container.id)

    async def _remove(self, container_id: str) -> None:
        try:
            await self._engine.delete(f"/containers/{container_id}", force="true", v="true")
        except EngineError as error:  # the next look tries again
            logger.warning("docker.remove_failed", container_id=container_id, error=str(error))

"""Fetch what the task needs before it starts."""

from __future__ import annotations

import asyncio

from yurt.agent import task_events, task_paths
from yurt.agent.artifacts.errors import FetchFailed
from yurt.agent.artifacts.fetching import Artifact, fetch
from yurt.agent.artifacts.secrets import without_secrets
from yurt.agent.drivers import DriverError
from yurt.agent.drivers.users import find_user
from yurt.agent.launcher import Identity
from yurt.agent.outgoing import networks_of
from yurt.agent.task_paths import PathOutside
from yurt.agent.task_runner.hook import HookFailed, TaskContext, TaskHook
from yurt.model.task_parts import TaskArtifact

IN_FLIGHT_MAX = 3


class ArtifactsHook(TaskHook):
    """Fetches all artifacts; those that were fetched are not fetched again, if others fail."""

    name = "artifacts"
    runs_once = True

    def __init__(self, context: TaskContext) -> None:
        self._context = context
        self._fetched: set[int] = set()

    async def prestart(self) -> None:
        """Fail for the first that cannot be had; the restart policy says whether it is tried again."""
        self._context.emit(task_events.downloading_artifacts(self._now()))
        slots = asyncio.Semaphore(IN_FLIGHT_MAX)
        artifacts = self._context.task.artifacts or ()
        fetching = [
            asyncio.ensure_future(self._fetch(number, artifact, slots))
            for number, artifact in enumerate(artifacts)
            if number not in self._fetched
        ]
        try:
            for each in fetching:
                await each
        finally:
            for each in fetching:
                each.cancel()
            await asyncio.gather(*fetching, return_exceptions=True)

    async def _fetch(self, number: int, artifact: TaskArtifact, slots: asyncio.Semaphore) -> None:
        source = self._context.env().interpolate(artifact.getter_source)
        async with slots:
            try:
                await self._fetch_one(number, artifact, source)
            except FetchFailed as error:
                # The words of a helper process, which tools look for.
                text = (
                    f'failed to download artifact "{source}": getter subprocess failed: exit status 1: '
                    f"failed to download artifact: {error}"
                )
                raise self._failure(artifact, source, text) from error
            except (PathOutside, DriverError) as error:
                text = f'failed to download artifact "{source}": {error}'
                raise self._failure(artifact, source, text) from error
        self._fetched.add(number)

    def _failure(self, artifact: TaskArtifact, source: str, text: str) -> HookFailed:
        """A failure that whoever may see the task may read."""
        env = self._context.env()
        shown = without_secrets(
            text,
            source,
            options={key: env.interpolate(value) for key, value in (artifact.getter_options or {}).items()},
            headers={key: env.interpolate(value) for key, value in (artifact.getter_headers or {}).items()},
        )
        event = task_events.failed_artifact_download(self._now(), error=shown)
        return HookFailed(shown, event=event, recoverable=True)

    async def _fetch_one(self, number: int, artifact: TaskArtifact, source: str) -> None:
        context = self._context
        env = context.env()
        wanted = Artifact(
            source=source,
            options={key: env.interpolate(value) for key, value in (artifact.getter_options or {}).items()},
            headers={key: env.interpolate(value) for key, value in (artifact.getter_headers or {}).items()},
            mode=artifact.getter_mode,
            insecure=artifact.getter_insecure,
            place=task_paths.destination(artifact.relative_dest, env, context.dir),
            owner=await self._owner(artifact),
            denied=networks_of(context.node.settings.denied_networks),
        )
        # Beside the tasks' own directories, where none of them writes.
        scratch = f"{context.dir.path.rpartition('/')[0]}/.artifact-{context.task.name}-{number}"
        await fetch(wanted, scratch, context.node.settings.artifact, context.node.clock)

    async def _owner(self, artifact: TaskArtifact) -> Identity | None:
        user = self._context.task.user
        return await asyncio.to_thread(find_user, user) if artifact.chown and user else None

    def _now(self) -> int:
        return self._context.node.clock.now_ns()


def make(context: TaskContext) -> TaskHook | None:
    """Only tasks with artifacts need it."""
    return ArtifactsHook(context) if context.task.artifacts else None

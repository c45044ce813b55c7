"""Hand a dispatched job's payload to the task as a file."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from yurt.agent.task_runner.hook import HookFailed, TaskContext, TaskHook
from yurt.model.snappy import SnappyDamaged, decompress


class DispatchPayloadHook(TaskHook):
    """Writes the payload below the task's `local` directory."""

    name = "dispatch_payload"
    runs_once = True

    def __init__(self, context: TaskContext) -> None:
        self._context = context

    async def prestart(self) -> None:
        """Write the file."""
        wanted, payload = self._context.task.dispatch_payload, self._context.alloc.job.payload
        assert wanted is not None
        try:
            content = decompress(payload) if payload else b""
            await asyncio.to_thread(_write, Path(self._context.dir.local), wanted.file, content)
        except (OSError, SnappyDamaged) as error:
            raise HookFailed(f"failed to write dispatch payload: {error}") from error


def _write(local: Path, name: str, content: bytes) -> None:
    """Write an executable file, since payloads may be scripts. Blocks."""
    local = local.resolve()
    path = (local / name).resolve()
    if not path.is_relative_to(local):
        raise HookFailed(f"dispatch_payload file {name!r} leads out of the task's directory")
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o777)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


def make(context: TaskContext) -> TaskHook | None:
    """Only tasks with a `dispatch_payload` block of a job that was dispatched want one."""
    payload = context.task.dispatch_payload
    wants_file = payload is not None and payload.file and context.alloc.job.payload
    return DispatchPayloadHook(context) if wants_file else None

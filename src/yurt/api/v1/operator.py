"""/v1/operator: snapshots of all State."""

from __future__ import annotations

import asyncio
import base64
import os
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path

from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.deps import Deps
from yurt.api.routes import WRITE, Route

ARCHIVE_BYTES_MAX = 64 * 1024 * 1024 * 1024
_READ_BYTES = 1 << 20


class OperatorHandlers:
    """The handlers of /v1/operator."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/operator/snapshot",
                handlers={"GET": self.save, **dict.fromkeys(WRITE, self.restore)},
                summary="Save all state to an archive, or restore it from one",
            ),
        )

    async def save(self, _call: Call) -> Answer:
        """GET /v1/operator/snapshot."""
        path = _temporary_file()
        try:
            sha256 = await self._deps.server.save_archive(path)
            size = path.stat().st_size
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        digest = base64.b64encode(bytes.fromhex(sha256)).decode()
        return Answer(
            stream=_file_parts(path),
            content_type="application/x-gzip",
            headers={"Digest": f"sha-256={digest}", "Content-Length": str(size)},
            index=self._deps.state.index,
            is_read=True,
        )

    async def restore(self, call: Call) -> Answer:
        """PUT /v1/operator/snapshot."""
        path = _temporary_file()
        try:
            with path.open("wb") as file:
                async for part in call.stream(ARCHIVE_BYTES_MAX):
                    await asyncio.to_thread(file.write, part)
            await self._deps.server.restore_archive(path)
        finally:
            path.unlink(missing_ok=True)
        return Answer(body=b"", index=self._deps.state.index)


def _temporary_file() -> Path:
    descriptor, name = tempfile.mkstemp(prefix="yurt-snapshot-")
    os.close(descriptor)
    return Path(name)


async def _file_parts(path: Path) -> AsyncIterator[bytes]:
    """The parts of a file, which is removed in the end."""
    try:
        with path.open("rb") as file:
            while part := await asyncio.to_thread(file.read, _READ_BYTES):
                yield part
    finally:
        await asyncio.to_thread(path.unlink)

"""Answers that are sent while they are made."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send


class StreamedResponse(Response):
    """A response whose parts are sent as they come, until they end or the caller hangs up.

    The stream is closed either way. Starlette's own does the same by way of a second task library, whose
    first use holds up the loop for as long as importing it takes.
    """

    def __init__(self, parts: AsyncIterator[bytes], *, status_code: int, headers: Mapping[str, str]) -> None:
        self._parts = parts
        self.status_code = status_code
        self.background = None
        self.init_headers(headers)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send everything."""
        sending = asyncio.ensure_future(self._send(send))
        gone = asyncio.ensure_future(_until_gone(receive))
        try:
            await asyncio.wait({sending, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            ended = sending.done()
            sending.cancel()
            await asyncio.wait({sending, gone})
        if ended:
            sending.result()

    async def _send(self, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        try:
            async for part in self._parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        finally:
            close = getattr(self._parts, "aclose", None)
            if close is not None:
                await close()
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

"""Asking push nodes over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import msgspec

from yurt.import_later import aiohttp
from yurt.model.alloc import Allocation
from yurt.model.simple.delivery import delivered_form
from yurt.model.wire import AllocID

ANSWER_TIMEOUT_S = 5.0
# A node ends processes in up to 5 s and containers in up to 10 s, one after the other.
REMOVAL_TIMEOUT_S = 15.0
REMOVAL_TIMEOUT_PER_TASK_S = 10.0
CONNECTIONS_MAX = 512
REASON_BYTES_MAX = 500

_OK, _NOT_FOUND = 200, 404


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What a node answered; `status` 0 is no answer at all, and `text` says why."""

    status: int
    text: str = ""

    @property
    def is_ok(self) -> bool:
        """Whether the node did what it was asked."""
        return self.status == _OK

    @property
    def is_unknown(self) -> bool:
        """Whether the node does not have the allocation."""
        return self.status == _NOT_FOUND

    @property
    def reason(self) -> str:
        """Why it did not, in words."""
        return f"status {self.status}: {self.text}" if self.status else self.text


class PushClient:
    """The HTTP client towards push nodes; close it in the end."""

    def __init__(self) -> None:
        """Nothing is opened yet."""
        self._session: aiohttp.ClientSession | None = None

    async def deliver(self, endpoint: str, alloc: Allocation) -> Reply:
        """Give a node an allocation."""
        body = msgspec.json.encode(delivered_form(alloc))
        return await self._ask(
            lambda session: session.post(
                f"{endpoint}/allocations",
                data=body,
                headers={"Content-Type": "application/json"},
                allow_redirects=False,
            ),
            ANSWER_TIMEOUT_S,
        )

    async def find(self, endpoint: str, alloc_id: AllocID) -> Reply:
        """Ask whether a node has an allocation."""
        return await self._ask(
            lambda session: session.get(f"{endpoint}/allocations/{alloc_id}", allow_redirects=False),
            ANSWER_TIMEOUT_S,
        )

    async def remove(self, endpoint: str, alloc_id: AllocID, *, tasks: int) -> Reply:
        """Have a node stop and forget an allocation of so many tasks."""
        timeout_s = REMOVAL_TIMEOUT_S + REMOVAL_TIMEOUT_PER_TASK_S * max(0, tasks - 1)
        return await self._ask(
            lambda session: session.delete(f"{endpoint}/allocations/{alloc_id}", allow_redirects=False),
            timeout_s,
        )

    async def close(self) -> None:
        """Close all connections; calls in flight fail."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _ask(
        self,
        request: Callable[[aiohttp.ClientSession], AbstractAsyncContextManager[aiohttp.ClientResponse]],
        timeout_s: float,
    ) -> Reply:
        if self._session is None:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=CONNECTIONS_MAX),
                timeout=aiohttp.ClientTimeout(total=None),
            )
        try:
            async with asyncio.timeout(timeout_s), request(self._session) as response:
                text = await response.content.read(REASON_BYTES_MAX)
                return Reply(status=response.status, text=text.decode(errors="replace").strip())
        except TimeoutError:
            return Reply(status=0, text=f"no answer in {timeout_s:.0f} s")
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Reply(status=0, text=str(error) or type(error).__name__)

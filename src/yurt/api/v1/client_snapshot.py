"""The data of an allocation, for the node that goes on with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from yurt.agent.alloc_errors import AllocUnknown, SnapshotRefused
from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.needs import Anyone
from yurt.api.routes import ANY_METHOD, Route
from yurt.api.v1.local_node import checked_alloc_id
from yurt.model.wire import AllocID

NO_CLIENT = "node is not running a Nomad Client"
TOKEN_HEADER = "X-Nomad-Token"  # noqa: S105 - a header's name


class SnapshotSource(Protocol):
    """A node agent, as far as snapshots go."""

    def snapshot(self, alloc_id: AllocID, token: str | None) -> AsyncIterator[bytes]:
        """The data of an allocation; None as token is for whoever may have everything.

        Raises AllocUnknown, SnapshotRefused.
        """


class ClientSnapshotHandlers:
    """The handler of /v1/client/allocation/<id>/snapshot, on the node that has the data."""

    def __init__(self, agent: SnapshotSource | None, *, is_open: bool = False) -> None:
        """With `is_open` nobody needs a token for anything."""
        self._agent = agent
        self._is_open = is_open

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/client/allocation/{alloc_id}/snapshot",
                handlers=dict.fromkeys(ANY_METHOD, self.read),
                summary="Fetch the data of an allocation that another node goes on with",
                needs=Anyone(),  # who has the servers' token for it, which the handler looks at
            ),
        )

    async def read(self, call: Call) -> Answer:
        """/v1/client/allocation/<id>/snapshot: with the token that the servers gave that node."""
        alloc_id = checked_alloc_id(call.path["alloc_id"])
        if self._agent is None:
            raise HttpError(400, NO_CLIENT)
        try:
            token = None if self._is_open else call.headers.get(TOKEN_HEADER, "")
            parts = self._agent.snapshot(alloc_id, token)
        except SnapshotRefused as error:
            raise HttpError(403, str(error)) from None
        except AllocUnknown as error:
            raise HttpError(404, str(error)) from None
        return Answer(stream=parts, content_type="application/octet-stream", is_compressible=False)

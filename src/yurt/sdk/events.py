"""What changes in the cluster, as it changes."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import msgspec

from yurt.sdk.client import Client
from yurt.sdk.errors import BadAnswer
from yurt.sdk.streams import ByteStream
from yurt.sdk.wire import Record, decode

if TYPE_CHECKING:
    from yurt.sdk.async_client import AsyncClient

# The server sends a heartbeat every 30 s.
EVENTS_IDLE_TIMEOUT_S = 90.0


class Event(Record, frozen=True):
    """A change of one object. `payload` holds the object under its kind, in the API's own form."""

    topic: str = ""
    type: str = ""
    key: str = ""
    namespace: str = ""
    filter_keys: tuple[str, ...] = ()
    index: int = 0
    payload: dict[str, Any] = {}


class EventBatch(Record, frozen=True):
    """All events of one change of State, at one index."""

    index: int = 0
    events: tuple[Event, ...] = ()


def follow(client: Client, *, topics: Sequence[str] = (), index: int = 0) -> Iterator[EventBatch]:
    """Yield batches of events from `index` on, until the server ends the stream.

    `topics` are texts such as `Job`, `Job:web` or `*`; without any, everything is meant. The client's
    namespace counts. A broken stream raises `ServerUnreachable`: go on from the last batch's index.
    """
    with stream(client, topics=topics, index=index) as opened:
        for line in opened.lines():
            batch = _batch(line)
            if batch.events:
                yield batch


async def follow_async(
    client: "AsyncClient", *, topics: Sequence[str] = (), index: int = 0
) -> AsyncIterator[EventBatch]:
    """Like `follow`, for a client that runs in an event loop."""
    async with client.stream(stream, topics=topics, index=index) as opened:
        async for line in opened.lines():
            batch = _batch(line)
            if batch.events:
                yield batch


def stream(
    client: Client, *, topics: Sequence[str] = (), index: int = 0
) -> AbstractContextManager[ByteStream]:
    """Open the stream of lines, heartbeats (`{}`) included."""
    return client.stream(
        "/v1/event/stream", idle_timeout_s=EVENTS_IDLE_TIMEOUT_S, topic=tuple(topics), index=index
    )


def _batch(line: bytes) -> EventBatch:
    try:
        return decode(line, EventBatch)
    except msgspec.MsgspecError as error:
        raise BadAnswer("/v1/event/stream", str(error)) from error

"""/v1/event/stream: what changes, as it changes."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import msgspec

from yurt.api import needs
from yurt.api.answer import Answer
from yurt.api.call import ALL_NAMESPACES, Call, uint64
from yurt.api.deps import Deps
from yurt.api.errors import HttpError
from yurt.api.parameters import COUNT, Parameter
from yurt.api.routes import Route
from yurt.api.v1.event_access import may_ask, may_see
from yurt.api.v1.event_views import Event, events_of
from yurt.state.journal import Changed

HEARTBEAT_INTERVAL_S = 30.0
ANY = "*"
HEARTBEAT = b"{}\n"

_encode = msgspec.json.Encoder().encode


class EventHandlers:
    """The handlers of /v1/event/stream."""

    def __init__(self, deps: Deps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/event/stream",
                handlers={"GET": self.stream},
                summary="Follow what changes",
                takes=(
                    Parameter("topic", "`Topic` or `Topic:key`; everything without.", is_repeated=True),
                    Parameter("index", "Where to start; 0 is the oldest event that is kept.", COUNT),
                ),
                streams=True,
                needs=needs.Checked(told="what each topic needs", check=_may_follow),
            ),
        )

    async def stream(self, call: Call) -> Answer:
        """GET /v1/event/stream."""
        topics = _topics(call.values("topic"))
        text = call.query.get("index", "")
        index = uint64(text or "0")
        if index is None:
            raise HttpError(400, f'Unable to parse index: strconv.Atoi: parsing "{text}": invalid syntax')
        batches = self._deps.events.follow(index)

        def is_wanted(event: Event) -> bool:
            return _is_wanted(event, topics, call.namespace) and may_see(
                call.permissions, event.topic, event.namespace, event.key
            )

        return Answer(
            stream=_lines(batches, is_wanted),
            headers={"Cache-Control": "no-cache"},
            is_compressible=False,
        )


def _topics(texts: list[str]) -> Mapping[str, set[str]]:
    """The keys that are wanted of each topic. Raises HttpError."""
    topics: dict[str, set[str]] = {}
    for text in texts or [ANY]:
        parts = text.split(":")
        if len(parts) > 2:
            raise HttpError(
                400,
                f"Invalid topic query: error parsing topics: Invalid key value pair for topic, topic: {text}",
            )
        key = parts[1] if len(parts) == 2 else ANY
        topics.setdefault(parts[0], set()).add(key or ANY)
    return topics


async def _may_follow(call: Call) -> bool:
    """Whether the caller may see all topics that it asks for; `*` asks for all that there are."""
    return all(may_ask(call.permissions, topic, call.namespace) for topic in _topics(call.values("topic")))


async def _lines(batches: AsyncIterator[Changed], is_wanted: Callable[[Event], bool]) -> AsyncIterator[bytes]:
    """Batches as lines, with signs of life between."""
    yield HEARTBEAT
    pending = asyncio.ensure_future(anext(batches))
    try:
        while True:
            done, _ = await asyncio.wait({pending}, timeout=HEARTBEAT_INTERVAL_S)
            if not done:
                yield HEARTBEAT
                continue
            batch = pending.result()
            pending = asyncio.ensure_future(anext(batches))
            events = [event for event in events_of(batch) if is_wanted(event)]
            if events:
                line: dict[str, Any] = {"Index": batch.index, "Events": events}
                yield _encode(line) + b"\n"
    finally:
        pending.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await pending


def _is_wanted(event: Event, topics: Mapping[str, set[str]], namespace: str) -> bool:
    if event.namespace and namespace not in (ALL_NAMESPACES, event.namespace):
        return False
    keys = topics.get(event.topic, set()) | topics.get(ANY, set())
    own = {event.key, *(event.filter_keys or ())}
    return ANY in keys or not keys.isdisjoint(own)

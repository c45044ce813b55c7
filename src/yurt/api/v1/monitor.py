"""/v1/agent/monitor: what the agent logs, as it logs it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec

from yurt.agent.access.log_stream import StreamFrame
from yurt.api import needs
from yurt.api.answer import JSON_TYPE, Answer
from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.ids import checked_uuid
from yurt.api.parameters import NODE_ID, SERVER_ID, flag, text
from yurt.api.routes import ANY_METHOD, Route
from yurt.api.v1.local_node import ClientDeps, NodeElsewhere
from yurt.model.wire import NodeID
from yurt.observe.log_tap import listen
from yurt.observe.logger import LEVELS

# Lines that wait for a slow reader; newer ones are dropped.
LINES_WAITING_MAX = 512
HEARTBEAT_INTERVAL_S = 1.0
LOG_EVENT = "log"

_encode = msgspec.json.Encoder().encode


class MonitorHandlers:
    """The handlers of /v1/agent/monitor."""

    def __init__(self, deps: ClientDeps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/agent/monitor",
                handlers=dict.fromkeys(ANY_METHOD, self.monitor),
                summary="Follow what this agent logs",
                takes=(
                    text("log_level", "The lowest level that is shown; INFO without."),
                    flag("log_json", "Show JSON."),
                    flag("plain", "Lines of text rather than frames."),
                    NODE_ID,
                    SERVER_ID,
                ),
                streams=True,
                needs=needs.agent("read"),
                is_local=True,
            ),
        )

    async def monitor(self, call: Call) -> Answer:
        """/v1/agent/monitor: only this agent's own log."""
        name = call.query.get("log_level") or "INFO"
        level = LEVELS.get(name.upper())
        if level is None:
            raise HttpError(400, f"Unknown log level: {name}")
        plain = _flag(call, "plain", "plain")
        _flag(call, "log_json", "log json")
        self._check_target(call)
        lines = _lines(level)
        if plain:
            return Answer(stream=_plain(lines), content_type="text/plain", is_compressible=False)
        return Answer(stream=_framed(lines), content_type=JSON_TYPE, is_compressible=False)

    def _check_target(self, call: Call) -> None:
        node, server = call.query.get("node_id", ""), call.query.get("server_id", "")
        if node and server:
            raise HttpError(400, "Cannot target node and server simultaneously")
        own = self._deps.node_agent.node_id if self._deps.node_agent is not None else None
        if node and (node_id := NodeID(checked_uuid("node", node))) != own:
            if not self._deps.knows_node(node_id):
                raise HttpError(500, f'RPC Error:: 404,Unknown node "{node}"')
            raise NodeElsewhere(node_id)


def _flag(call: Call, name: str, told: str) -> bool:
    try:
        return call.flag(name)
    except HttpError:
        text = call.query[name]
        raise HttpError(
            400, f'Unknown option for {told}: strconv.ParseBool: parsing "{text}": invalid syntax'
        ) from None


async def _lines(level: int) -> AsyncIterator[str]:
    """Lines of that level or above as they come; an empty one now and then shows that nothing does."""
    waiting: asyncio.Queue[str] = asyncio.Queue(LINES_WAITING_MAX)
    loop = asyncio.get_running_loop()

    def put(line: str) -> None:
        if not waiting.full():
            waiting.put_nowait(line)

    def on_line(line: str, line_level: int) -> None:
        if line_level >= level:
            # Threads log, too; the queue belongs to the loop.
            loop.call_soon_threadsafe(put, line)

    stop = listen(on_line)
    try:
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT_INTERVAL_S):
                    line = await waiting.get()
            except TimeoutError:
                line = ""
            yield line
    finally:
        stop()


async def _framed(lines: AsyncIterator[str]) -> AsyncIterator[bytes]:
    async for line in lines:
        yield _encode(StreamFrame(data=f"{line}\n".encode(), file_event=LOG_EVENT)) if line else b"{}"


async def _plain(lines: AsyncIterator[str]) -> AsyncIterator[bytes]:
    async for line in lines:
        if line:
            yield f"{line}\n".encode()

"""/v1/agent/monitor/export: what an agent has logged so far, from the machine's journal."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import msgspec

from yurt.agent.access.log_stream import StreamFrame
from yurt.api import needs
from yurt.api.answer import JSON_TYPE, Answer
from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.parameters import NODE_ID, SERVER_ID, flag, text
from yurt.api.routes import ANY_METHOD, Route
from yurt.api.v1.local_node import ClientDeps, asked_node
from yurt.api.v1.monitor import LOG_EVENT
from yurt.model.durations import parse_duration
from yurt.model.times import SECOND_NS

SERVICE_NAMES = ("nomad", "yurt")
NO_LOG_FILE = "this agent writes no log file; name the service whose journal is meant with -service-name"
_SINCE = "72h"
_READ_BYTES = 1 << 16

_encode = msgspec.json.Encoder().encode


class MonitorExportHandlers:
    """The handlers of /v1/agent/monitor/export."""

    def __init__(self, deps: ClientDeps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        return (
            Route(
                path="/v1/agent/monitor/export",
                handlers=dict.fromkeys(ANY_METHOD, self.export),
                summary="Read what an agent has logged",
                takes=(
                    text("service_name", "The unit whose journal is read; it must name nomad or yurt."),
                    text("logs_since", "How far back to go; 72h without."),
                    flag("on_disk", "Read the agent's log file."),
                    flag("follow", "Go on as lines are written."),
                    flag("plain", "Lines of text rather than frames."),
                    NODE_ID,
                    SERVER_ID,
                ),
                streams=True,
                needs=needs.agent("read"),
                is_local=True,
            ),
        )

    async def export(self, call: Call) -> Answer:
        """/v1/agent/monitor/export."""
        on_disk, follow, plain = (_flag(call, name) for name in ("on_disk", "follow", "plain"))
        service = call.query.get("service_name", "")
        _check(call, service, on_disk=on_disk, follow=follow)
        try:
            since_s = parse_duration(call.query.get("logs_since") or _SINCE) // SECOND_NS
        except ValueError:
            raise HttpError(400, f"Unknown value for logs-since: {call.query['logs_since']}") from None
        if call.query.get("node_id"):
            asked_node(self._deps, call, unknown_status=404)
        if on_disk:
            raise HttpError(404, NO_LOG_FILE)
        command = ["journalctl", "--no-pager", "--unit", service, "--since", f"-{since_s}s"]
        parts = _journal([*command, "--follow"] if follow else command)
        if plain:
            return Answer(stream=parts, content_type="text/plain", is_compressible=False)
        return Answer(stream=_framed(parts), content_type=JSON_TYPE, is_compressible=False)


def _check(call: Call, service: str, *, on_disk: bool, follow: bool) -> None:
    """Raises HttpError for what cannot be asked together."""
    if call.query.get("node_id") and call.query.get("server_id"):
        raise HttpError(400, "Cannot target node and server simultaneously")
    if not service and not on_disk:
        raise HttpError(400, "Either -service-name or -on-disk must be set")
    if service and on_disk:
        raise HttpError(400, "Cannot target journald and nomad log file simultaneously")
    if on_disk and follow:
        raise HttpError(400, "Cannot follow log file")
    # A unit's name alone, and one of ours: other journals are nobody's business here.
    if service and not (
        any(name in service for name in SERVICE_NAMES) and service.replace("-", "").replace(".", "").isalnum()
    ):
        raise HttpError(422, "service name must include 'nomad")


def _flag(call: Call, name: str) -> bool:
    try:
        return call.flag(name)
    except HttpError:
        given = call.query[name]
        raise HttpError(
            400,
            f"Unknown value for {name.replace('_', '-')}: "
            f'strconv.ParseBool: parsing "{given}": invalid syntax',
        ) from None


async def _journal(command: list[str]) -> AsyncIterator[bytes]:
    """What a command writes; it ends with the reader."""
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        while part := await process.stdout.read(_READ_BYTES):
            yield part
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def _framed(parts: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    async for part in parts:
        yield _encode(StreamFrame(data=part, file_event=LOG_EVENT))

"""/v1/client/fs: files and logs of allocations."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from yurt.agent.access.confined import PathEscapes
from yurt.agent.access.files import (
    READ_BYTES_MAX,
    SNIFF_BYTES,
    AllocFileInfo,
    FileError,
    content_type,
    list_files,
    open_file,
    stat_file,
)
from yurt.agent.access.log_stream import LogQuery, StreamFrame, stream_file, stream_logs
from yurt.api import needs
from yurt.api.answer import TEXT_TYPE, Answer, text_answer
from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.ids import checked_uuid
from yurt.api.parameters import WHOLE_NUMBER, Parameter, flag, text
from yurt.api.routes import Handler, Route
from yurt.api.v1.local_node import ClientDeps, known_alloc, node_of_alloc
from yurt.errors import YurtError
from yurt.model.alloc import decode_task_states
from yurt.model.task_state import TASK_PENDING
from yurt.model.wire import AllocID

METHODS = ("GET", "PUT", "POST", "DELETE", "HEAD")
READABLE = ("HEAD", "GET")

_TRUE = ("1", "t", "T", "TRUE", "true", "True")
_FALSE = ("0", "f", "F", "FALSE", "false", "False")

# A browser that opens a task's file must not run what is in it.
_SANDBOX_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "X-Content-Type-Options": "nosniff",
    "X-XSS-Protection": "1; mode=block",
}

_encode = msgspec.json.Encoder().encode


_PATH = text("path", "The file or directory within the allocation's directory.")
_FOLLOWED = (
    flag("follow", "Go on as the file grows."),
    Parameter("offset", "Where to start, in bytes.", WHOLE_NUMBER),
    text("origin", "What the offset counts from: `start` or `end`."),
)
_TAKES: dict[str, tuple[Parameter, ...]] = {
    "ls": (_PATH,),
    "stat": (_PATH,),
    "cat": (_PATH,),
    "readat": (
        _PATH,
        Parameter("offset", "Where to start, in bytes.", WHOLE_NUMBER),
        Parameter("limit", "How many bytes; 0 for all.", WHOLE_NUMBER),
    ),
    "stream": (_PATH, *_FOLLOWED),
    "logs": (
        text("task", "The task."),
        text("type", "`stdout` or `stderr`."),
        *_FOLLOWED,
        flag("plain", "Bytes rather than frames."),
    ),
}
_SHOWN: dict[str, Any] = {"ls": list[AllocFileInfo], "stat": AllocFileInfo}


class ClientFsHandlers:
    """The handlers of /v1/client/fs."""

    def __init__(self, deps: ClientDeps) -> None:
        self._deps = deps

    def routes(self) -> tuple[Route, ...]:
        """Their part of the route table."""
        of_alloc = self._deps.namespace_of.alloc
        actions: dict[str, tuple[Handler, str]] = {
            "ls": (self.list, "List a directory of an allocation"),
            "stat": (self.stat, "Describe a file of an allocation"),
            "cat": (self.cat, "Read a file of an allocation"),
            "readat": (self.read_at, "Read a part of a file of an allocation"),
            "stream": (self.stream, "Follow a file of an allocation"),
            "logs": (self.logs, "Read or follow the log of a task"),
        }
        return (
            *(
                Route(
                    path=f"/v1/client/fs/{name}/{{alloc_id}}",
                    handlers=dict.fromkeys(METHODS, handler),
                    summary=summary,
                    needs=needs.namespace(
                        *(("read-logs", "read-fs") if name == "logs" else ("read-fs",)), of=of_alloc
                    ),
                    cors=READABLE,
                    takes=_TAKES[name],
                    response=_SHOWN.get(name),
                    content_type="*/*",
                    streams=name in ("stream", "logs"),
                )
                for name, (handler, summary) in actions.items()
            ),
            Route(
                path="/v1/client/fs/{action}",
                handlers=dict.fromkeys(METHODS, self.unknown),
                summary="Refuse unknown actions",
                needs=needs.KNOWN_CALLER,
            ),
        )

    async def unknown(self, _call: Call) -> Answer:
        """/v1/client/fs/<unknown>."""
        raise HttpError(404, "Invalid method")

    async def list(self, call: Call) -> Answer:
        """/v1/client/fs/ls/<alloc>."""
        root = self._root(call)
        try:
            return Answer(body=list_files(root, call.query.get("path", "/")))
        except FileError as error:
            raise HttpError(404 if error.is_missing else 500, str(error)) from None

    async def stat(self, call: Call) -> Answer:
        """/v1/client/fs/stat/<alloc>."""
        root, path = self._root(call), _path(call)
        try:
            return Answer(body=stat_file(root, path))
        except FileError as error:
            raise HttpError(404 if error.is_missing else 500, str(error)) from None

    async def cat(self, call: Call) -> Answer:
        """/v1/client/fs/cat/<alloc>: failures are a 200 with the text, as clients know it."""
        try:
            root, path = self._root(call), _path(call)
            return _content(root, path, offset=0, limit=0)
        except YurtError as error:
            return text_answer(200, str(error))

    async def read_at(self, call: Call) -> Answer:
        """/v1/client/fs/readat/<alloc>: failures are a 200 with the text, as clients know it."""
        try:
            root, path = self._root(call), _path(call)
            offset = _integer(call, "offset", status=500)
            limit = _integer(call, "limit", status=500) if call.query.get("limit") else 0
            if offset < 0:
                shown = f"{root}/{path.lstrip('/')}"
                raise HttpError(500, f"can't seek to offset {offset}: seek {shown}: invalid argument")
            return _content(root, path, offset=offset, limit=limit)
        except YurtError as error:
            return text_answer(200, str(error))

    async def stream(self, call: Call) -> Answer:
        """/v1/client/fs/stream/<alloc>."""
        root, path = self._root(call), _path(call)
        follow = _flag(call, "follow", default=True, status=500)
        offset = _integer(call, "offset", status=500) if call.query.get("offset") else 0
        frames = stream_file(
            root,
            path,
            offset=offset,
            from_end=_origin(call) == "end",
            follow=follow,
            clock=self._deps.clock,
        )
        try:
            first = await anext(frames, None)
        except (FileError, PathEscapes) as error:
            raise HttpError(400, str(error)) from None
        return Answer(stream=_framed(first, frames), content_type=TEXT_TYPE)

    async def logs(self, call: Call) -> Answer:
        """/v1/client/fs/logs/<alloc>."""
        alloc_id = self._alloc_id(call)
        task = call.query.get("task", "")
        if not task:
            raise HttpError(400, "must provide task name")
        follow = _flag(call, "follow", default=False, status=400)
        kind = call.query.get("type", "")
        if kind not in ("stdout", "stderr"):
            raise HttpError(400, "must provide log type (stdout/stderr)")
        query = LogQuery(
            task=task,
            kind=kind,
            follow=follow,
            offset=_integer(call, "offset", status=400) if call.query.get("offset") else 0,
            origin=_origin(call),
        )
        plain = _flag(call, "plain", default=False, status=400)
        root = self._root(call)
        self._check_task(alloc_id, task)
        frames = stream_logs(root, query, self._deps.clock)
        try:
            first = await anext(frames, None)
        except FileError as error:
            raise HttpError(404 if error.is_missing else 500, str(error)) from None
        if plain:
            return Answer(stream=_plain(first, frames), content_type="text/plain")
        return Answer(stream=_framed(first, frames), content_type="application/json")

    def _alloc_id(self, call: Call) -> AllocID:
        text = call.path["alloc_id"]
        if not text:
            raise HttpError(400, "must provide a valid alloc id")
        return AllocID(checked_uuid("alloc", text))

    def _root(self, call: Call) -> str:
        """The directory of the call's allocation, on this node."""
        alloc_id = self._alloc_id(call)
        node = node_of_alloc(self._deps, known_alloc(self._deps, alloc_id))
        root = node.alloc_dir(alloc_id)
        if root is None:
            raise HttpError(404, f"state for allocation {alloc_id} not found on client")
        return root

    def _check_task(self, alloc_id: AllocID, task: str) -> None:
        alloc = known_alloc(self._deps, alloc_id)
        group = alloc.job.group(alloc.task_group)
        if group is None or group.task(task) is None:
            raise HttpError(400, f'unknown task name "{task}"')
        state = decode_task_states(alloc.task_states).get(task)
        if state is None or (state.state == TASK_PENDING and state.started_at is None):
            raise HttpError(404, f'task "{task}" not started yet. No logs available')


def _path(call: Call) -> str:
    path = call.query.get("path", "")
    if not path:
        raise HttpError(400, "must provide a file name")
    return path


def _origin(call: Call) -> str:
    origin = call.query.get("origin", "") or "start"
    if origin not in ("start", "end"):
        raise HttpError(400, "origin must be start or end")
    return origin


def _integer(call: Call, name: str, *, status: int) -> int:
    text = call.query.get(name, "")
    try:
        return int(text)
    except ValueError:
        raise HttpError(
            status, f'error parsing {name}: strconv.ParseInt: parsing "{text}": invalid syntax'
        ) from None


def _flag(call: Call, name: str, *, default: bool, status: int) -> bool:
    text = call.query.get(name, "")
    if not text:
        return default
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise HttpError(
        status,
        f'failed to parse {name} field to boolean: strconv.ParseBool: parsing "{text}": invalid syntax',
    )


def _content(root: str, path: str, *, offset: int, limit: int) -> Answer:
    descriptor = open_file(root, path)
    try:
        data = os.pread(descriptor, min(limit or READ_BYTES_MAX, READ_BYTES_MAX), offset)
    finally:
        os.close(descriptor)
    if not data:
        return text_answer(200, "")
    kind = content_type("", data[:SNIFF_BYTES])
    # Exactly that, without a charset, where a browser would take it for a page.
    kind = "text/plain" if kind.startswith("text/html") else kind
    return Answer(body=data, content_type=kind, headers=_SANDBOX_HEADERS)


async def _framed(first: StreamFrame | None, frames: AsyncIterator[StreamFrame]) -> AsyncIterator[bytes]:
    if first is not None:
        yield _encode(first)
    async for frame in frames:
        yield _encode(frame)


async def _plain(first: StreamFrame | None, frames: AsyncIterator[StreamFrame]) -> AsyncIterator[bytes]:
    if first is not None:
        yield first.data
    async for frame in frames:
        if frame.data:
            yield frame.data

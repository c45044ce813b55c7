"""The HTTP application: finds the route, calls its handler, turns failures into answers."""

from __future__ import annotations

import asyncio
import posixpath
import time
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from yurt.api.access import admit, is_as_admitted, while_admitted
from yurt.api.answer import Answer, render, text_answer
from yurt.api.auditing import Auditor
from yurt.api.call import TOKEN_HEADER, Call
from yurt.api.call_rates import COSTLY, CallRates
from yurt.api.cors import allow_origin, is_preflight, preflight_response
from yurt.api.errors import HttpError, status_of
from yurt.api.needs import PERMISSION_DENIED
from yurt.api.origins import FOREIGN_PAGE, is_foreign_page
from yurt.api.redirect import redirect
from yurt.api.routes import Handler, Route, RouteTable
from yurt.api.websocket import (
    FOREIGN_ORIGIN,
    HANDSHAKE_PARAMETER,
    WebSocket,
    WebSocketGone,
    is_foreign_origin,
    read_token,
)
from yurt.errors import YurtError
from yurt.observe.logger import get_logger
from yurt.server.auth import Authority

READS = ("GET", "HEAD", "OPTIONS")
INTERNAL_ERROR = "internal error: the server's log says more"

# How often it is looked whether the caller of a WebSocket may still have it.
ADMISSION_CHECK_INTERVAL_S = 5.0

logger = get_logger("http")


class HttpApp:
    """An ASGI application over a route table."""

    def __init__(
        self,
        table: RouteTable,
        *,
        extra_headers: Mapping[str, str] | None = None,
        rates: CallRates | None = None,
        auditor: Auditor | None = None,
    ) -> None:
        self.table = table
        self._extra_headers = dict(extra_headers or {})
        self._rates = rates
        self._auditor = auditor

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or one WebSocket."""
        if scope["type"] == "websocket":
            await self._serve_socket(scope, WebSocket(receive, send))
            return
        assert scope["type"] == "http"
        response = await self._respond(scope, receive)
        for name, value in self._extra_headers.items():
            response.headers[name] = value
        await response(scope, receive, send)

    def failure(self, status: int, text: str) -> Answer:
        """Say what is wrong."""
        return text_answer(status, text)

    def status(self, error: YurtError) -> int:
        """The status that an operating error is answered with."""
        return status_of(error)

    async def _respond(self, scope: Scope, receive: Receive) -> Response:
        path = scope["path"]
        target = _cleaned(path)
        if target == path:
            match = self.table.find(path)
            if match is not None:
                return await self._serve(match.route, Call(scope, receive, match.values))
            if not self.table.is_subtree_root(path):
                return Response(status_code=404, headers={"Vary": "Accept-Encoding"})
            target = path + "/"
        return redirect(target, scope["query_string"].decode("latin-1"))

    async def _serve_socket(self, scope: Scope, socket: WebSocket) -> None:
        match = self.table.find(scope["path"])
        if match is None or match.route.websocket is None:
            await socket.refuse(404, "no WebSocket is served here")
            return
        if is_foreign_origin(scope):
            await socket.refuse(403, FOREIGN_ORIGIN)
            return
        await socket.accept()
        request = {**scope, "type": "http", "method": "GET"}
        call = Call(request, _no_body, match.values)
        try:
            if call.is_set(HANDSHAKE_PARAMETER):
                token = await read_token(socket, call.headers.get(TOKEN_HEADER, ""))
                headers = [pair for pair in scope["headers"] if pair[0] != TOKEN_HEADER.encode()]
                headers.append((TOKEN_HEADER.encode(), token.encode("latin-1", "replace")))
                call = Call({**request, "headers": headers}, _no_body, match.values)
        except WebSocketGone:
            return
        except YurtError as error:
            await socket.fail(status_of(error), str(error))
            return
        answer = await self._audited(call, partial(self._converse, match.route, call, socket))
        if answer.status != 101:
            # Of all refusals this one is told as if it were the server's fault.
            status = 500 if answer.status == PERMISSION_DENIED[0] else answer.status
            await socket.fail(status, bytes(answer.body).decode())

    async def _converse(self, route: Route, call: Call, socket: WebSocket) -> Answer:
        """Serve a WebSocket to its end; 101 unless that was a failure."""
        assert route.websocket is not None
        try:
            self._check_region(route, call)
            if self.table.authority is not None:
                await admit(self.table.authority, route, call)
            await self._attend(route, route.websocket(call, socket), call)
        except WebSocketGone:
            pass
        except YurtError as error:
            return text_answer(status_of(error), str(error))
        except Exception:
            logger.exception("request.failed", method="WebSocket", path=call.url_path)
            return text_answer(500, INTERNAL_ERROR)
        return Answer(body=b"", status=101)

    async def _audited(self, call: Call, handle: Callable[[], Awaitable[Answer]]) -> Answer:
        if self._auditor is None:
            return await handle()
        return await self._auditor.answer(call, self.table.authority, handle)

    async def _attend(self, route: Route, serving: Awaitable[None], call: Call) -> None:
        """Serve a WebSocket for as long as its caller may have it."""
        work = asyncio.ensure_future(serving)
        try:
            while not work.done():
                if self.table.authority is not None and not is_as_admitted(self.table.authority, call):
                    await admit(self.table.authority, route, call)
                await asyncio.wait((work,), timeout=ADMISSION_CHECK_INTERVAL_S)
            await work
        finally:
            work.cancel()
            await asyncio.wait((work,))

    async def _serve(self, route: Route, call: Call) -> Response:
        if route.cors and is_preflight(call):
            return preflight_response(call, route.cors)
        began = time.perf_counter()
        answer = await self._audited(call, partial(self._handle, route, call))
        if self.table.metrics is not None:
            # Callers choose their methods; only known ones become labels.
            method = call.method if call.method in route.handlers else "other"
            labels = {"method": method, "path": route.path}
            self.table.metrics.count("nomad.http.requests", 1, {**labels, "status": str(answer.status)})
            self.table.metrics.sample("nomad.http.request_ms", (time.perf_counter() - began) * 1e3, labels)
        response = self._rendered(answer, call)
        if route.cors:
            allow_origin(call, response)
        return response

    async def _handle(self, route: Route, call: Call) -> Answer:
        handler = route.handlers.get(call.method)
        if handler is None:
            status, text = route.wrong_method
            return self.failure(status, text) if text else Answer(body=b"", status=status, content_type="")
        try:
            self._check_region(route, call)
            if self._rates is not None and (call.method, route.path) in COSTLY:
                self._rates.spend(call.remote_host)
            if self.table.authority is None:
                self._check_page(call)
                return await handler(call)
            return await self._controlled(self.table.authority, route, call, handler)
        except YurtError as error:
            answer = self.failure(self.status(error), str(error))
            if isinstance(error, HttpError):
                answer.index = error.index
            return answer
        except Exception:
            logger.exception("request.failed", method=call.method, path=call.url_path)
            return self.failure(500, INTERNAL_ERROR)

    async def _controlled(self, authority: Authority, route: Route, call: Call, handler: Handler) -> Answer:
        """Have a handler answer a caller that may call it."""
        while True:
            await admit(authority, route, call)
            answer = await handler(call)
            # A read may have waited long: its caller gets what it may see by now.
            if call.method == "GET" and call.min_index and not is_as_admitted(authority, call):
                continue
            if answer.stream is not None:
                answer.stream = while_admitted(answer.stream, authority, route, call)
            return answer

    def _rendered(self, answer: Answer, call: Call) -> Response:
        try:
            return render(answer, call)
        except Exception:
            logger.exception("answer.failed", method=call.method, path=call.url_path)
            return render(self.failure(500, INTERNAL_ERROR), call)

    def _check_page(self, call: Call) -> None:
        """Keep pages of other sites from changing things, where they need no token for it."""
        if call.method not in READS and is_foreign_page(call.headers, asked_at=call.asked_at):
            raise HttpError(403, FOREIGN_PAGE)

    def _check_region(self, route: Route, call: Call) -> None:
        if not route.is_local and call.region not in ("", self.table.region):
            raise HttpError(500, "No path to region")


async def _no_body() -> Message:
    return {"type": "http.request", "body": b"", "more_body": False}


def _cleaned(path: str) -> str:
    """A path without `//`, `.` and `..`; a final slash stays."""
    if "//" not in path and "/." not in path:
        return path
    cleaned = posixpath.normpath(path).replace("//", "/")
    return cleaned + "/" if path.endswith("/") and cleaned != "/" else cleaned

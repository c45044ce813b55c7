"""The HTTP application: finds the route, calls its handler, turns failures into answers."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from yurt.api.answer import Answer, render, text_answer
from yurt.api.call import Call
from yurt.api.errors import status_of
from yurt.api.routes import Handler, RouteTable
from yurt.errors import YurtError
from yurt.observe.logger import get_logger

logger = get_logger("http")


class HttpApp:
    """An ASGI application over a route table."""

    def __init__(self, table: RouteTable, *, extra_headers: Mapping[str, str] | None = None) -> None:
        self.table = table
        self._extra_headers = dict(extra_headers or {})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            return
        response = await self._respond(scope, receive)
        for name, value in self._extra_headers.items():
            response.headers[name] = value
        await response(scope, receive, send)

    async def _respond(self, scope: Scope, receive: Receive) -> Response:
        path = scope["path"]
        target = _cleaned(path)
        if target == path:
            match = self.table.find(path)
            if match is not None:
                call = Call(scope, receive, match.values)
                return render(await self._handle(match.route.handlers, call), call)
            if not self.table.is_subtree_root(path):
                return Response(status_code=404, headers={"Vary": "Accept-Encoding"})
            target = path + "/"
        return _redirect(target, scope["query_string"].decode("latin-1"))

    async def _handle(self, handlers: Mapping[str, Handler], call: Call) -> Answer:
        handler = handlers.get(call.method)
        if handler is None:
            return text_answer(405, "Invalid method")
        try:
            return await handler(call)
        except YurtError as error:
            return text_answer(status_of(error), str(error))
        except Exception:
            logger.exception("request.failed", method=call.method, path=dict(call.path))
            return text_answer(500, "internal error: the server's log says more")


def _cleaned(path: str) -> str:
    """A path without `//`, `.` and `..`; a final slash stays."""
    if "//" not in path and "/." not in path:
        return path
    cleaned = posixpath.normpath(path).replace("//", "/")
    return cleaned + "/" if path.endswith("/") and cleaned != "/" else cleaned


def _redirect(target: str, query: str) -> Response:
    location = f"{target}?{query}" if query else target
    return Response(
        f'<a href="{_escaped(location)}">Temporary Redirect</a>.\n\n',
        status_code=307,
        headers={
            "Location": location,
            "Content-Type": "text/html; charset=utf-8",
            "Vary": "Accept-Encoding",
        },
    )


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;")

"""What servers serve to the agents of nodes."""

from __future__ import annotations

from collections.abc import Callable, Collection

from starlette.types import ASGIApp, Receive, Scope, Send

from yurt.api.answer import render, text_answer
from yurt.api.app import HttpApp
from yurt.api.call import Call
from yurt.api.errors import HttpError
from yurt.api.internal.roles import check_caller
from yurt.api.task_api import is_from_task
from yurt.api.websocket import WebSocket

PEOPLES_PATHS = ("/v1/", "/.well-known/", "/ui/")


class RpcApp:
    """The calls of node agents, and those that people and tasks make to a node, which it hands on."""

    def __init__(
        self, calls: HttpApp, peoples: HttpApp, *, tasks: ASGIApp, callers: Callable[[], Collection[str]]
    ) -> None:
        self._calls = calls
        self._peoples = peoples
        self._tasks = tasks
        self._callers = callers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or one WebSocket."""
        if not scope["path"].startswith(PEOPLES_PATHS):
            await self._calls(scope, receive, send)
            return
        is_socket = scope["type"] == "websocket"
        call = Call({**scope, "type": "http", "method": "GET"} if is_socket else scope, receive, {})
        try:
            check_caller(call, self._callers())
        except HttpError as error:
            if is_socket:
                await WebSocket(receive, send).refuse(error.status, error.text)
            else:
                await render(text_answer(error.status, error.text), call)(scope, receive, send)
            return
        await (self._tasks if is_from_task(scope) else self._peoples)(scope, receive, send)

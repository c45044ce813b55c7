"""A web server of files, for tests."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from aiohttp import web


class FileServer:
    """Offers what a test puts into `files`, and remembers who asked how."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.url = ""

    async def answer(self, request: web.Request) -> web.Response:
        self.asked.append(request.path)
        self.headers.append(dict(request.headers))
        if request.path == "/loop":
            raise web.HTTPFound("/loop")
        if request.path.startswith("/to/"):
            raise web.HTTPFound("/" + request.path.removeprefix("/to/"))
        if request.path not in self.files:
            return web.Response(status=404)
        return web.Response(body=self.files[request.path])


@contextlib.asynccontextmanager
async def a_file_server() -> AsyncIterator[FileServer]:
    server = FileServer()
    app = web.Application()
    app.router.add_get("/{tail:.*}", server.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield server
    finally:
        await runner.cleanup()

"""A small HTTP server that answers from a table, for tests of clients."""

import json
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

RECORDINGS = Path(__file__).parent.parent / "recordings" / "nomad"


class Request(NamedTuple):
    """What a client sent."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:  # any JSON
        return json.loads(self.body)


class Reply(NamedTuple):
    """What the server answers. `body` is sent as JSON unless it is bytes; `chunks` make an endless answer."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = {}
    chunks: tuple[bytes, ...] | None = None


Answerer = Callable[[Request], Reply]


class ReplayServer:
    """Answers each path with the next of its replies; the last one stays."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._routes: dict[tuple[str, str], list[Reply | Answerer]] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def on(self, method: str, path: str, *replies: Any) -> None:  # any JSON
        """Answer `path` (without its query) with the given replies, one after the other."""
        self._routes[method, path] = [
            reply if isinstance(reply, Reply) or callable(reply) else Reply(reply) for reply in replies
        ]

    def replay(self, recording: str) -> None:
        """Answer as a recorded conversation did, each path in its recorded order."""
        steps = json.loads((RECORDINGS / "http" / f"{recording}.json").read_text())["steps"]
        routes: dict[tuple[str, str], list[Reply | Answerer]] = {}
        for step in steps:
            asked, answered = step["request"], step["response"]
            body = answered.get("body", answered.get("text", ""))
            reply = Reply(
                body.encode() if isinstance(body, str) and "body" not in answered else body,
                answered["status"],
                answered["headers"],
            )
            routes.setdefault((asked["method"], asked["path"]), []).append(reply)
        self._routes |= routes

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def _reply(self, request: Request, target: str) -> Reply:
        if request.path != "/ui/":  # which only asks whether there is a web UI
            self.requests.append(request)
        for key in ((request.method, target), (request.method, request.path)):
            replies = self._routes.get(key)
            if replies:
                reply = replies.pop(0) if len(replies) > 1 else replies[0]
                return reply if isinstance(reply, Reply) else reply(request)
        return Reply(b"", 404)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        replay = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                parts = urlsplit(self.path)
                length = int(self.headers.get("Content-Length") or 0)
                request = Request(
                    self.command,
                    parts.path,
                    dict(parse_qsl(parts.query)),
                    dict(self.headers),
                    self.rfile.read(length),
                )
                reply = replay._reply(request, self.path)
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.chunks is not None:
                    self.send_header("Connection", "close")
                    self.end_headers()
                    for chunk in reply.chunks:
                        self.wfile.write(chunk)
                        self.wfile.flush()
                    self.close_connection = True
                    return
                body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_GET = do_PUT = do_POST = do_DELETE = _serve

            def log_message(self, format: str, *arguments: object) -> None:
                pass

        return Handler

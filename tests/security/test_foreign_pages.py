"""Pages of other sites: WebSockets, forged writes, names that were made to point here."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.security.served_app import Listener, Raw, listening
from tests.support.real_agent import running_agent
from yurt.api.answer import Answer, text_answer
from yurt.api.app import HttpApp
from yurt.api.call import Call
from yurt.api.connection_limits import ConnectionLimits
from yurt.api.origins import is_foreign_page
from yurt.api.routes import Route, RouteTable
from yurt.api.websocket import WebSocket

LOOPBACK, LAN = "127.0.0.1", "10.0.0.5"


@pytest.mark.parametrize(
    ("headers", "asked_at", "expected"),
    [
        pytest.param({"host": "127.0.0.1:4646"}, LOOPBACK, False, id="a program"),
        pytest.param({"host": "a:1", "origin": "http://a:1"}, LAN, False, id="our own page"),
        pytest.param({"host": "a:1", "origin": "http://A:1"}, LAN, False, id="in capitals"),
        pytest.param({"host": "a:1", "origin": "http://evil.example"}, LAN, True, id="another site"),
        pytest.param({"host": "a:1", "origin": "http://a:2"}, LAN, True, id="another port"),
        pytest.param({"host": "a:1", "origin": "null"}, LAN, True, id="a page without a site"),
        pytest.param({"host": "a:1", "sec-fetch-site": "cross-site"}, LAN, True, id="a form of another site"),
        pytest.param({"host": "a:1", "sec-fetch-site": "same-site"}, LAN, True, id="a neighbour"),
        pytest.param({"host": "a:1", "sec-fetch-site": "same-origin"}, LAN, False, id="said by the browser"),
        pytest.param(
            {"host": "evil.example:4646", "origin": "http://evil.example:4646"},
            LOOPBACK,
            True,
            id="a stranger's name for the loopback address",
        ),
        pytest.param(
            {"host": "yurt.example:4646", "origin": "http://yurt.example:4646"}, LAN, False, id="our own name"
        ),
        pytest.param(
            {"host": "[::1]:4646", "origin": "http://[::1]:4646"}, "::1", False, id="an IPv6 address"
        ),
        pytest.param(
            {"host": "localhost:4646", "origin": "http://localhost:4646"}, LOOPBACK, False, id="localhost"
        ),
    ],
)
def test_pages_are_told_apart(headers: dict[str, str], asked_at: str, expected: bool) -> None:
    assert is_foreign_page(headers, asked_at=asked_at) is expected


def test_a_foreign_page_cannot_change_an_open_agent(tmp_path: Path) -> None:
    with running_agent(tmp_path, client=False) as agent:
        connection = agent.connect()
        # What a form can send without asking first: a POST with a plain text.
        connection.request(
            "POST",
            "/v1/namespace",
            b'{"Name": "forged"}',
            {"Origin": "https://evil.example", "Content-Type": "text/plain"},
        )
        answer = connection.getresponse()
        assert (answer.status, b"a page of another site" in answer.read()) == (403, True)
        own = {"Origin": f"http://127.0.0.1:{agent.http_port}"}
        connection.request("POST", "/v1/namespace", b'{"Name": "own"}', own)
        assert connection.getresponse().read() is not None
        connection.close()
        assert {one["Name"] for one in agent.call("GET", "/v1/namespaces").json} == {"default", "own"}


async def _never(_call: Call) -> Answer:
    return text_answer(400, "a WebSocket is served here")


async def _echo(_call: Call, socket: WebSocket) -> None:
    while True:
        await socket.send(await socket.receive())


APP = HttpApp(
    RouteTable([Route(path="/v1/echo", handlers={"GET": _never}, websocket=_echo, summary="an echo")])
)


async def upgrade(listener: Listener, origin: str = "") -> tuple[Raw, str]:
    """Ask for a WebSocket; returns the connection and the status line."""
    raw = await listener.connect()
    lines = [
        "GET /v1/echo HTTP/1.1",
        f"Host: 127.0.0.1:{listener.port}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        *([f"Origin: {origin}"] if origin else []),
    ]
    await raw.say("\r\n".join([*lines, "", ""]).encode())
    return raw, (await raw.head()).splitlines()[0]


async def test_a_websocket_is_open_to_programs_and_own_pages_only() -> None:
    async with listening(APP, ConnectionLimits()) as listener:
        for origin in ("", f"http://127.0.0.1:{listener.port}"):
            _, status = await upgrade(listener, origin)
            assert status.startswith("HTTP/1.1 101 ")
        for origin in ("https://evil.example", "null", "http://127.0.0.1:1", "http://localhost"):
            _, status = await upgrade(listener, origin)
            assert status.startswith("HTTP/1.1 403 ")


async def test_a_websocket_counts_as_a_connection_until_it_ends() -> None:
    async with listening(APP, ConnectionLimits(connections_per_client_max=1)) as listener:
        raw, status = await upgrade(listener)
        assert status.startswith("HTTP/1.1 101 ")
        assert (await (await listener.connect()).rest()).startswith("HTTP/1.1 429 ")
        await raw.close()
        status = ""
        while "101" not in status:  # the server hears of the closing in its own time
            raw, status = await upgrade(listener)

"""Denial of service over connections: slow heads and bodies, huge heads, too many at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.security.served_app import HANG_UP_TIMEOUT_S, Listener, listening
from tests.support.certificates import Certificates
from yurt.api.answer import Answer, text_answer
from yurt.api.app import HttpApp
from yurt.api.call import Call
from yurt.api.connection_limits import ClientConnections, ConnectionLimits
from yurt.api.routes import Route, RouteTable
from yurt.tls import TlsFiles, listening_context

PATIENT = ConnectionLimits()
GET = b"GET /v1/hello HTTP/1.1\r\nHost: a\r\n\r\n"


async def _hello(_call: Call) -> Answer:
    return text_answer(200, "hello")


async def _length(call: Call) -> Answer:
    return text_answer(200, str(len(await call.body())))


def app() -> HttpApp:
    return HttpApp(
        RouteTable(
            [
                Route(path="/v1/hello", handlers={"GET": _hello}, summary=""),
                Route(path="/v1/length", handlers={"PUT": _length}, summary=""),
            ]
        )
    )


async def _is_well(listener: Listener) -> bool:
    raw = await listener.connect()
    await raw.say(GET)
    return await raw.answer() == (200, "hello")


@pytest.mark.parametrize("said", [b"", b"GET /v1/hello HT", b"GET /v1/hello HTTP/1.1\r\nHost: a\r\nX-"])
async def test_a_head_that_does_not_come_is_given_up(said: bytes) -> None:
    async with listening(app(), ConnectionLimits(head_timeout_s=0.05)) as listener:
        raw = await listener.connect()
        await raw.say(said)
        assert (await raw.rest()).startswith("HTTP/1.1 408 ")
        assert await _is_well(listener)


async def test_a_handshake_that_does_not_come_is_given_up(tmp_path: Path) -> None:
    certificates = await asyncio.to_thread(Certificates, tmp_path)
    pair = await asyncio.to_thread(certificates.make, "server")
    files = TlsFiles(
        ca_file=str(certificates.authority), cert_file=str(pair.certificate), key_file=str(pair.key)
    )
    tls = listening_context(files, asks_for_certificate=True)
    async with listening(app(), ConnectionLimits(handshake_timeout_s=0.2), tls=tls) as listener:
        raw = await listener.connect()
        assert await raw.rest() == ""


async def test_a_head_that_trickles_is_given_up_all_the_same() -> None:
    async with listening(app(), ConnectionLimits(head_timeout_s=0.2)) as listener:
        raw = await listener.connect()
        await raw.say(b"GET /v1/hello HTTP/1.1\r\n")
        ended = asyncio.ensure_future(raw.rest())
        while not ended.done():
            await raw.say(b"X-A: b\r\n")
            await asyncio.wait({ended}, timeout=0.02)
        assert "408" in ended.result() or ended.result() == ""


async def test_the_second_request_of_a_connection_is_timed_too() -> None:
    async with listening(app(), ConnectionLimits(head_timeout_s=0.05)) as listener:
        raw = await listener.connect()
        await raw.say(GET)
        assert await raw.answer() == (200, "hello")
        await raw.say(b"GET /v1/he")
        assert (await raw.rest()).startswith("HTTP/1.1 408 ")


async def test_a_body_that_does_not_come_is_given_up() -> None:
    async with listening(app(), ConnectionLimits(body_timeout_s=0.05)) as listener:
        raw = await listener.connect()
        await raw.say(b"PUT /v1/length HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nabc")
        assert await raw.rest() == ""
        assert await _is_well(listener)


async def test_a_body_in_parts_is_taken() -> None:
    async with listening(app(), PATIENT) as listener:
        raw = await listener.connect()
        await raw.say(b"PUT /v1/length HTTP/1.1\r\nHost: a\r\nContent-Length: 6\r\n\r\nabc")
        await raw.say(b"def")
        assert await raw.answer() == (200, "6")


async def test_an_idle_connection_is_closed() -> None:
    async with listening(app(), ConnectionLimits(idle_timeout_s=1)) as listener:
        raw = await listener.connect()
        await raw.say(GET)
        assert await raw.answer() == (200, "hello")
        assert await raw.rest() == ""


async def test_a_client_that_does_not_read_is_given_up() -> None:
    ended = asyncio.Event()

    async def endless(_call: Call) -> Answer:
        async def parts() -> AsyncIterator[bytes]:
            try:
                while True:
                    yield b"x" * 1024 * 1024
                    await asyncio.sleep(0)
            finally:
                ended.set()

        return Answer(stream=parts(), content_type="text/plain")

    table = RouteTable([Route(path="/v1/endless", handlers={"GET": endless}, summary="")])
    async with listening(HttpApp(table), ConnectionLimits(write_timeout_s=0.05)) as listener:
        raw = await listener.connect()
        await raw.say(b"GET /v1/endless HTTP/1.1\r\nHost: a\r\n\r\n")
        async with asyncio.timeout(HANG_UP_TIMEOUT_S):
            await ended.wait()


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"GET /v1/hello?" + b"a" * 5000 + b" HTTP/1.1\r\n\r\n", id="address"),
        pytest.param(b"GET /v1/hello HTTP/1.1\r\nX: " + b"a" * 5000 + b"\r\n\r\n", id="one header"),
        pytest.param(b"GET /v1/hello HTTP/1.1\r\n" + b"X: a\r\n" * 3000 + b"\r\n", id="many headers"),
        pytest.param(b"GET /v1/hello HTTP/1.1\r\nX: " + b"a" * 5000, id="unfinished"),
    ],
)
async def test_a_huge_head_is_refused(head: bytes) -> None:
    async with listening(app(), ConnectionLimits(head_bytes_max=4096)) as listener:
        raw = await listener.connect()
        await raw.say(head)
        assert (await raw.rest()).startswith("HTTP/1.1 431 ")
        assert await _is_well(listener)


async def test_one_client_gets_so_many_connections_and_no_more() -> None:
    async with listening(app(), ConnectionLimits(connections_per_client_max=2)) as listener:
        first, second = await listener.connect(), await listener.connect()
        for raw in (first, second):
            await raw.say(GET)
            assert await raw.answer() == (200, "hello")
        third = await listener.connect()
        refusal = await third.rest()
        assert refusal.startswith("HTTP/1.1 429 ")
        assert refusal.endswith(
            "too many connections from 127.0.0.1: at most 2 at a time; reuse or close some"
        )
        await first.close()
        while not await _served(listener):  # the server hears of the closing in its own time
            pass


async def _served(listener: Listener) -> bool:
    raw = await listener.connect()
    await raw.say(GET)
    status, _ = await raw.answer()
    return status == 200


def test_connections_are_counted_for_each_client() -> None:
    counts = ClientConnections(1)
    assert counts.take("a")
    assert counts.take("b")
    assert not counts.take("a")
    counts.release("a")
    assert counts.take("a")
    unlimited = ClientConnections(0)
    assert all(unlimited.take("a") for _ in range(1000))

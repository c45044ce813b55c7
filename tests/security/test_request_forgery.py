"""Requests that jobs make the agent send: none to where machines keep their own credentials."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web

from yurt.agent.artifacts import http_getter
from yurt.agent.artifacts.errors import FetchFailed
from yurt.agent.artifacts.fetching import Artifact, fetch
from yurt.agent.outgoing import AddressDenied, check_address, check_host, networks_of
from yurt.agent.services.addresses import Endpoint
from yurt.agent.services.probes import probe
from yurt.agent.settings import LINK_LOCAL, ArtifactSettings
from yurt.agent.task_paths import Place
from yurt.clock import SystemClock
from yurt.model.service import ServiceCheck
from yurt.model.times import SECOND_NS

LOOPBACK = networks_of(("127.0.0.0/8", "::1/128"))
METADATA = "169.254.169.254"
DENIED = "a network that this node does not reach for jobs"


@pytest.fixture
async def metadata() -> AsyncIterator[str]:
    """A service that hands out secrets on the loopback address, and one that leads to it."""
    app = web.Application()

    async def secrets(_request: web.Request) -> web.Response:
        return web.Response(text="the machine's credentials", status=404)

    async def redirect(_request: web.Request) -> web.Response:
        raise web.HTTPFound(f"http://{METADATA}/latest/meta-data")

    app.router.add_get("/secrets", secrets)
    app.router.add_get("/redirect", redirect)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    assert site._server is not None
    port = site._server.sockets[0].getsockname()[1]  # type: ignore[attr-defined] # a server of asyncio's
    yield f"http://127.0.0.1:{port}"
    await runner.cleanup()


@pytest.mark.parametrize(
    ("address", "is_denied"),
    [
        (METADATA, True),
        (f"::ffff:{METADATA}", True),
        ("fe80::1%lo", True),
        ("127.0.0.1", False),
        ("10.0.0.1", False),
        ("2001:db8::1", False),
    ],
)
def test_link_local_addresses_are_denied_by_default(address: str, is_denied: bool) -> None:
    try:
        check_address(address, networks_of(LINK_LOCAL))
    except AddressDenied:
        assert is_denied
    else:
        assert not is_denied


@pytest.mark.parametrize("host", [METADATA, f"[::ffff:{METADATA}]", "2852039166", "0xa9.0xfe.0xa9.0xfe"])
async def test_no_spelling_of_the_address_gets_an_artifact(host: str, tmp_path: Path) -> None:
    access = http_getter.Access(denied=networks_of(LINK_LOCAL))
    with pytest.raises(FetchFailed, match=f"({DENIED}|Cannot connect|canonical)"):
        await http_getter.get(f"http://{host}/x", str(tmp_path / "x"), access, bytes_max=0)
    assert not (tmp_path / "x").exists()


async def test_names_are_checked_by_what_they_lead_to(metadata: str, tmp_path: Path) -> None:
    named = metadata.replace("127.0.0.1", "localhost")
    with pytest.raises(FetchFailed, match=DENIED):
        await http_getter.get(
            f"{named}/secrets", str(tmp_path / "x"), http_getter.Access(denied=LOOPBACK), bytes_max=0
        )


async def test_redirects_are_checked(metadata: str, tmp_path: Path) -> None:
    access = http_getter.Access(denied=networks_of(LINK_LOCAL))
    with pytest.raises(FetchFailed, match=DENIED):
        await http_getter.get(f"{metadata}/redirect", str(tmp_path / "x"), access, bytes_max=0)


async def test_a_repository_is_not_fetched_from_there(tmp_path: Path) -> None:
    artifact = Artifact(
        source=f"git::http://{METADATA}/repository",
        place=Place(str(tmp_path), "local"),
        denied=networks_of(LINK_LOCAL),
    )
    with pytest.raises(FetchFailed, match=DENIED):
        await fetch(artifact, str(tmp_path / "scratch"), ArtifactSettings(), SystemClock())


@pytest.mark.parametrize("kind", ["http", "tcp"])
async def test_checks_do_not_ask_there_nor_show_what_it_says(metadata: str, kind: str) -> None:
    port = int(metadata.rpartition(":")[2])
    check = ServiceCheck(type=kind, path="/secrets", timeout=30 * SECOND_NS)
    place = Endpoint("127.0.0.1", port)
    asked = await probe(check, place, SystemClock())
    assert ("credentials" in asked.output) is (kind == "http"), "allowed, it shows what was answered"
    refused = await probe(check, place, SystemClock(), denied=LOOPBACK)
    assert refused.status == "failure"
    assert "credentials" not in refused.output
    assert DENIED in refused.output


async def test_a_name_that_nobody_has_is_left_to_who_connects(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unknown(*_arguments: object, **_options: object) -> None:
        raise socket.gaierror

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", unknown)
    await check_host("nobody.invalid", LOOPBACK)

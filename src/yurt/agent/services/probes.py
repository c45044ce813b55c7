"""Ask a service whether it works: by HTTP, or by connecting."""

from __future__ import annotations

import asyncio
import ssl
from ipaddress import ip_address

import msgspec

from yurt.agent.outgoing import Network, check_host, connector
from yurt.agent.services.addresses import Endpoint
from yurt.agent.services.checks import FAILURE, SUCCESS
from yurt.agent.services.probe_failures import dial_text, request_text
from yurt.clock import Clock
from yurt.import_later import aiohttp
from yurt.model.service import ServiceCheck
from yurt.model.times import SECOND_NS
from yurt.version import VERSION

OUTPUT_BYTES_MAX = 3 * 1024
REDIRECTS_MAX = 10
FAILING_STATUS = 400
LOCAL = "127.0.0.1"


class ProbeResult(msgspec.Struct, frozen=True):
    """What a service answered."""

    status: str
    output: str
    status_code: int = 0


async def probe(
    check: ServiceCheck, place: Endpoint, clock: Clock, *, denied: tuple[Network, ...] = ()
) -> ProbeResult:
    """Ask once, for as long as the check's timeout; nobody in `denied` is asked.

    Never fails: what goes wrong is the result.
    """
    ask = _http if check.type == "http" else _tcp
    asking = asyncio.ensure_future(ask(check, place, denied))
    pause = asyncio.ensure_future(clock.sleep(check.timeout / SECOND_NS))
    try:
        await asyncio.wait((asking, pause), return_when=asyncio.FIRST_COMPLETED)
        if asking.done():
            return asking.result()
        return ProbeResult(FAILURE, _timeout_text(check, place))
    finally:
        asking.cancel()
        pause.cancel()


async def _tcp(_check: ServiceCheck, place: Endpoint, denied: tuple[Network, ...]) -> ProbeResult:
    try:
        await check_host(place.ip or LOCAL, denied)
        _, writer = await asyncio.open_connection(place.ip or LOCAL, place.port)
    except OSError as error:
        return ProbeResult(FAILURE, dial_text(_host_port(place), error))
    writer.close()
    return ProbeResult(SUCCESS, "nomad: tcp ok")


async def _http(check: ServiceCheck, place: Endpoint, denied: tuple[Network, ...]) -> ProbeResult:
    method, url = check.method or "GET", _url(check, place)
    headers = [(name, value) for name, values in (check.header or {}).items() for value in values]
    if not any(name.lower() == "user-agent" for name, _ in headers):
        headers.append(("User-Agent", f"yurt/{VERSION}"))
    try:
        async with (
            aiohttp.ClientSession(
                connector=connector(denied, tls=_tls(check)),
                timeout=aiohttp.ClientTimeout(total=None),
                auto_decompress=False,
            ) as session,
            session.request(
                method, url, data=check.body or None, headers=headers, max_redirects=REDIRECTS_MAX
            ) as response,
        ):
            if response.status == 200:
                return ProbeResult(SUCCESS, "nomad: http ok", response.status)
            body = await _first_bytes(response.content)
            status = SUCCESS if response.status < FAILING_STATUS else FAILURE
            return ProbeResult(status, body.decode(errors="replace"), response.status)
    except (aiohttp.ClientError, OSError, ValueError) as error:
        reason = request_text(_host_port(place), error, redirects_max=REDIRECTS_MAX)
        return ProbeResult(FAILURE, f'{_verb(method)} "{url}": {reason}')


async def _first_bytes(content: aiohttp.StreamReader) -> bytes:
    """The beginning of an answer, in however many pieces it comes."""
    found = b""
    while len(found) < OUTPUT_BYTES_MAX and (piece := await content.read(OUTPUT_BYTES_MAX - len(found))):
        found += piece
    return found


def _tls(check: ServiceCheck) -> ssl.SSLContext | bool:
    if not check.tls_skip_verify:
        return True
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _url(check: ServiceCheck, place: Endpoint) -> str:
    path = check.path if check.path.startswith("/") else f"/{check.path}"
    return f"{check.protocol or 'http'}://{_host_port(place)}{path}"


def _host_port(place: Endpoint) -> str:
    ip = place.ip or LOCAL
    return f"[{ip}]:{place.port}" if ":" in ip and ip_address(ip).version == 6 else f"{ip}:{place.port}"


def _timeout_text(check: ServiceCheck, place: Endpoint) -> str:
    if check.type != "http":
        return f"dial tcp {_host_port(place)}: i/o timeout"
    return f'{_verb(check.method or "GET")} "{_url(check, place)}": context deadline exceeded'


def _verb(method: str) -> str:
    return method[:1].upper() + method[1:].lower()

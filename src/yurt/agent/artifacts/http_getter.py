"""Get a file over HTTP."""

from __future__ import annotations

import asyncio
import errno
import os
import ssl
from collections.abc import Mapping
from typing import IO

import msgspec

from yurt.agent.artifacts.errors import FetchFailed
from yurt.agent.outgoing import Network, connector
from yurt.import_later import aiohttp
from yurt.version import VERSION

REDIRECTS_MAX = 10
CHUNK_BYTES = 1 << 20
CONNECT_TIMEOUT_S = 30.0


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """How to ask: with what, believing whom, and whom not to ask at all."""

    headers: Mapping[str, str] = {}
    insecure: bool = False
    denied: tuple[Network, ...] = ()


async def get(url: str, path: str, access: Access, *, bytes_max: int) -> None:
    """Write what a URL gives to the new file `path`. The caller limits the time. Raises FetchFailed."""
    sent = {"User-Agent": f"yurt/{VERSION}", **access.headers, "Accept-Encoding": "identity"}
    try:
        async with (
            aiohttp.ClientSession(
                connector=connector(access.denied, tls=_tls(insecure=access.insecure)),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S),
                auto_decompress=False,
            ) as session,
            session.get(url, headers=sent, max_redirects=REDIRECTS_MAX) as response,
        ):
            if not 200 <= response.status < 300:
                raise FetchFailed(f"bad response code: {response.status}")
            if bytes_max and (response.content_length or 0) > bytes_max:
                raise _too_large(bytes_max)
            with await asyncio.to_thread(open, path, "xb") as file:
                await _copy(response.content, file, bytes_max)
    except aiohttp.TooManyRedirects as error:
        raise FetchFailed(f'Get "{url}": stopped after {REDIRECTS_MAX} redirects') from error
    except aiohttp.ClientConnectorError as error:
        raise FetchFailed(f'Get "{url}": {_dial_text(error)}') from error
    except (aiohttp.ClientError, ValueError) as error:
        raise FetchFailed(f'Get "{url}": {str(error) or type(error).__name__}') from error


async def _copy(content: aiohttp.StreamReader, file: IO[bytes], bytes_max: int) -> None:
    written = 0
    while chunk := await content.read(CHUNK_BYTES):
        written += len(chunk)
        if 0 < bytes_max < written:
            raise _too_large(bytes_max)
        await asyncio.to_thread(file.write, chunk)


def _too_large(bytes_max: int) -> FetchFailed:
    return FetchFailed(f"the file has more than {bytes_max} bytes, which is the limit of this node")


def _tls(*, insecure: bool) -> ssl.SSLContext | bool:
    if not insecure:
        return True
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _dial_text(error: aiohttp.ClientConnectorError) -> str:
    """What Go says when it cannot connect."""
    number = error.os_error.errno
    if number is None or number not in errno.errorcode:
        return str(error)
    return f"dial tcp {error.host}:{error.port}: connect: {os.strerror(number).lower()}"

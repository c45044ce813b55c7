"""Asking identity providers over HTTP, within limits of time and size."""

from __future__ import annotations

import ssl
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import msgspec

from yurt.api.logins.errors import ProviderUnreachable
from yurt.import_later import aiohttp

FETCH_TIMEOUT_S = 10.0
FETCH_BYTES_MAX = 1024 * 1024
_SCHEMES = ("http", "https")


async def get_json(
    url: str, *, trusted: Sequence[str] = (), headers: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Read a JSON object. `trusted` are PEM certificates to trust instead of the machine's own.

    Raises ProviderUnreachable.
    """
    return await _ask("GET", url, trusted=trusted, headers=headers, form=None)


async def post_form(
    url: str,
    form: Mapping[str, str],
    *,
    trusted: Sequence[str] = (),
    headers: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Send a form and read the JSON object that comes back. Raises ProviderUnreachable."""
    return await _ask("POST", url, trusted=trusted, headers=headers, form=form)


async def _ask(
    method: str,
    url: str,
    *,
    trusted: Sequence[str],
    headers: Mapping[str, str] | None,
    form: Mapping[str, str] | None,
) -> dict[str, Any]:
    shown = _shown(url)
    if urlsplit(url).scheme not in _SCHEMES:
        raise ProviderUnreachable(f"{shown} is no http or https address; correct the auth method")
    timeout = aiohttp.ClientTimeout(total=FETCH_TIMEOUT_S)
    try:
        connector = aiohttp.TCPConnector(ssl=_context(trusted))
        async with (
            aiohttp.ClientSession(timeout=timeout, connector=connector, trust_env=False) as session,
            # Whoever is asked answers itself: a redirect could lead anywhere in the servers' network.
            session.request(method, url, headers=headers, data=form, allow_redirects=False) as response,
        ):
            status = response.status
            body = await response.content.read(FETCH_BYTES_MAX + 1)
            while len(body) <= FETCH_BYTES_MAX and (more := await response.content.read(FETCH_BYTES_MAX)):
                body += more
    except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as error:
        raise ProviderUnreachable(
            f"{shown} cannot be asked: {type(error).__name__}; check the address and the network"
        ) from error
    if len(body) > FETCH_BYTES_MAX:
        raise ProviderUnreachable(f"{shown} answers more than {FETCH_BYTES_MAX} bytes")
    if status != HTTPStatus.OK:
        raise ProviderUnreachable(f"{shown} answers with status {status}")
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError:
        raise ProviderUnreachable(f"{shown} does not answer with a JSON object") from None


def _context(trusted: Sequence[str]) -> ssl.SSLContext:
    context = ssl.create_default_context(cadata="\n".join(trusted) or None)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    return context


def _shown(url: str) -> str:
    """An address without what may be secret in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.hostname or ''}{parts.path}"

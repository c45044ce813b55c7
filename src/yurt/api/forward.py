"""Having another agent answer a call, and handing its answer on as it comes."""

from __future__ import annotations

import hashlib
import hmac
import ssl
from collections.abc import AsyncIterator, Mapping

from yarl import URL

from yurt.api.answer import Answer
from yurt.api.call import Call
from yurt.errors import YurtError
from yurt.import_later import aiohttp

CONNECT_TIMEOUT_S = 3.0
# Streams show signs of life far more often, and nothing that is asked of a node takes as long.
SILENCE_MAX_S = 600.0
RELAY_HEADER = "X-Yurt-Relay"

_READ_BYTES = 1 << 16
# What belongs to one connection, or is made anew for the caller.
_OWN_HEADERS = frozenset(
    (
        "connection",
        "content-length",
        "content-type",
        "date",
        "host",
        "keep-alive",
        "server",
        "transfer-encoding",
        "upgrade",
        "vary",
        RELAY_HEADER.lower(),
    )
)


class AgentUnreachable(YurtError):
    """Another agent does not answer."""


def relay_token(secret_id: str) -> str:
    """What shows a node that a call comes from its servers: only they and the node know its secret."""
    return hmac.new(secret_id.encode(), b"relay", hashlib.sha256).hexdigest()


def is_relay_token(token: str, secret_id: str) -> bool:
    """Whether a token is the one for the node with that secret."""
    return hmac.compare_digest(token.encode(), relay_token(secret_id).encode())


def passed_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers that travel on with what they belong to."""
    return {name: value for name, value in headers.items() if name.lower() not in _OWN_HEADERS}


async def forward(
    call: Call,
    address: str,
    *,
    headers: Mapping[str, str],
    tls: ssl.SSLContext | None,
    server_name: str = "",
) -> Answer:
    """Have the agent at `address` answer a call. Raises AgentUnreachable.

    Where `tls` checks names, the agent's certificate must have `server_name`, without one its address.
    """
    body = await call.body()
    session = aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT_S, sock_read=SILENCE_MAX_S),
        # What is compressed stays so.
        auto_decompress=False,
    )
    try:
        answer = await session.request(
            call.method,
            URL(f"{'http' if tls is None else 'https'}://{address}{call.target}", encoded=True),
            data=body or None,
            headers=headers,
            # The caller says what it takes.
            skip_auto_headers=("Accept-Encoding",),
            ssl=True if tls is None else tls,
            server_hostname=server_name or None if tls is not None else None,
            allow_redirects=False,
        )
    except (aiohttp.ClientError, OSError) as error:
        await session.close()
        raise AgentUnreachable(f"the agent at {address} does not answer: {error}") from error
    except BaseException:
        await session.close()
        raise
    return Answer(
        stream=_parts(session, answer),
        status=answer.status,
        content_type=answer.headers.get("Content-Type", ""),
        headers=passed_headers(answer.headers),
        is_compressible=False,
    )


async def _parts(session: aiohttp.ClientSession, answer: aiohttp.ClientResponse) -> AsyncIterator[bytes]:
    """The body of an answer; an agent that falls silent ends it."""
    try:
        while part := await answer.content.read(_READ_BYTES):
            yield part
    except (aiohttp.ClientError, OSError) as error:
        raise AgentUnreachable(f"the agent at {answer.url.host} fell silent: {error}") from error
    finally:
        answer.close()
        await session.close()

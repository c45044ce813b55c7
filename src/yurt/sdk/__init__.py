"""A typed client of the `/v1` HTTP API, for Yurt and for Nomad servers alike.

`Client` knows addresses, tokens and transport; `AsyncClient` is its twin for event loops. The modules
beside them (`jobs`, `allocs`, `nodes`, ...) hold one function per call; each takes the client first:
`jobs.read(client, "web")`, or `await async_client.call(jobs.read, "web")`. They are imported one by one,
so that a short command line pays only for what it uses. See docs/sdk.md.
"""

from typing import TYPE_CHECKING

from yurt.sdk.client import Answer, Client
from yurt.sdk.errors import ApiError, BadAnswer, SdkError, ServerUnreachable
from yurt.sdk.settings import ClientSettings, TlsSettings

if TYPE_CHECKING:
    from yurt.sdk.async_client import AsyncClient

__all__ = [
    "Answer",
    "ApiError",
    "AsyncClient",
    "BadAnswer",
    "Client",
    "ClientSettings",
    "SdkError",
    "ServerUnreachable",
    "TlsSettings",
]


def __getattr__(name: str) -> object:
    """Load the asynchronous client when it is first named: its HTTP library takes a while to import."""
    if name == "AsyncClient":
        from yurt.sdk.async_client import AsyncClient  # noqa: PLC0415

        return AsyncClient
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

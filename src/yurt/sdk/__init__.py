"""A typed, synchronous client of the `/v1` HTTP API, for Yurt and for Nomad servers alike.

`Client` knows addresses, tokens and transport. The modules beside it (`jobs`, `allocs`, `nodes`, ...)
hold one function per call; each takes the client first. They are imported one by one, so that a short
command line pays only for what it uses.
"""

from yurt.sdk.client import Answer, Client
from yurt.sdk.errors import ApiError, BadAnswer, SdkError, ServerUnreachable
from yurt.sdk.settings import ClientSettings, TlsSettings

__all__ = [
    "Answer",
    "ApiError",
    "BadAnswer",
    "Client",
    "ClientSettings",
    "SdkError",
    "ServerUnreachable",
    "TlsSettings",
]

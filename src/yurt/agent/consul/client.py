"""The HTTP API of a Consul agent, as far as nodes use it."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any, TypeVar
from urllib.parse import quote

import msgspec

from yurt.agent.settings import ConsulSettings
from yurt.errors import YurtError
from yurt.import_later import aiohttp

BODY_BYTES_MAX = 16 << 20
# How long Consul may hold a question before it answers that nothing changed.
WATCH_WAIT_S = 300.0
_NOT_FOUND = 404

AnswerT = TypeVar("AnswerT")


class ConsulFailed(YurtError):
    """Consul could not be asked, or did not do it."""


class ConsulService(msgspec.Struct, rename="pascal"):
    """A service that the agent knows."""

    id: str = msgspec.field(name="ID", default="")
    meta: dict[str, str] = {}


class ConsulCheck(msgspec.Struct, rename="pascal"):
    """A check that the agent runs, or is told of."""

    check_id: str = msgspec.field(name="CheckID", default="")
    status: str = ""
    output: str = ""


class AgentConfig(msgspec.Struct, rename="pascal"):
    """What an agent says of itself."""

    datacenter: str = ""
    node_name: str = ""
    server: bool = False
    revision: str = ""
    version: str = ""


class AgentSelf(msgspec.Struct, rename="pascal"):
    """`GET /v1/agent/self`."""

    config: AgentConfig = msgspec.field(default_factory=AgentConfig)


class Watched(msgspec.Struct):
    """An answer that can be waited on: the next one is asked for with its `index`."""

    index: int
    body: bytes | None


class ConsulClient:
    """Asks one Consul agent. Every method raises ConsulFailed."""

    def __init__(self, settings: ConsulSettings) -> None:
        """Take the settings; raises OSError or ssl.SSLError for files that cannot be used."""
        self._settings = settings
        scheme = "https" if settings.uses_tls else "http"
        self._base = f"{scheme}://{settings.address.removeprefix('http://').removeprefix('https://')}"
        self._tls: ssl.SSLContext | bool = _tls(settings) if settings.uses_tls else True
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def agent(self) -> AgentSelf:
        """The agent itself."""
        return await self._get("/v1/agent/self", AgentSelf)

    async def services(self) -> dict[str, ConsulService]:
        """The services that this agent has, by id."""
        return await self._get("/v1/agent/services", dict[str, ConsulService])

    async def checks(self) -> dict[str, ConsulCheck]:
        """The checks of this agent's services, by id."""
        return await self._get("/v1/agent/checks", dict[str, ConsulCheck])

    async def register(self, service: Mapping[str, Any]) -> None:
        """Add or change a service with its checks; checks that it no longer has go."""
        path = "/v1/agent/service/register?replace-existing-checks=true"
        await self._ask("PUT", path, body=service)

    async def deregister(self, service_id: str) -> None:
        """Remove a service; one that is not there is no failure."""
        await self._ask(
            "PUT", f"/v1/agent/service/deregister/{quote(service_id, safe='')}", allow_missing=True
        )

    async def update_check(self, check_id: str, status: str, output: str) -> None:
        """Tell the result of a check that is run elsewhere."""
        path = f"/v1/agent/check/update/{quote(check_id, safe='')}"
        await self._ask("PUT", path, body={"Status": status, "Output": output})

    async def watch(self, path: str, index: int) -> Watched:
        """Read something, waiting until it differs from what it was at `index`; None when it is missing."""
        sign = "&" if "?" in path else "?"
        url = f"{path}{sign}index={index}&wait={WATCH_WAIT_S:.0f}s" if index else path
        status, headers, body = await self._send("GET", url, limit_s=WATCH_WAIT_S + self._settings.timeout_s)
        if status not in (200, _NOT_FOUND):
            raise ConsulFailed(f"{path}: {status}: {body.decode(errors='replace').strip()}")
        text = headers.get("X-Consul-Index", "0")
        return Watched(int(text) if text.isdigit() else 0, None if status == _NOT_FOUND else body)

    async def _get(self, path: str, form: type[AnswerT]) -> AnswerT:
        body = await self._ask("GET", path)
        try:
            return msgspec.json.decode(body, type=form)
        except msgspec.MsgspecError as error:
            raise ConsulFailed(f"{path}: unreadable answer: {error}") from error

    async def _ask(
        self, method: str, path: str, *, body: object = None, allow_missing: bool = False
    ) -> bytes:
        status, _, content = await self._send(method, path, body=body, limit_s=self._settings.timeout_s)
        if status == 200 or (allow_missing and status == _NOT_FOUND):
            return content
        raise ConsulFailed(f"{path.partition('?')[0]}: {status}: {content.decode(errors='replace').strip()}")

    async def _send(
        self, method: str, path: str, *, limit_s: float, body: object = None
    ) -> tuple[int, Mapping[str, str], bytes]:
        if self._session is None:
            self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        headers = {"X-Consul-Token": self._settings.token} if self._settings.token else {}
        if self._settings.namespace:
            headers["X-Consul-Namespace"] = self._settings.namespace
        data = msgspec.json.encode(body) if body is not None else None
        try:
            async with self._session.request(
                method,
                f"{self._base}{path}",
                data=data,
                headers=headers,
                ssl=self._tls,
                timeout=aiohttp.ClientTimeout(total=limit_s),
            ) as answer:
                return answer.status, answer.headers, await answer.content.read(BODY_BYTES_MAX)
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            reason = str(error) or type(error).__name__
            raise ConsulFailed(f"Consul at {self._settings.address} cannot be asked: {reason}") from error


def _tls(settings: ConsulSettings) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=settings.ca_file or None)
    if settings.cert_file:
        context.load_cert_chain(settings.cert_file, settings.key_file or None)
    if not settings.verifies:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context

"""A small HTTP server that keeps services, checks and keys as a Consul agent does."""

from __future__ import annotations

import asyncio
import base64
from typing import Any

from aiohttp import web


class ConsulAgent:
    """What Yurt asks of Consul, over real HTTP; checks other than TTL ones have the state the test sets."""

    def __init__(self) -> None:
        self.services: dict[str, dict[str, Any]] = {}
        self.checks: dict[str, dict[str, Any]] = {}
        self.keys: dict[str, str] = {}
        self.tokens: set[str] = set()
        self.is_down = False
        self.port = 0
        self._index = 1
        self._news = asyncio.Condition()
        self._runner: web.AppRunner | None = None

    async def __aenter__(self) -> ConsulAgent:
        app = web.Application()
        app.add_routes(
            [
                web.get("/v1/agent/self", self._self),
                web.get("/v1/agent/services", self._services),
                web.get("/v1/agent/checks", self._checks),
                web.put("/v1/agent/service/register", self._register),
                web.put("/v1/agent/service/deregister/{id}", self._deregister),
                web.put("/v1/agent/check/update/{id}", self._update),
                web.get("/v1/kv/{key:.*}", self._key),
                web.get("/v1/health/service/{name}", self._health),
            ]
        )
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_error: object) -> None:
        assert self._runner is not None
        await self._runner.cleanup()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def until(self, condition: Any) -> None:
        """Wait for something that Yurt tells."""
        async with self._news:
            await self._news.wait_for(condition)

    async def change(self) -> None:
        """Something is different now: who waits for news is answered."""
        async with self._news:
            self._index += 1
            self._news.notify_all()

    async def set_key(self, name: str, value: str) -> None:
        self.keys[name] = value
        await self.change()

    async def set_check(self, name: str, status: str) -> None:
        for check in self.checks.values():
            if check["Name"] == name:
                check["Status"] = status
        await self.change()

    def _refuse_when_down(self, request: web.Request) -> None:
        self.tokens.add(request.headers.get("X-Consul-Token", ""))
        if self.is_down:
            raise web.HTTPInternalServerError(text="rpc error: no leader")

    async def _self(self, request: web.Request) -> web.Response:
        self._refuse_when_down(request)
        config = {
            "Datacenter": "dc7",
            "NodeName": "box",
            "Server": True,
            "Version": "1.17.1",
            "Revision": "abc",
        }
        return web.json_response({"Config": config})

    async def _services(self, request: web.Request) -> web.Response:
        self._refuse_when_down(request)
        return web.json_response(self.services)

    async def _checks(self, request: web.Request) -> web.Response:
        self._refuse_when_down(request)
        return web.json_response(self.checks)

    async def _register(self, request: web.Request) -> web.Response:
        self._refuse_when_down(request)
        body = await request.json()
        self.services[body["ID"]] = body
        known = {id_: check for id_, check in self.checks.items() if check["ServiceID"] == body["ID"]}
        for id_ in known:
            del self.checks[id_]
        for check in body["Checks"]:
            kept = known.get(check["CheckID"], {}).get("Status")
            self.checks[check["CheckID"]] = check | {
                "ServiceID": body["ID"],
                "Status": kept or check["Status"],
                "Output": "",
            }
        await self.change()
        return web.Response()

    async def _deregister(self, request: web.Request) -> web.Response:
        self._refuse_when_down(request)
        id_ = request.match_info["id"]
        if self.services.pop(id_, None) is None:
            return web.Response(status=404, text="Unknown service ID")
        self.checks = {name: check for name, check in self.checks.items() if check["ServiceID"] != id_}
        await self.change()
        return web.Response()

    async def _update(self, request: web.Request) -> web.Response:
        self._refuse_when_down(request)
        check = self.checks.get(request.match_info["id"])
        if check is None or "TTL" not in check:
            return web.Response(status=404, text="Unknown check ID")
        told = await request.json()
        check |= {"Status": told["Status"], "Output": told["Output"]}
        await self.change()
        return web.Response()

    async def _wait(self, request: web.Request) -> None:
        seen = int(request.query.get("index", "0"))
        async with self._news:
            await self._news.wait_for(lambda: self._index > seen)

    async def _key(self, request: web.Request) -> web.Response:
        await self._wait(request)
        headers = {"X-Consul-Index": str(self._index)}
        value = self.keys.get(request.match_info["key"])
        if value is None:
            return web.Response(status=404, headers=headers)
        encoded = base64.b64encode(value.encode()).decode()
        return web.json_response([{"Value": encoded}], headers=headers)

    async def _health(self, request: web.Request) -> web.Response:
        await self._wait(request)
        found = [
            {
                "Node": {"Node": "box", "Address": "10.0.0.1", "ID": "n1"},
                "Service": service | {"Service": service["Name"]},
                "Checks": [],
            }
            for service in self.services.values()
            if service["Name"] == request.match_info["name"]
        ]
        return web.json_response(found, headers={"X-Consul-Index": str(self._index)})

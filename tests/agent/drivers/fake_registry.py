"""A registry with one image, for a Docker daemon on the same machine."""

from __future__ import annotations

import asyncio
import base64
import gzip
import hashlib
import json
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from tests.agent.drivers.docker_daemon import busybox_root

MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"


class FakeRegistry:
    """Serves `<address>/tool` under any tag but `unknown`; `blob_gate` holds back its layer."""

    def __init__(self, *, login: str = "") -> None:
        self.address = ""
        self.pulls = 0
        self.blob_gate = asyncio.Event()
        self.blob_gate.set()
        self._login = f"Basic {base64.b64encode(login.encode()).decode()}" if login else ""
        root = busybox_root(uuid.uuid4().hex)
        layer = gzip.compress(root, mtime=0)
        config = json.dumps(
            {
                "architecture": "amd64",
                "os": "linux",
                "config": {"Env": ["PATH=/bin"]},
                "rootfs": {"type": "layers", "diff_ids": [_digest(root)]},
            }
        ).encode()
        self._blobs = {_digest(data): data for data in (layer, config)}
        self._manifest = json.dumps(
            {
                "schemaVersion": 2,
                "mediaType": MANIFEST,
                "config": _entry("application/vnd.docker.container.image.v1+json", config),
                "layers": [_entry("application/vnd.docker.image.rootfs.diff.tar.gzip", layer)],
            }
        ).encode()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[FakeRegistry]:
        app = web.Application()
        app.router.add_get("/v2/", self._base)
        app.router.add_route("*", "/v2/tool/manifests/{tag}", self._serve_manifest)
        app.router.add_get("/v2/tool/blobs/{digest}", self._serve_blob)
        runner = web.AppRunner(app, shutdown_timeout=0)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        assert site._server is not None
        self.address = f"127.0.0.1:{site._server.sockets[0].getsockname()[1]}"  # type: ignore[attr-defined]
        try:
            yield self
        finally:
            self.blob_gate.set()
            await runner.cleanup()

    def _refusal(self, request: web.Request) -> web.Response | None:
        if not self._login or request.headers.get("Authorization") == self._login:
            return None
        return web.Response(status=401, headers={"WWW-Authenticate": 'Basic realm="tests"'})

    async def _base(self, request: web.Request) -> web.Response:
        return self._refusal(request) or web.json_response({})

    async def _serve_manifest(self, request: web.Request) -> web.Response:
        if request.match_info["tag"] == "unknown":
            error = {"code": "MANIFEST_UNKNOWN", "message": "manifest unknown"}
            return web.json_response({"errors": [error]}, status=404)
        self.pulls += not request.match_info["tag"].startswith("sha256:")
        headers = {"Docker-Content-Digest": _digest(self._manifest)}
        return self._refusal(request) or web.Response(
            body=self._manifest, content_type=MANIFEST, headers=headers
        )

    async def _serve_blob(self, request: web.Request) -> web.Response:
        await self.blob_gate.wait()
        return self._refusal(request) or web.Response(body=self._blobs[request.match_info["digest"]])


def _digest(data: bytes) -> str:
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def _entry(kind: str, data: bytes) -> dict[str, object]:
    return {"mediaType": kind, "size": len(data), "digest": _digest(data)}

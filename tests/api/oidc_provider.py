"""A small OpenID provider that runs beside the tests and signs with keys of its own."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import time
from collections.abc import AsyncIterator
from functools import cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from aiohttp import ClientSession, web
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT_ID, CLIENT_SECRET = "yurt", "hush"
SUBJECT = "alice"


@cache
def a_key(_owner: str) -> rsa.RSAPrivateKey:
    """A key to sign with; each owner has one, as making them takes its time."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class OidcProvider:
    """Signs in everybody as one person; what it says of that person can be set."""

    def __init__(self) -> None:
        self.key = a_key("provider")
        self.url = ""
        self.claims: dict[str, Any] = {"groups": ["dev"], "team": "red"}
        self.user_info: dict[str, Any] = {"sub": SUBJECT, "email": "alice@example.com"}
        self.overridden: dict[str, Any] = {}
        # By which clients are known that prove themselves with a signature.
        self.client_key: Any = None
        self.fetched: list[str] = []
        self._codes: dict[str, dict[str, str]] = {}

    @property
    def public_pem(self) -> str:
        """The key by which signatures are checked."""
        form = (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        return self.key.public_key().public_bytes(*form).decode()

    def signed(self, *, key_id: str = "k1", algorithm: str = "RS256", key: Any = None, **claims: Any) -> str:
        """A token with some claims."""
        now = int(time.time())
        whole = {"iss": self.url, "sub": SUBJECT, "aud": CLIENT_ID, "iat": now, "exp": now + 300, **claims}
        kept = {name: value for name, value in whole.items() if value is not None}
        return jwt.encode(kept, key or self.key, algorithm, {"kid": key_id})

    async def sign_in(self, auth_url: str) -> dict[str, str]:
        """What a browser would bring back from the provider."""
        async with ClientSession() as session, session.get(auth_url, allow_redirects=False) as response:
            assert response.status == 302, await response.text()
            query = parse_qs(urlsplit(response.headers["Location"]).query)
        return {name: values[0] for name, values in query.items()}

    def app(self) -> web.Application:
        """The provider's pages."""
        app = web.Application()
        app.router.add_get("/.well-known/openid-configuration", self._describe)
        app.router.add_get("/keys", self._keys)
        app.router.add_get("/authorize", self._authorize)
        app.router.add_post("/token", self._token)
        app.router.add_get("/userinfo", self._user_info)
        app.router.add_get("/large", self._large)
        app.router.add_get("/elsewhere", self._elsewhere)
        return app

    async def _describe(self, request: web.Request) -> web.Response:
        self.fetched.append(request.path)
        return web.json_response(
            {
                "issuer": self.overridden.get("issuer", self.url),
                "jwks_uri": f"{self.url}/keys",
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "userinfo_endpoint": f"{self.url}/userinfo",
            }
        )

    async def _keys(self, request: web.Request) -> web.Response:
        self.fetched.append(request.path)
        algorithm = jwt.get_algorithm_by_name("RS256")
        key = json.loads(algorithm.to_jwk(self.key.public_key()))
        return web.json_response({"keys": [{**key, "kid": "k1", "use": "sig"}, {"kty": "unknown"}]})

    async def _authorize(self, request: web.Request) -> web.Response:
        query = dict(request.query)
        assert query["client_id"] == CLIENT_ID
        assert query["response_type"] == "code"
        assert "openid" in query["scope"].split()
        code = f"code-{len(self._codes)}"
        self._codes[code] = query
        raise web.HTTPFound(f"{query['redirect_uri']}?code={code}&state={query['state']}")

    async def _token(self, request: web.Request) -> web.Response:
        form = {name: str(value) for name, value in (await request.post()).items()}
        wanted = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        begun = self._codes.pop(form["code"], None)
        is_known = request.headers.get("Authorization") == f"Basic {wanted}"
        if "client_assertion" in form:
            told = jwt.decode(
                form["client_assertion"], self.client_key, algorithms=["RS256"], audience=self.url
            )
            is_known = told["iss"] == told["sub"] == form["client_id"] == CLIENT_ID
        if not is_known or begun is None:
            return web.json_response({"error": "invalid_client"}, status=401)
        if "code_challenge" in begun:
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            if base64.urlsafe_b64encode(digest).rstrip(b"=").decode() != begun["code_challenge"]:
                return web.json_response({"error": "invalid_grant"}, status=400)
        nonce = self.overridden.get("nonce", begun["nonce"])
        return web.json_response(
            {"access_token": "access", "id_token": self.signed(nonce=nonce, **self.claims)}
        )

    async def _user_info(self, request: web.Request) -> web.Response:
        assert request.headers["Authorization"] == "Bearer access"
        return web.json_response(self.user_info)

    async def _large(self, _request: web.Request) -> web.Response:
        return web.Response(body=b" " * (2 * 1024 * 1024))

    async def _elsewhere(self, _request: web.Request) -> web.Response:
        raise web.HTTPFound(f"{self.url}/keys")


@contextlib.asynccontextmanager
async def running_provider() -> AsyncIterator[OidcProvider]:
    """A provider on a port of this machine."""
    provider = OidcProvider()
    runner = web.AppRunner(provider.app())
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        _, port, *_ = runner.addresses[0]
        provider.url = f"http://127.0.0.1:{port}"
        yield provider
    finally:
        await runner.cleanup()

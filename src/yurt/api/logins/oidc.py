"""OpenID Connect: sending somebody to their provider, and taking them back."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import jwt
import msgspec

from yurt.api.logins.errors import LoginRefused, ProviderUnreachable
from yurt.api.logins.fetching import get_json, post_form
from yurt.api.logins.key_sets import KeySets, Provider
from yurt.api.logins.signed_tokens import key_id_of, verified_claims
from yurt.clock import Clock
from yurt.model.acl.auth_method import OWN_KEY, PRIVATE_KEY, AuthMethod, AuthMethodConfig
from yurt.model.times import SECOND_NS

# How long somebody may take at their provider, and how many may be on their way there at once.
REQUEST_LIFE_S = 300.0
REQUESTS_MAX = 1000
ASSERTION_LIFE_S = 60

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_NO_REQUEST = "no login was begun with this nonce, or it took too long; begin again"


class _Request(msgspec.Struct, frozen=True, kw_only=True):
    """A login that was begun."""

    method: str
    state: str
    redirect_uri: str
    verifier: str
    begun_at: float


class Callback(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody brings back from their provider."""

    nonce: str
    state: str
    code: str
    redirect_uri: str
    issuer: str = ""


class OidcLogins:
    """Logins that are on their way, by the nonce that their callers chose."""

    def __init__(self, clock: Clock, keys: KeySets, *, sign: Callable[[bytes], str]) -> None:
        self._clock = clock
        self._sign = sign
        self._keys = keys
        self._requests: OrderedDict[str, _Request] = OrderedDict()

    async def begin(self, method: AuthMethod, *, redirect_uri: str, nonce: str) -> str:
        """The address to send somebody to. Raises LoginRefused and ProviderUnreachable."""
        config = _config(method)
        if not _is_allowed(redirect_uri, config.allowed_redirect_uris or ()):
            raise LoginRefused(f"unauthorized redirect_uri: {redirect_uri}")
        provider = await self._keys.provider(config)
        if not provider.authorization_endpoint:
            raise ProviderUnreachable("the provider names no authorization_endpoint")
        request = _Request(
            method=method.name,
            state=f"st_{secrets.token_urlsafe(32)}",
            redirect_uri=redirect_uri,
            verifier=secrets.token_urlsafe(64) if config.oidc_enable_pkce else "",
            begun_at=self._clock.monotonic(),
        )
        self._keep(nonce, request)
        scopes = dict.fromkeys(("openid", *(config.oidc_scopes or ())))
        query = {
            "client_id": config.oidc_client_id,
            "nonce": nonce,
            "redirect_uri": redirect_uri,
            "response_type": "code",
            "scope": " ".join(scopes),
            "state": request.state,
        }
        if request.verifier:
            digest = hashlib.sha256(request.verifier.encode()).digest()
            query["code_challenge"] = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            query["code_challenge_method"] = "S256"
        separator = "&" if urlsplit(provider.authorization_endpoint).query else "?"
        return f"{provider.authorization_endpoint}{separator}{urlencode(query)}"

    async def complete(self, method: AuthMethod, callback: Callback) -> dict[str, Any]:
        """The claims of somebody who came back. Raises LoginRefused and ProviderUnreachable."""
        config = _config(method)
        # Taken whether it ends well or not: a state can be tried once.
        request = self._take(callback.nonce)
        if request is None or request.method != method.name:
            raise LoginRefused(_NO_REQUEST)
        if not hmac.compare_digest(request.state.encode(), callback.state.encode()):
            raise LoginRefused("the state is not the one that this login began with")
        if request.redirect_uri != callback.redirect_uri:
            raise LoginRefused("the redirect URI is not the one that this login began with")
        provider = await self._keys.provider(config)
        if callback.issuer and callback.issuer.rstrip("/") != provider.issuer.rstrip("/"):
            raise LoginRefused("the answer is from another issuer than this method's")
        tokens = await self._exchange(config, provider, request, callback.code)
        claims = await self._identity(config, provider, tokens, callback.nonce)
        return await self._with_user_info(config, provider, tokens, claims)

    async def _exchange(
        self, config: AuthMethodConfig, provider: Provider, request: _Request, code: str
    ) -> dict[str, Any]:
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": request.redirect_uri}
        headers: dict[str, str] = {}
        if request.verifier:
            form["code_verifier"] = request.verifier
        if config.oidc_client_assertion is not None:
            form["client_id"] = config.oidc_client_id
            form["client_assertion_type"] = _ASSERTION_TYPE
            form["client_assertion"] = client_assertion(
                config, provider, now_s=self._clock.now_ns() // SECOND_NS, sign=self._sign
            )
        elif not config.oidc_client_secret:
            form["client_id"] = config.oidc_client_id
        elif _sends_secret_in_form(provider):
            form["client_id"], form["client_secret"] = config.oidc_client_id, config.oidc_client_secret
        else:
            pair = f"{quote(config.oidc_client_id, safe='')}:{quote(config.oidc_client_secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return await post_form(
            provider.token_endpoint, form, headers=headers, trusted=config.discovery_ca_pem or ()
        )

    async def _identity(
        self, config: AuthMethodConfig, provider: Provider, tokens: dict[str, Any], nonce: str
    ) -> dict[str, Any]:
        signed = tokens.get("id_token")
        if not isinstance(signed, str):
            raise LoginRefused("the provider gave no id_token")
        keys = await self._keys.keys(config, key_id_of(signed))
        wanted = msgspec.structs.replace(
            config,
            bound_issuer=(provider.issuer,),
            bound_audiences=(config.oidc_client_id,),
        )
        claims = verified_claims(signed, keys, wanted, now=self._clock.now_ns())
        if config.bound_audiences and not set(_audiences(claims)) & set(config.bound_audiences):
            raise LoginRefused("the token is for an audience that is not in BoundAudiences")
        if not hmac.compare_digest(str(claims.get("nonce", "")).encode(), nonce.encode()):
            raise LoginRefused("the id_token is for another login")
        return claims

    async def _with_user_info(
        self, config: AuthMethodConfig, provider: Provider, tokens: dict[str, Any], claims: dict[str, Any]
    ) -> dict[str, Any]:
        access = tokens.get("access_token")
        if config.oidc_disable_user_info or not provider.userinfo_endpoint or not isinstance(access, str):
            return claims
        told = await get_json(
            provider.userinfo_endpoint,
            headers={"Authorization": f"Bearer {access}"},
            trusted=config.discovery_ca_pem or (),
        )
        if told.get("sub") != claims.get("sub"):
            raise LoginRefused("the provider's user info is about somebody else")
        # What is signed counts more than what is told.
        return {**told, **claims}

    def _keep(self, nonce: str, request: _Request) -> None:
        if nonce in self._requests:
            raise LoginRefused("this nonce is in use; choose a new one for each login")
        while self._requests and (
            len(self._requests) >= REQUESTS_MAX or self._is_old(next(iter(self._requests.values())))
        ):
            self._requests.popitem(last=False)
        self._requests[nonce] = request

    def _take(self, nonce: str) -> _Request | None:
        request = self._requests.pop(nonce, None)
        return None if request is None or self._is_old(request) else request

    def _is_old(self, request: _Request) -> bool:
        return self._clock.monotonic() - request.begun_at > REQUEST_LIFE_S


def client_assertion(
    config: AuthMethodConfig, provider: Provider, *, now_s: int, sign: Callable[[bytes], str]
) -> str:
    """A signed token by which the cluster proves itself to the provider. Raises LoginRefused.

    `sign` signs claims with the cluster's own key, which providers find among its public keys.
    """
    given = config.oidc_client_assertion or {}
    claims = {
        "iss": config.oidc_client_id,
        "sub": config.oidc_client_id,
        "aud": given.get("Audience") or [provider.issuer],
        "jti": secrets.token_urlsafe(16),
        "iat": now_s,
        "nbf": now_s,
        "exp": now_s + ASSERTION_LIFE_S,
    }
    if given.get("KeySource") == OWN_KEY:
        return sign(msgspec.json.encode(claims))
    key = given.get("PrivateKey") or {}
    headers = dict(given.get("ExtraHeaders") or {})
    try:
        if given.get("KeySource") == PRIVATE_KEY:
            if key.get("KeyID"):
                headers[key.get("KeyIDHeader") or "kid"] = key["KeyID"]
            return jwt.encode(claims, key.get("PemKey", ""), given.get("KeyAlgorithm") or "RS256", headers)
        secret = given.get("ClientSecret") or config.oidc_client_secret
        return jwt.encode(claims, secret, given.get("KeyAlgorithm") or "HS256", headers)
    except (jwt.PyJWTError, ValueError, TypeError):
        raise LoginRefused(
            "the method's OIDCClientAssertion cannot sign; check its key and algorithm"
        ) from None


def _config(method: AuthMethod) -> AuthMethodConfig:
    assert method.config is not None, "a method without a configuration is refused when it is written"
    return method.config


def _is_allowed(uri: str, allowed: tuple[str, ...]) -> bool:
    """Whether somebody may be sent back there: exactly, or to any port of this machine itself."""
    if uri in allowed:
        return True
    parts = urlsplit(uri)
    if parts.hostname not in _LOOPBACK or parts.username is not None:
        return False
    return any(
        (one.scheme, one.hostname, one.path, one.query)
        == (parts.scheme, parts.hostname, parts.path, parts.query)
        for one in map(urlsplit, allowed)
    )


def _sends_secret_in_form(provider: Provider) -> bool:
    ways = provider.token_endpoint_auth_methods_supported
    return "client_secret_post" in ways and "client_secret_basic" not in ways


def _audiences(claims: dict[str, Any]) -> list[str]:
    given = claims.get("aud", ())
    return [given] if isinstance(given, str) else [str(one) for one in given]

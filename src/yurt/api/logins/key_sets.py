"""The keys that sign for those who vouch, fetched from them and kept for a while."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jwt
import msgspec

from yurt.api.logins.errors import LoginRefused, ProviderUnreachable
from yurt.api.logins.fetching import get_json
from yurt.clock import Clock
from yurt.model.acl.auth_method import AuthMethodConfig

KEYS_KEPT_S = 300.0
# A key that is not known may be new: keys are asked for again, but no more often than this.
REFRESH_INTERVAL_S = 10.0
KEYS_MAX = 100
PROVIDERS_MAX = 64


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """What an OpenID provider says about itself."""

    issuer: str
    jwks_uri: str
    authorization_endpoint: str = ""
    token_endpoint: str = ""
    userinfo_endpoint: str = ""
    token_endpoint_auth_methods_supported: tuple[str, ...] = ()


class _Kept(msgspec.Struct, frozen=True):
    at: float
    found: Any


class KeySets:
    """Providers and their keys, as they were told lately."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._providers: dict[tuple[str, ...], _Kept] = {}
        self._keys: dict[tuple[str, ...], _Kept] = {}

    async def provider(self, config: AuthMethodConfig) -> Provider:
        """What the provider of an auth method says about itself. Raises ProviderUnreachable."""
        base = config.oidc_discovery_url.rstrip("/")
        trusted = config.discovery_ca_pem or ()
        kept = self._providers.get((base, *trusted))
        if kept is not None and self._clock.monotonic() - kept.at < KEYS_KEPT_S:
            provider: Provider = kept.found
            return provider
        document = await get_json(f"{base}/.well-known/openid-configuration", trusted=trusted)
        try:
            provider = msgspec.convert(document, Provider)
        except msgspec.ValidationError as error:
            raise ProviderUnreachable(f"the provider's description is incomplete: {error}") from None
        if provider.issuer.rstrip("/") != base:
            raise ProviderUnreachable(
                "the provider's description names another issuer than OIDCDiscoveryURL; correct the address"
            )
        self._keep(self._providers, (base, *trusted), provider)
        return provider

    async def keys(self, config: AuthMethodConfig, key_id: str) -> Sequence[Any]:
        """The keys that may have signed a token which names `key_id`, or none.

        Raises ProviderUnreachable and LoginRefused.
        """
        if config.jwt_validation_pub_keys:
            return config.jwt_validation_pub_keys
        url = config.jwks_url
        trusted: tuple[str, ...] = (config.jwks_ca_cert,) if config.jwks_ca_cert else ()
        if not url:
            url, trusted = (await self.provider(config)).jwks_uri, config.discovery_ca_pem or ()
        kept = self._keys.get((url, *trusted))
        age = self._clock.monotonic() - kept.at if kept is not None else None
        if kept is None or age is None or age >= KEYS_KEPT_S:
            return _matching(await self._fetched(url, trusted), key_id)
        found = _matching(kept.found, key_id)
        if not found and age >= REFRESH_INTERVAL_S:
            found = _matching(await self._fetched(url, trusted), key_id)
        if not found:
            raise LoginRefused("the token is signed with a key that the provider does not list")
        return found

    async def _fetched(self, url: str, trusted: Sequence[str]) -> list[jwt.PyJWK]:
        document = await get_json(url, trusted=trusted)
        listed = document.get("keys")
        if not isinstance(listed, list) or len(listed) > KEYS_MAX:
            raise ProviderUnreachable(f"the provider must list keys, {KEYS_MAX} at most")
        keys = []
        for one in listed:
            try:
                keys.append(jwt.PyJWK.from_dict(one))
            except (jwt.PyJWTError, ValueError, TypeError, AttributeError):
                # Keys of kinds that are not known sign for others.
                continue
        self._keep(self._keys, (url, *trusted), keys)
        return keys

    def _keep(self, kept: dict[tuple[str, ...], _Kept], key: tuple[str, ...], found: object) -> None:
        if len(kept) >= PROVIDERS_MAX:
            kept.clear()
        kept[key] = _Kept(self._clock.monotonic(), found)


def _matching(keys: Sequence[jwt.PyJWK], key_id: str) -> list[jwt.PyJWK]:
    return [key for key in keys if not key_id or not key.key_id or key.key_id == key_id]

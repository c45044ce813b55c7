"""Logging in with the word of an identity provider that runs beside the tests."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import AsyncIterator, Callable
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
import pytest
from cryptography.hazmat.primitives import serialization

from tests.api.asgi import Reply
from tests.api.guarded import TEAM, Guarded, guarded
from tests.api.oidc_provider import CLIENT_ID, CLIENT_SECRET, OidcProvider, a_key, running_provider

CALLBACK = "http://localhost:4649/oidc/callback"


@pytest.fixture
async def provider() -> AsyncIterator[OidcProvider]:
    async with running_provider() as running:
        yield running


async def _with_method(api: Guarded, kind: str, *rules: dict[str, Any], **config: Any) -> None:
    """An auth method, a policy and a role to grant, and rules that do."""
    policy = {"Name": "dev", "Rules": f'namespace "{TEAM}" {{ policy = "read" }}'}
    await _done(api, "/v1/acl/policy/dev", policy)
    await _done(api, "/v1/acl/policy/team-red", {"Name": "team-red", "Rules": 'node { policy = "read" }'})
    await _done(api, "/v1/acl/role", {"Name": "engineers", "Policies": [{"Name": "dev"}]})
    method = {
        "Name": "sso",
        "Type": kind,
        "TokenLocality": "global",
        "MaxTokenTTL": "1h",
        "TokenNameFormat": "${auth_method_name}-${value.team}",
        "Config": {
            "ClaimMappings": {"team": "team", "/nested/level": "level"},
            "ListClaimMappings": {"groups": "groups"},
            **config,
        },
    }
    await _done(api, "/v1/acl/auth-method", method)
    for rule in rules:
        await _done(api, "/v1/acl/binding-rule", {"AuthMethod": "sso", **rule})


async def _done(api: Guarded, path: str, body: dict[str, Any]) -> None:
    reply = await api.ask(api.root, "PUT", path, body)
    assert reply.status == 200, reply.text


async def _login(api: Guarded, token: str) -> Reply:
    return await api.ask("", "PUT", "/v1/acl/login", {"AuthMethodName": "sso", "LoginToken": token})


DEV = {"BindType": "policy", "BindName": "dev", "Selector": '"dev" in list.groups'}


def _sources(provider: OidcProvider) -> dict[str, dict[str, Any]]:
    return {
        "static keys": {"JWTValidationPubKeys": [provider.public_pem]},
        "key set": {"JWKSURL": f"{provider.url}/keys"},
        "discovery": {"OIDCDiscoveryURL": provider.url},
    }


@pytest.mark.parametrize("source", ["static keys", "key set", "discovery"])
async def test_a_signed_token_is_exchanged_for_what_its_claims_grant(
    provider: OidcProvider, source: str
) -> None:
    api = await guarded()
    await _with_method(api, "JWT", DEV, **_sources(provider)[source], BoundAudiences=[CLIENT_ID])
    token = (await _login(api, provider.signed(groups=["ops", "dev"], team="red"))).json
    assert (token["Name"], token["Type"], token["Policies"]) == ("sso-red", "client", ["dev"])
    assert (token["Global"], token["ExpirationTTL"]) == (True, "1h0m0s")
    assert (await api.ask(token["SecretID"], "GET", f"/v1/jobs?namespace={TEAM}")).status == 200
    assert (await api.ask(token["SecretID"], "GET", "/v1/nodes")).status == 403


async def test_rules_add_up_and_fill_in_claims(provider: OidcProvider) -> None:
    api = await guarded()
    rules = (
        DEV,
        {"BindType": "policy", "BindName": "team-${value.team}"},
        {"BindType": "policy", "BindName": "level-${value.level}"},
        {"BindType": "role", "BindName": "engineers", "Selector": 'value.level == "9"'},
        {"BindType": "management", "Selector": 'value.team == "root"'},
    )
    await _with_method(api, "JWT", *rules, JWKSURL=f"{provider.url}/keys")
    token = (await _login(api, provider.signed(team="red", nested={"level": 9}))).json
    assert token["Policies"] == ["team-red"]
    assert [role["Name"] for role in token["Roles"]] == ["engineers"]
    assert (await _login(api, provider.signed(team="root"))).json["Type"] == "management"


async def test_who_no_rule_means_gets_nothing(provider: OidcProvider) -> None:
    api = await guarded()
    await _with_method(api, "JWT", DEV, JWKSURL=f"{provider.url}/keys")
    before = api.server.state.index
    reply = await _login(api, provider.signed(groups=["sales"]))
    assert (reply.status, reply.text) == (400, "no role or policy bindings matched")
    assert api.server.state.index == before


def _tampered(provider: OidcProvider, what: str) -> str:
    now = int(time.time())
    stranger = a_key("stranger")
    head, payload, signature = provider.signed(groups=["dev"]).split(".")
    makers: dict[str, Callable[[], str]] = {
        "expired": lambda: provider.signed(groups=["dev"], exp=now - 120),
        "not yet": lambda: provider.signed(groups=["dev"], nbf=now + 120),
        "no times": lambda: provider.signed(groups=["dev"], exp=None, iat=None),
        "other audience": lambda: provider.signed(groups=["dev"], aud="else"),
        "other issuer": lambda: provider.signed(groups=["dev"], iss="http://else"),
        "stranger's key": lambda: provider.signed(groups=["dev"], key=stranger),
        "unsigned": lambda: jwt.encode({"groups": ["dev"], "exp": now + 60}, "", "none"),
        "signed with the public key": lambda: _signed_with_text(provider.public_pem, now),
        "cut": lambda: f"{head}.{payload}.",
        "changed": lambda: f"{head}.{payload[:-2]}AA.{signature}",
        "no token": lambda: "x.y.z",
        "long": lambda: "x" * 100_000,
    }
    return makers[what]()


def _signed_with_text(secret: str, now: int) -> str:
    """A token signed with a text that everybody knows, as if it were a secret."""

    def part(value: object) -> str:
        return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()

    head = part({"alg": "HS256", "typ": "JWT", "kid": "k1"})
    body = part({"groups": ["dev"], "exp": now + 60, "aud": CLIENT_ID})
    digest = hmac.new(secret.encode(), f"{head}.{body}".encode(), hashlib.sha256).digest()
    return f"{head}.{body}.{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}"


@pytest.mark.parametrize("source", ["static keys", "key set"])
@pytest.mark.parametrize(
    "what",
    [
        "expired",
        "not yet",
        "no times",
        "other audience",
        "other issuer",
        "stranger's key",
        "unsigned",
        "signed with the public key",
        "cut",
        "changed",
        "no token",
        "long",
    ],
)
async def test_tokens_that_nobody_vouches_for_are_refused(
    provider: OidcProvider, source: str, what: str
) -> None:
    api = await guarded()
    bounds = {"BoundAudiences": [CLIENT_ID], "BoundIssuer": [provider.url]}
    await _with_method(api, "JWT", DEV, **_sources(provider)[source], **bounds)
    before = api.server.state.index
    token = _tampered(provider, what)
    reply = await _login(api, token)
    assert reply.status == 403
    assert reply.text.startswith("login refused: ")
    assert token not in reply.text
    assert api.server.state.index == before


async def test_unknown_keys_are_asked_for_again_but_not_each_time(provider: OidcProvider) -> None:
    api = await guarded()
    await _with_method(api, "JWT", DEV, JWKSURL=f"{provider.url}/keys")
    assert (await _login(api, provider.signed(groups=["dev"]))).status == 200
    for _ in range(5):
        assert (await _login(api, provider.signed(groups=["dev"], key_id="k9"))).status == 403
    assert provider.fetched == ["/keys"]


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("/large", "answers more than"),
        ("/elsewhere", "answers with status 302"),
        ("/missing", "answers with status 404"),
        ("/.well-known/openid-configuration", "must list keys"),
    ],
)
async def test_what_is_no_key_set_is_refused(provider: OidcProvider, path: str, problem: str) -> None:
    api = await guarded()
    await _with_method(api, "JWT", DEV, JWKSURL=f"{provider.url}{path}")
    reply = await _login(api, provider.signed(groups=["dev"]))
    assert reply.status == 500
    assert problem in reply.text


async def test_an_issuer_that_says_it_is_another_is_not_believed(provider: OidcProvider) -> None:
    provider.overridden["issuer"] = "https://accounts.example.com"
    api = await guarded()
    await _with_method(api, "JWT", DEV, OIDCDiscoveryURL=provider.url)
    reply = await _login(api, provider.signed(groups=["dev"]))
    assert reply.status == 500
    assert "another issuer" in reply.text


async def test_a_provider_that_is_not_there_is_told(provider: OidcProvider) -> None:
    api = await guarded()
    await _with_method(api, "JWT", DEV, JWKSURL="http://127.0.0.1:1/keys")
    reply = await _login(api, provider.signed(groups=["dev"]))
    assert reply.status == 500
    assert "cannot be asked" in reply.text


# --- OpenID Connect -----------------------------------------------------------------------------------


async def _oidc(provider: OidcProvider, **config: Any) -> Guarded:
    api = await guarded()
    whole = {
        "OIDCDiscoveryURL": provider.url,
        "OIDCClientID": CLIENT_ID,
        "OIDCClientSecret": CLIENT_SECRET,
        "AllowedRedirectURIs": [CALLBACK],
        **config,
    }
    await _with_method(api, "OIDC", DEV, **whole)
    return api


async def _begun(api: Guarded, nonce: str = "nonce", redirect: str = CALLBACK) -> Reply:
    body = {"AuthMethodName": "sso", "RedirectURI": redirect, "ClientNonce": nonce}
    return await api.ask("", "PUT", "/v1/acl/oidc/auth-url", body)


async def _completed(api: Guarded, brought: dict[str, str], **changes: str) -> Reply:
    body = {
        "AuthMethodName": "sso",
        "RedirectURI": CALLBACK,
        "ClientNonce": "nonce",
        "State": brought["state"],
        "Code": brought["code"],
        **changes,
    }
    return await api.ask("", "PUT", "/v1/acl/oidc/complete-auth", body)


@pytest.mark.parametrize("pkce", [True, False])
async def test_somebody_logs_in_at_their_provider(provider: OidcProvider, pkce: bool) -> None:
    api = await _oidc(provider, OIDCEnablePKCE=pkce, OIDCScopes=["groups"])
    url = (await _begun(api)).json["AuthURL"]
    query = parse_qs(urlsplit(url).query)
    assert query["scope"] == ["openid groups"]
    assert ("code_challenge" in query) is pkce
    token = (await _completed(api, await provider.sign_in(url))).json
    assert (token["Name"], token["Policies"]) == ("sso-red", ["dev"])


@pytest.mark.parametrize("source", ["private_key", "nomad"])
async def test_the_cluster_proves_itself_with_a_signature(provider: OidcProvider, source: str) -> None:
    key = a_key("cluster")
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    pem = key.private_bytes(*form).decode()
    assertion = {"KeySource": source, "PrivateKey": {"PemKey": pem, "KeyID": "c1"}}
    api = await _oidc(provider, OIDCClientSecret="", OIDCClientAssertion=assertion)
    if source == "nomad":
        await api.server.keyring.rotate()
        (public,) = api.server.context.keyring.public_keys()
        provider.client_key = jwt.PyJWK.from_dict(public)
    else:
        provider.client_key = key.public_key()
    shown = await api.ask(api.root, "GET", "/v1/acl/auth-method/sso")
    assert "PRIVATE" not in shown.text
    token = await _completed(api, await provider.sign_in((await _begun(api)).json["AuthURL"]))
    assert token.json["Policies"] == ["dev"]


async def test_what_is_told_of_the_user_counts_less_than_what_is_signed(provider: OidcProvider) -> None:
    provider.user_info |= {"groups": ["admins"], "team": "blue"}
    api = await _oidc(provider)
    token = (await _completed(api, await provider.sign_in((await _begun(api)).json["AuthURL"]))).json
    assert token["Name"] == "sso-red"


@pytest.mark.parametrize(
    "change",
    [
        {"State": "st_guessed"},
        {"ClientNonce": "another"},
        {"RedirectURI": "http://localhost:4649/other"},
        {"Iss": "https://else.example.com"},
    ],
)
async def test_what_does_not_belong_together_is_refused(
    provider: OidcProvider, change: dict[str, str]
) -> None:
    api = await _oidc(provider)
    brought = await provider.sign_in((await _begun(api)).json["AuthURL"])
    assert (await _completed(api, brought, **change)).status == 403


async def test_a_login_is_completed_once(provider: OidcProvider) -> None:
    api = await _oidc(provider)
    brought = await provider.sign_in((await _begun(api)).json["AuthURL"])
    assert (await _completed(api, brought, State="st_guessed")).status == 403
    assert (await _completed(api, brought)).status == 403, "a state can be tried once"


async def test_an_identity_for_another_login_is_refused(provider: OidcProvider) -> None:
    provider.overridden["nonce"] = "of-somebody-else"
    api = await _oidc(provider)
    brought = await provider.sign_in((await _begun(api)).json["AuthURL"])
    reply = await _completed(api, brought)
    assert (reply.status, reply.text) == (403, "login refused: the id_token is for another login")


async def test_user_info_about_another_is_refused(provider: OidcProvider) -> None:
    provider.user_info["sub"] = "mallory"
    api = await _oidc(provider)
    brought = await provider.sign_in((await _begun(api)).json["AuthURL"])
    assert (await _completed(api, brought)).status == 403


@pytest.mark.parametrize(
    ("redirect", "is_allowed"),
    [
        (CALLBACK, True),
        ("http://localhost:9999/oidc/callback", True),
        ("http://localhost:4649/other", False),
        ("https://localhost:4649/oidc/callback", False),
        ("http://localhost.evil.example:4649/oidc/callback", False),
        ("http://user@localhost:4649/oidc/callback", False),
        ("http://evil.example/oidc/callback", False),
        ("javascript:alert(1)", False),
    ],
)
async def test_people_are_sent_back_to_known_places_only(
    provider: OidcProvider, redirect: str, is_allowed: bool
) -> None:
    api = await _oidc(provider)
    assert ((await _begun(api, redirect=redirect)).status == 200) is is_allowed


async def test_a_nonce_is_for_one_login(provider: OidcProvider) -> None:
    api = await _oidc(provider)
    assert (await _begun(api)).status == 200
    assert (await _begun(api)).status == 403


async def test_methods_are_for_their_own_kind_of_login(provider: OidcProvider) -> None:
    api = await _oidc(provider)
    reply = await _login(api, provider.signed(groups=["dev"]))
    assert (reply.status, reply.text) == (400, 'auth-method "sso" is of type OIDC, not JWT')


@pytest.mark.parametrize(
    "config",
    [
        {"JWKSURL": "https://x/keys", "SigningAlgs": ["HS256"]},
        {"JWKSURL": "https://x/keys", "SigningAlgs": ["none"]},
        {"JWKSURL": "https://x/keys", "ClockSkewLeeway": "long"},
        {"JWKSURL": "https://x/keys", "OIDCClientAssertion": {"KeySource": "guess"}},
        {
            "JWKSURL": "https://x/keys",
            "OIDCClientAssertion": {"KeySource": "private_key", "PrivateKey": {"PemKeyFile": "/etc/shadow"}},
        },
    ],
)
async def test_methods_that_would_be_unsafe_are_refused(config: dict[str, Any]) -> None:
    api = await guarded()
    method = {"Name": "m", "Type": "JWT", "TokenLocality": "local", "MaxTokenTTL": "1h", "Config": config}
    assert (await api.ask(api.root, "PUT", "/v1/acl/auth-method", method)).status == 400

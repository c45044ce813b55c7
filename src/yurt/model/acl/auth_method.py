"""Auth methods: who may vouch for people; binding rules: what those people then get."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from yurt.model.acl.policy import DESCRIPTION_LENGTH_MAX, is_name
from yurt.model.durations import duration_text, parse_duration
from yurt.model.multi_error import multi_error_text
from yurt.model.wire import Nanoseconds, Wire, wire_name, wire_names

OIDC = "OIDC"
JWT = "JWT"
LOCAL = "local"
GLOBAL = "global"
DEFAULT_NAME_FORMAT = "${auth_method_type}-${auth_method_name}"

# Only signatures that nobody can make who checks them.
SIGNING_ALGORITHMS = (
    "RS256",
    "RS384",
    "RS512",
    "ES256",
    "ES384",
    "ES512",
    "PS256",
    "PS384",
    "PS512",
    "EdDSA",
)

_TOLD_ALGORITHMS = ", ".join(SIGNING_ALGORITHMS)

# Whose key proves the cluster to a provider.
OWN_KEY = "nomad"
PRIVATE_KEY = "private_key"
CLIENT_SECRET = "client_secret"  # noqa: S105 (what the API calls it)

BIND_ROLE = "role"
BIND_POLICY = "policy"
BIND_MANAGEMENT = "management"

_CONFIG_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "jwt_validation_pub_keys": "JWTValidationPubKeys",
        "jwks_url": "JWKSURL",
        "jwks_ca_cert": "JWKSCACert",
        "oidc_discovery_url": "OIDCDiscoveryURL",
        "oidc_client_id": "OIDCClientID",
        "oidc_client_secret": "OIDCClientSecret",
        "oidc_client_assertion": "OIDCClientAssertion",
        "oidc_enable_pkce": "OIDCEnablePKCE",
        "oidc_disable_user_info": "OIDCDisableUserInfo",
        "oidc_scopes": "OIDCScopes",
        "allowed_redirect_uris": "AllowedRedirectURIs",
        "discovery_ca_pem": "DiscoveryCaPem",
    }
)


class AuthMethodConfig(Wire, frozen=True, kw_only=True, rename=wire_names(**_CONFIG_NAMES)):
    """How those who vouch are reached, and which of their words count."""

    expiration_leeway: str = ""
    not_before_leeway: str = ""
    clock_skew_leeway: str = ""
    jwt_validation_pub_keys: tuple[str, ...] | None = None
    jwks_url: str = ""
    oidc_discovery_url: str = ""
    oidc_client_id: str = ""
    oidc_client_secret: str = ""
    oidc_client_assertion: dict[str, Any] | None = None
    oidc_enable_pkce: bool = False
    oidc_disable_user_info: bool = False
    oidc_scopes: tuple[str, ...] | None = None
    bound_audiences: tuple[str, ...] | None = None
    bound_issuer: tuple[str, ...] | None = None
    allowed_redirect_uris: tuple[str, ...] | None = None
    discovery_ca_pem: tuple[str, ...] | None = None
    jwks_ca_cert: str = ""
    signing_algs: tuple[str, ...] | None = None
    claim_mappings: dict[str, str] | None = None
    list_claim_mappings: dict[str, str] | None = None
    verbose_logging: bool = False

    def __repr__(self) -> str:
        """Without the client's secret, so that no log or traceback shows it."""
        return f"AuthMethodConfig(oidc_discovery_url={self.oidc_discovery_url!r})"


class AuthMethod(Wire, frozen=True, kw_only=True):
    """Somebody who vouches for people."""

    name: str
    type: str = ""
    token_locality: str = ""
    token_name_format: str = DEFAULT_NAME_FORMAT
    max_token_ttl: Nanoseconds = 0
    default: bool = False
    config: AuthMethodConfig | None = None
    hash: bytes | None = None
    create_time: Nanoseconds = 0
    modify_time: Nanoseconds = 0
    create_index: int = 0
    modify_index: int = 0


class BindingRule(Wire, frozen=True, kw_only=True):
    """What somebody gets for whom a method vouches and whom the selector means."""

    id: str
    description: str = ""
    auth_method: str = ""
    selector: str = ""
    bind_type: str = ""
    bind_name: str = ""
    hash: bytes | None = None
    create_time: Nanoseconds = 0
    modify_time: Nanoseconds = 0
    create_index: int = 0
    modify_index: int = 0


def method_problems(method: AuthMethod, *, ttl_min: Nanoseconds, ttl_max: Nanoseconds) -> list[str]:
    """Say what is wrong with an auth method."""
    problems = []
    if not is_name(method.name):
        problems.append(f"invalid name '{method.name}'")
    if method.token_locality not in (LOCAL, GLOBAL):
        problems.append(f"invalid token locality '{method.token_locality}'")
    if method.type not in (OIDC, JWT):
        problems.append(f"invalid token type '{method.type}'")
    if not ttl_min <= method.max_token_ttl <= ttl_max:
        told, least, most = map(duration_text, (method.max_token_ttl, ttl_min, ttl_max))
        problems.append(f"invalid MaxTokenTTL value '{told}' (should be between {least} and {most})")
    wrong = _config_problems(method)
    if wrong is not None:
        problems.append(f"invalid config: {wrong}")
    return problems


def _config_problems(method: AuthMethod) -> str | None:
    config = method.config
    if config is None:
        return "missing auth method Config"
    problems = []
    if method.type == OIDC:
        if not config.oidc_discovery_url:
            problems.append("missing OIDCDiscoveryURL")
        if not config.oidc_client_id:
            problems.append("missing OIDCClientID")
    elif method.type == JWT and not (
        config.oidc_discovery_url or config.jwks_url or config.jwt_validation_pub_keys
    ):
        problems.append(
            "JWT auth method requires either OIDCDiscoveryURL, or JWKS URL, or JWTValidationPubKeys set"
        )
    if config.oidc_client_assertion is not None:
        wrong = _assertion_problem(config.oidc_client_assertion)
        if wrong:
            problems.append(f"invalid OIDCClientAssertion: {wrong}")
    for algorithm in config.signing_algs or ():
        if algorithm not in SIGNING_ALGORITHMS:
            problems.append(f"unsupported signing algorithm {algorithm}; use one of {_TOLD_ALGORITHMS}")
    for name in ("expiration_leeway", "not_before_leeway", "clock_skew_leeway"):
        if not _is_duration(getattr(config, name)):
            problems.append(f"{wire_name(name)} is no duration; write it like 30s or 1m30s")
    return multi_error_text(problems) if problems else None


def _assertion_problem(assertion: dict[str, Any]) -> str:
    source = assertion.get("KeySource")
    if source not in (OWN_KEY, PRIVATE_KEY, CLIENT_SECRET):
        return f"KeySource must be {OWN_KEY}, {PRIVATE_KEY} or {CLIENT_SECRET}"
    key = assertion.get("PrivateKey")
    if source == PRIVATE_KEY and not (isinstance(key, dict) and key.get("PemKey")):
        return "PrivateKey.PemKey must hold the key; files are not read"
    return ""


def _is_duration(text: str) -> bool:
    try:
        return not text or parse_duration(text) is not None
    except ValueError:
        return False


def rule_problems(rule: BindingRule, selector_problem: str | None) -> list[str]:
    """Say what is wrong with a binding rule; `selector_problem` is what its selector was refused for."""
    problems = []
    if not rule.auth_method:
        problems.append("auth method is missing")
    if not rule.bind_type:
        problems.append("bind type is missing")
    elif rule.bind_type in (BIND_ROLE, BIND_POLICY):
        if not rule.bind_name:
            problems.append("bind name is missing")
    elif rule.bind_type == BIND_MANAGEMENT:
        if rule.bind_name:
            problems.append("bind name should be empty")
    else:
        problems.append(f'unsupported bind type: "{rule.bind_type}"')
    if selector_problem is not None:
        problems.append(f"selector is invalid: {selector_problem}")
    if len(rule.description) > DESCRIPTION_LENGTH_MAX:
        problems.append(f"description longer than {DESCRIPTION_LENGTH_MAX}")
    return problems

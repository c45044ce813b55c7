"""Access control."""

import msgspec

from yurt.sdk.wire import Record


class JobAcl(Record, frozen=True):
    """The workload that a policy is bound to."""

    namespace: str = ""
    job_id: str = ""
    group: str = ""
    task: str = ""


class Policy(Record, frozen=True):
    """A policy; lists leave the rules out."""

    name: str = ""
    description: str = ""
    rules: str = ""
    job_acl: JobAcl | None = None
    create_index: int = 0
    modify_index: int = 0


class RoleLink(Record, frozen=True):
    """A role as tokens name it."""

    id: str = ""
    name: str = ""


class Token(Record, frozen=True):
    """A token; lists leave the secret out. Times are RFC 3339 texts."""

    accessor_id: str = ""
    secret_id: str = ""
    name: str = ""
    type: str = ""
    policies: tuple[str, ...] = ()
    roles: tuple[RoleLink, ...] = ()
    is_global: bool = msgspec.field(name="Global", default=False)
    create_time: str = ""
    expiration_time: str = ""
    create_index: int = 0
    modify_index: int = 0


class PolicyLink(Record, frozen=True):
    """A policy as roles name it."""

    name: str = ""


class Role(Record, frozen=True):
    """A named set of policies."""

    id: str = ""
    name: str = ""
    description: str = ""
    policies: tuple[PolicyLink, ...] = ()
    create_index: int = 0
    modify_index: int = 0


class AuthMethodConfig(Record, frozen=True):
    """How an identity provider is asked."""

    jwt_validation_pub_keys: tuple[str, ...] = ()
    jwks_url: str = ""
    jwks_ca_cert: str = msgspec.field(name="JWKSCACert", default="")
    oidc_discovery_url: str = ""
    oidc_client_id: str = ""
    oidc_client_secret: str = ""
    oidc_enable_pkce: bool = msgspec.field(name="OIDCEnablePKCE", default=False)
    oidc_disable_user_info: bool = msgspec.field(name="OIDCDisableUserInfo", default=False)
    oidc_scopes: tuple[str, ...] = ()
    bound_audiences: tuple[str, ...] = ()
    bound_issuer: tuple[str, ...] = ()
    allowed_redirect_uris: tuple[str, ...] = msgspec.field(name="AllowedRedirectURIs", default=())
    discovery_ca_pem: tuple[str, ...] = msgspec.field(name="DiscoveryCaPem", default=())
    signing_algs: tuple[str, ...] = ()
    expiration_leeway: str = ""
    not_before_leeway: str = ""
    clock_skew_leeway: str = ""
    claim_mappings: dict[str, str] = {}
    list_claim_mappings: dict[str, str] = {}


class AuthMethod(Record, frozen=True):
    """A way to log in; lists leave the configuration out."""

    name: str = ""
    type: str = ""
    token_locality: str = ""
    token_name_format: str = ""
    max_token_ttl: str = ""
    default: bool = False
    config: AuthMethodConfig | None = None
    create_index: int = 0
    modify_index: int = 0


class BindingRule(Record, frozen=True):
    """What a login gets; lists leave most out. Times are RFC 3339 texts."""

    id: str = ""
    description: str = ""
    auth_method: str = ""
    selector: str = ""
    bind_type: str = ""
    bind_name: str = ""
    create_time: str = ""
    modify_time: str = ""
    create_index: int = 0
    modify_index: int = 0


class IntroductionToken(Record, frozen=True):
    """A token that introduces a new node."""

    jwt: str = ""


class AuthUrl(Record, frozen=True):
    """The page of an identity provider where somebody logs in."""

    auth_url: str = msgspec.field(name="AuthURL", default="")


class OneTimeToken(Record, frozen=True):
    """A secret that can be exchanged once."""

    one_time_secret_id: str = ""
    accessor_id: str = ""
    expires_at: str = ""


class OneTimeAnswer(Record, frozen=True):
    """The answer to making a one-time secret."""

    one_time_token: OneTimeToken = OneTimeToken()


class ExchangedToken(Record, frozen=True):
    """The answer to exchanging a one-time secret."""

    token: Token = Token()

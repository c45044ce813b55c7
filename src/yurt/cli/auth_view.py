"""How auth methods and binding rules are shown."""

from collections.abc import Mapping, Sequence

from yurt.cli.command import Session
from yurt.cli.layout import key_list
from yurt.cli.token_view import token_time
from yurt.sdk.types.acl import AuthMethod, AuthMethodConfig, BindingRule


def show_auth_method(session: Session, method: AuthMethod) -> None:
    """Show an auth method and its configuration."""
    session.console.output(
        key_list(
            [
                ("Name", method.name),
                ("Type", method.type),
                ("Locality", method.token_locality),
                ("Max Token TTL", method.max_token_ttl),
                ("Token Name Format", method.token_name_format),
                ("Default", method.default),
                ("Create Index", method.create_index),
                ("Modify Index", method.modify_index),
            ]
        )
    )
    session.console.heading("Auth Method Config")
    session.console.output("")
    session.console.output(_config(method.config or AuthMethodConfig()))


def _config(config: AuthMethodConfig) -> str:
    return key_list(
        [
            ("JWT Validation Public Keys", _joined(config.jwt_validation_pub_keys)),
            ("JWKS URL", config.jwks_url),
            ("OIDC Discovery URL", config.oidc_discovery_url),
            ("OIDC Client ID", config.oidc_client_id),
            ("OIDC Client Secret", config.oidc_client_secret),
            ("OIDC Enable PKCE", config.oidc_enable_pkce),
            ("OIDC Disable UserInfo", config.oidc_disable_user_info),
            ("OIDC Scopes", _joined(config.oidc_scopes)),
            ("Bound audiences", _joined(config.bound_audiences)),
            ("Bound issuer", _joined(config.bound_issuer)),
            ("Allowed redirects URIs", _joined(config.allowed_redirect_uris)),
            ("Discovery CA pem", _joined(config.discovery_ca_pem)),
            ("JWKS CA cert", config.jwks_ca_cert),
            ("Signing algorithms", _joined(config.signing_algs)),
            ("Expiration Leeway", config.expiration_leeway),
            ("NotBefore Leeway", config.not_before_leeway),
            ("ClockSkew Leeway", config.clock_skew_leeway),
            ("Claim mappings", _map(config.claim_mappings)),
            ("List claim mappings", _map(config.list_claim_mappings)),
        ]
    )


def binding_rule_record(rule: BindingRule) -> str:
    """Show a binding rule in full."""
    return key_list(
        [
            ("ID", rule.id),
            ("Description", rule.description),
            ("Auth Method", rule.auth_method),
            ("Selector", f'"{rule.selector}"'),
            ("Bind Type", rule.bind_type),
            ("Bind Name", rule.bind_name),
            ("Create Time", token_time(rule.create_time)),
            ("Modify Time", token_time(rule.modify_time)),
            ("Create Index", rule.create_index),
            ("Modify Index", rule.modify_index),
        ]
    )


def _joined(values: Sequence[str]) -> str:
    return ",".join(values)


def _map(values: Mapping[str, str]) -> str:
    return "; ".join(f"{{{key}: {values[key]}}}" for key in sorted(values))

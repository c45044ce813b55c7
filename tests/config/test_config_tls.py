"""What a `tls` block must hold, and what an agent says about one."""

from collections.abc import Callable

import pytest

from yurt.cli.agent_flags import AgentFlags
from yurt.config import AgentConfig, ConfigError

LoadConfig = Callable[..., AgentConfig]

FILES = 'ca_file = "/a"\n  cert_file = "/b"\n  key_file = "/c"'
KEPT = AgentFlags(server=True, data_dir="/var/lib/yurt")


def events(load_config: LoadConfig, tls: str) -> list[str]:
    config = load_config(f"tls {{\n  {FILES}\n  {tls}\n}}", flags=KEPT)
    return [notice.event for notice in config.notices if notice.event != "config.loopback_only"]


def test_unchecked_roles_are_pointed_out(load_config: LoadConfig) -> None:
    assert events(load_config, "rpc = true") == ["config.roles_not_checked"]
    assert events(load_config, "rpc = true\nverify_server_hostname = true") == []


def test_broken_versions_are_raised_and_said(load_config: LoadConfig) -> None:
    assert events(load_config, 'http = true\ntls_min_version = "tls10"') == ["config.tls_version_raised"]


def test_unknown_cipher_suites_are_refused_with_what_was_meant(load_config: LoadConfig) -> None:
    suites = (
        'tls_cipher_suites = "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA265"'
    )
    with pytest.raises(ConfigError) as refused:
        events(load_config, f"http = true\n{suites}")
    assert "did you mean TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256?" in str(refused.value)


def test_certificates_are_named_after_role_and_region(load_config: LoadConfig) -> None:
    config = load_config('region = "eu"', flags=KEPT)
    assert (config.server_tls_name, config.client_tls_name) == ("server.eu.nomad", "client.eu.nomad")
    assert config.rpc_callers == ()

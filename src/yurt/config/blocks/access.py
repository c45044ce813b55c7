"""Who may talk to an agent: `acl` and `tls`."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from yurt.config.blocks.base import Block, Seconds, unserved


class AclConfig(Block, frozen=True, kw_only=True):
    """`acl`"""

    # There is one region, so nothing is replicated from another.
    UNSERVED: ClassVar[Mapping[str, tuple[str, ...]]] = unserved("replication_token")

    enabled: bool = False
    token_ttl_s: Seconds = 30.0
    policy_ttl_s: Seconds = 30.0
    role_ttl_s: Seconds = 30.0
    token_min_expiration_ttl_s: Seconds = 60.0
    token_max_expiration_ttl_s: Seconds = 24 * 3600.0
    replication_token: str = ""


class TlsConfig(Block, frozen=True, kw_only=True):
    """`tls`: server certificates are named `server.<region>.nomad`, clients' `client.<region>.nomad`."""

    # Agents take plain calls or TLS, never both: what a cluster is upgraded over stays open to everybody.
    UNSERVED: ClassVar[Mapping[str, tuple[str, ...]]] = unserved("rpc_upgrade_mode")

    http: bool = False
    rpc: bool = False
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    verify_server_hostname: bool = False
    verify_https_client: bool = False
    rpc_upgrade_mode: bool = False
    tls_cipher_suites: str = ""
    tls_min_version: Literal["tls10", "tls11", "tls12", "tls13"] = "tls12"

    @property
    def cipher_suites(self) -> tuple[str, ...]:
        """`tls_cipher_suites`, one by one."""
        return tuple(name.strip() for name in self.tls_cipher_suites.split(",") if name.strip())

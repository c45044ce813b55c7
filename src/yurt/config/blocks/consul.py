"""Consul: `consul`."""

from collections.abc import Mapping
from typing import ClassVar

from yurt.config.blocks.base import Block, Seconds, unserved


class ConsulConfig(Block, frozen=True, kw_only=True):
    """`consul`: the Consul agent beside this node. Without an `address` there is none."""

    UNSERVED: ClassVar[Mapping[str, tuple[str, ...]]] = unserved(
        "name",
        "grpc_address",
        "grpc_ca_file",
        "auth",
        "share_ssl",
        "auto_advertise",
        "server_auto_join",
        "client_auto_join",
        "server_service_name",
        "client_service_name",
        "server_http_check_name",
        "server_serf_check_name",
        "server_rpc_check_name",
        "client_http_check_name",
        "server_failures_before_critical",
        "server_failures_before_warning",
        "client_failures_before_critical",
        "client_failures_before_warning",
        "tags",
        "checks_use_advertise",
        "allow_unauthenticated",
        "service_identity",
        "task_identity",
        "service_auth_method",
        "task_auth_method",
    )

    address: str = ""
    token: str = ""
    namespace: str = ""
    ssl: bool = False
    verify_ssl: bool = True
    ca_file: str = ""
    cert_file: str = ""
    key_file: str = ""
    timeout_s: Seconds = 5.0

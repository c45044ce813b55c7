"""The TLS of one agent: what its configuration asks for, checked and ready to use."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime

import msgspec

from yurt.clock import Clock
from yurt.config import AgentConfig
from yurt.config.cipher_suites import CIPHER_SUITES


class AgentTls(msgspec.Struct, frozen=True, kw_only=True):
    """Contexts for what an agent serves, and for its calls to servers and to nodes; None is plain.

    Nodes are known by the authority that signed their certificates, and by the secrets that they share with
    their servers. Their addresses are in no certificate, and their role may be a client's or a server's.
    """

    http: ssl.SSLContext | None = None
    rpc: ssl.SSLContext | None = None
    calls: ssl.SSLContext | None = None
    nodes: ssl.SSLContext | None = None


def load_tls(config: AgentConfig, clock: Clock) -> AgentTls:
    """Read the files of `config.tls`. Raises BadTlsFiles."""
    tls = config.tls
    if not (tls.http or tls.rpc):
        return AgentTls()
    # Reading certificates takes 9 MiB that a plain agent need not carry.
    from yurt.tls import TlsFiles, calling_context, check_files, listening_context  # noqa: PLC0415

    files = TlsFiles(
        ca_file=tls.ca_file,
        cert_file=tls.cert_file,
        key_file=tls.key_file,
        needs_tls13=tls.tls_min_version == "tls13",
        ciphers=":".join(CIPHER_SUITES[name] for name in tls.cipher_suites),
    )
    now = datetime.fromtimestamp(clock.now_ns() / 1e9, UTC)
    check_files(files, now=now, names=_own_names(config))
    return AgentTls(
        http=listening_context(files, asks_for_certificate=tls.verify_https_client) if tls.http else None,
        rpc=listening_context(files, asks_for_certificate=True) if tls.rpc else None,
        calls=calling_context(files, checks_host_name=tls.verify_server_hostname) if tls.rpc else None,
        nodes=calling_context(files, checks_host_name=False) if tls.http else None,
    )


def _own_names(config: AgentConfig) -> tuple[str, ...]:
    """The names of which an agent's certificate must have one, or its peers refuse it."""
    if not config.rpc_callers:
        return ()
    return (config.server_tls_name,) if config.server.enabled else config.rpc_callers

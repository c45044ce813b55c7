"""What an operator should know about a `tls` block that can be used."""

from collections.abc import Iterator

from yurt.config.blocks.access import TlsConfig
from yurt.config.problems import Notice

OLD_VERSIONS = ("tls10", "tls11")


def tls_notices(tls: TlsConfig) -> Iterator[Notice]:
    """Settings that protect less, or more, than they may seem to."""
    if tls.tls_min_version in OLD_VERSIONS and (tls.http or tls.rpc):
        yield Notice(
            event="config.tls_version_raised",
            text=f"tls.tls_min_version is {tls.tls_min_version}, which is broken; agents speak tls12 and up",
            keys=("tls.tls_min_version",),
        )
    if tls.rpc and not tls.verify_server_hostname:
        yield Notice(
            event="config.roles_not_checked",
            text="tls.verify_server_hostname is off: whoever has any certificate of the authority can act as "
            "a server; switch it on once servers' certificates are for server.<region>.nomad",
            keys=("tls.verify_server_hostname",),
        )
